package commandfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// leftOf is the file beside the pipe that keeps what a stop had no time for.
func leftOf(path string) string { return path + ".left" }

// keep notes lines that are not carried out in this run.
func (p *Pipe) keep(lines [][]byte) {
	for _, l := range lines {
		p.left = append(p.left, bytes.Clone(l))
	}
}

// resume carries out what the last stop left, in front of what is in the pipe. The
// file goes when all is done; a crash in between does some of it again.
func (p *Pipe) resume(work context.Context) error {
	path := leftOf(p.opt.Path)
	text, err := readLeft(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	s := splitter{max: MaxLine}
	lines := s.feed(text, func(head []byte) { p.opt.Tally.Refuse(TooLong, head, errTooLong) })
	p.opt.Logger.Info("carrying out what the last stop left of the command file", "file", path, "commands", len(lines))
	p.hand(work, lines)
	if len(p.left) > 0 {
		return nil // it is written anew
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove what the last stop left: %w; it was carried out, remove it", err)
	}
	return nil
}

// readLeft reads the file, if nobody else can have written it.
func readLeft(path string) (text []byte, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("read what the last stop left: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read what the last stop left: %w", err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 || !ok || int(owner.Uid) != os.Getuid() {
		return nil, fmt.Errorf("read what the last stop left: %s is no file that only this user can read and write, its commands are not carried out; look at it and remove it", path)
	}
	if text, err = io.ReadAll(io.LimitReader(f, 2*MaxFile)); err != nil {
		return nil, fmt.Errorf("read what the last stop left: %w", err)
	}
	return text, nil
}

// save writes what was not carried out to the file, for the next start. Where that
// cannot be it is counted and logged as refused.
func (p *Pipe) save() {
	if len(p.left) == 0 {
		return
	}
	path := leftOf(p.opt.Path)
	if err := writeLeft(path, p.left); err != nil {
		p.opt.Logger.Error("commands of the command file could not be kept for the next start, they are lost",
			"file", path, "commands", len(p.left), "err", err)
		for _, l := range p.left {
			p.opt.Tally.Refuse(Stopping, l, errStopping)
		}
		return
	}
	p.metrics.left.Add(float64(len(p.left)))
	p.opt.Logger.Warn("commands of the command file were not carried out before the stop, the next start does it",
		"file", path, "commands", len(p.left))
	p.left = nil
}

// writeLeft puts a file with the lines in place of an older one.
func writeLeft(path string, lines [][]byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".left-*") // its mode is 0600
	if err != nil {
		return fmt.Errorf("keep commands: %w", err)
	}
	_, err = tmp.Write(append(bytes.Join(lines, []byte{'\n'}), '\n'))
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("keep commands: %w", err), os.Remove(tmp.Name()))
	}
	return nil
}
