package bus

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// What a start needs on the disk, in bytes.
const (
	roomFirst   = 32 << 20 // free, to begin a log
	roomAgain   = 4 << 20  // free, to go on with one
	roomLow     = 1 << 30  // free, below it the start warns
	resultsMin  = 16 << 20 // bound of the measurements on the smallest disk
	probeLength = 64 << 10 // what a test write takes
)

// unlimited is the server's own limit of its store: it compares reservations
// with it and refuses streams that exist, so that only the disk decides.
const unlimited = 1 << 60

// ErrFull: the disk of the data folder is full. The error names the folder and
// what to do.
var ErrFull = errors.New("disk is full")

// freeBytes returns what this process may still write below a folder, in bytes.
func freeBytes(folder string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(folder, &st); err != nil {
		return 0, fmt.Errorf("ask for the free space of %s: %w", folder, err)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

// usedBytes returns what the files below a folder take, 0 if there are none.
func usedBytes(folder string) int64 {
	sum := int64(0)
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // what cannot be read is not counted
		}
		if info, err := d.Info(); err == nil {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// checkRoom refuses a start on a disk that has no room, before anything is
// opened, and warns on a small one.
func (b *Bus) checkRoom() error {
	free, err := b.opts.free(b.opts.Data)
	if err != nil {
		return err
	}
	need := int64(roomAgain)
	if _, err := os.Stat(filepath.Join(b.opts.Data, marksFile)); err != nil {
		need = roomFirst
	}
	if free < need {
		return fullError(b.opts.Data, fmt.Errorf("%d MiB are free, %d MiB are needed to start", free>>20, need>>20))
	}
	if err := probe(b.opts.Data); err != nil {
		return fullError(b.opts.Data, err)
	}
	if free < roomLow {
		b.log.Warn("the disk of the log has little room", "folder", b.opts.Data, "free_mib", free>>20, "want_mib", roomLow>>20)
	}
	return nil
}

// fullError says what to do about a disk without room. Another error of a write
// keeps its own text.
func fullError(data string, err error) error {
	if err == nil || errors.Is(err, ErrFull) {
		return err
	}
	return fmt.Errorf("%w: data folder %s: %w; make room on that disk and start again, or move the folder to a larger one and name it with -data",
		ErrFull, data, err)
}

// noRoom tells whether a write failed for want of space.
func noRoom(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// probe writes a small file, syncs it and removes it.
func probe(data string) error {
	f, err := os.CreateTemp(data, ".probe-*")
	if err != nil {
		return fmt.Errorf("test write: %w", err)
	}
	_, err = f.Write(make([]byte, probeLength))
	err = errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name()))
	if err != nil {
		return fmt.Errorf("test write: %w", err)
	}
	return nil
}

// boundResults decides how many bytes measurements may take, unless the options
// say it: half of what the log may use of its disk, 8 GiB at most. A stream that
// exists keeps its bound, so that it does not move with what else is on the disk.
func (b *Bus) boundResults(ctx context.Context) error {
	if b.opts.Retention.ResultsBytes != 0 {
		return nil
	}
	c, err := streamConfig(ctx, b.js, b.names.Results)
	if err != nil {
		return fmt.Errorf("look at stream %s: %w", b.names.Results, err)
	}
	if c != nil && c.MaxBytes > 0 {
		b.opts.Retention.ResultsBytes = c.MaxBytes
		return nil
	}
	b.opts.Retention.ResultsBytes = DefaultResultsBytes
	if b.embed == nil {
		return nil
	}
	free, err := b.opts.free(b.opts.Data)
	if err != nil {
		return err
	}
	half := (free + usedBytes(filepath.Join(b.opts.Data, storeFolder))) / 2 &^ (1<<20 - 1)
	b.opts.Retention.ResultsBytes = min(DefaultResultsBytes, max(half, resultsMin))
	return nil
}
