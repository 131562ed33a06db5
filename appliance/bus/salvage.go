package bus

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Names of what belongs to an accepted loss, in the data folder and the store.
const (
	acceptFile    = "accept-loss"
	damagedFolder = "damaged"
	indexFile     = "index.db"
)

// salvage takes the unreadable bytes out of a stream's blocks. Every readable
// record keeps its position; the lost positions become holes, which the server
// accepts when it rebuilds its index. Where the end is lost, a record says so,
// so that no position is ever given out twice. Damaged blocks are copied first;
// the folder of the copies is returned, "" if there are none.
func (g *guard) salvage(f *finding) (string, error) {
	aside := ""
	last := Block{path: filepath.Join(g.folder(f.stream), "msgs", "1.blk"), stream: f.stream, index: 1}
	if n := len(f.blocks); n > 0 {
		last = f.blocks[n-1]
	}
	broken := f.broken
	if f.short > 0 && !holds(broken, last) {
		broken = append(broken, last)
	}
	if err := os.MkdirAll(filepath.Dir(last.path), 0o700); err != nil {
		return "", err
	}
	for _, k := range broken {
		got, buf, err := k.read()
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return aside, err
		}
		if len(buf) > 0 {
			aside = filepath.Join(g.data, damagedFolder, g.began.UTC().Format("20060102T150405Z"), f.stream)
			if err := copyAside(aside, k, buf); err != nil {
				return aside, err
			}
		}
		var whole []byte
		for _, p := range got.parts {
			whole = append(whole, buf[p[0]:p[1]]...)
		}
		if k == last && f.short > 0 {
			record, err := k.erased(f.last+f.short, g.began)
			if err != nil {
				return aside, err
			}
			whole = append(whole, record...)
		} else if len(buf) > 0 && got.tail > 0 {
			whole = append(whole, buf[len(buf)-got.tail:]...) // the server's affair
		}
		if err := replaceFile(k.path, whole); err != nil {
			return aside, err
		}
	}
	index := filepath.Join(g.folder(f.stream), "msgs", indexFile)
	if err := os.Remove(index); err != nil && !errors.Is(err, os.ErrNotExist) {
		return aside, fmt.Errorf("drop the index of a changed block: %w", err)
	}
	return aside, nil
}

func holds(blocks []Block, k Block) bool {
	for _, b := range blocks {
		if b == k {
			return true
		}
	}
	return false
}

// copyAside keeps the bytes of a damaged block, synced to the disk.
func copyAside(folder string, k Block, buf []byte) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("keep a damaged block: %w", err)
	}
	return replaceFile(filepath.Join(folder, filepath.Base(k.path)), buf)
}

// replaceFile writes a file beside its place, syncs it and puts it there.
func replaceFile(path string, buf []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".salvage-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(buf)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(f.Name()))
	}
	return nil
}

// accepted tells whether an operator wrote that a loss is to be accepted.
func accepted(data string) bool {
	_, err := os.Stat(filepath.Join(data, acceptFile))
	return err == nil
}

// acceptLoss is what an operator does to go on with what is left.
func acceptLoss(data string) string {
	return fmt.Sprintf("accept the loss: make the empty file %s and start again; just what is named here is lost then, everything else keeps its position, and damaged blocks are kept in %s",
		filepath.Join(data, acceptFile), filepath.Join(data, damagedFolder))
}

// settle ends the acceptance of a loss: the next one is asked about again.
func (g *guard) settle() error {
	if !g.accepting {
		return nil
	}
	g.accepting = false
	path := filepath.Join(g.data, acceptFile)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove %s: %w; remove it by hand and start again", path, err)
	}
	return nil
}
