package backup

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/klauspost/compress/zstd"
)

// file is a backup that is being written. It has its name only when it is whole.
type file struct {
	name  string
	part  *os.File
	zip   *zstd.Encoder
	tar   *tar.Writer
	made  time.Time
	wrote int64 // bytes before compression
}

// create begins a file. A file that exists is not written over.
func create(name string) (*file, error) {
	if _, err := os.Lstat(name); err == nil {
		return nil, fmt.Errorf("%s exists; name another file with -o, or remove it first", name)
	}
	part, err := os.OpenFile(name+".part", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("%s.part exists: another backup is being written there, or was killed; remove it if none runs", name)
	}
	if err != nil {
		return nil, fmt.Errorf("make the backup: %w; write another folder with -o", err)
	}
	zip, err := zstd.NewWriter(part, zstd.WithEncoderConcurrency(2), zstd.WithEncoderLevel(zstd.SpeedDefault))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make the backup: %w", err), part.Close(), os.Remove(part.Name()))
	}
	return &file{name: name, part: part, zip: zip, tar: tar.NewWriter(zip), made: time.Now().UTC()}, nil
}

// put writes one member.
func (f *file) put(name string, data []byte) error {
	f.wrote += int64(len(data))
	err := f.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(data)), ModTime: f.made, Format: tar.FormatPAX})
	if err == nil {
		_, err = f.tar.Write(data)
	}
	return f.told(err)
}

func (f *file) putJSON(name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return f.put(name, append(text, '\n'))
}

// told says what to do about a failed write.
func (f *file) told(err error) error {
	if err == nil {
		return nil
	}
	size := int64(0)
	if at, e := f.part.Seek(0, io.SeekCurrent); e == nil {
		size = at
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("the disk of %s is full after %d MiB: %w; make room there or write to another disk with -o, nothing was left behind", f.name, size>>20, err)
	}
	return fmt.Errorf("write the backup: %w", err)
}

// finish writes everything to the disk and gives the file its name. It returns the
// size in bytes.
func (f *file) finish() (int64, error) {
	err := errors.Join(f.tar.Close(), f.zip.Close())
	if err == nil {
		err = f.part.Sync()
	}
	if err != nil {
		return 0, f.told(err)
	}
	info, err := f.part.Stat()
	if err == nil {
		err = f.part.Close()
	}
	if err == nil {
		err = os.Link(f.part.Name(), f.name) // unlike a rename it never replaces a file
	}
	if errors.Is(err, os.ErrExist) {
		return 0, fmt.Errorf("%s was made by somebody else meanwhile; name another file with -o", f.name)
	}
	if err != nil { // a file system without links
		err = os.Rename(f.part.Name(), f.name)
	} else {
		err = os.Remove(f.part.Name())
	}
	if err != nil {
		return 0, f.told(err)
	}
	return info.Size(), syncFolder(filepath.Dir(f.name))
}

// drop removes what was written.
func (f *file) drop() {
	_ = f.tar.Close()
	_ = f.zip.Close()
	_ = f.part.Close()
	_ = os.Remove(f.part.Name())
}

// syncFolder makes the names in a folder last, or what is in a file.
func syncFolder(path string) error {
	f, err := os.Open(path)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	if err != nil {
		return fmt.Errorf("write %s to the disk: %w", path, err)
	}
	return nil
}
