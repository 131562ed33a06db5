package bus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// watchPause is how often the data folder is looked at.
const watchPause = 2 * time.Second

// ErrGone: the data folder was removed or replaced below a running server, which
// would go on writing into files that nobody can reach. The error names it.
var ErrGone = errors.New("data folder was removed or replaced")

// place is a file or folder that must stay what it was at the start.
type place struct {
	path string
	was  os.FileInfo
}

// watch ends the bus when its store cannot keep anything any more: the server
// stays up after a failed write and refuses every later one without an answer,
// also when there is room again, and it does not notice removed files at all.
type watch struct {
	data   string
	places []place
	fail   func(error)
	probe  func(data string) error
	room   func()      // looks at how much is free
	doubt  chan string // lines in which the server complains
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// watchStore begins to watch an open bus.
func watchStore(b *Bus) (*watch, error) {
	w := &watch{data: b.opts.Data, fail: b.fail, probe: probe, room: newRoom(b).look, doubt: make(chan string, 16)}
	paths := []string{b.opts.Data, b.embed.lock.Name(), b.embed.guard.file.Name(), filepath.Join(b.opts.Data, storeFolder)}
	for _, s := range b.embed.guard.stores {
		if b.Clustered() {
			break // the cluster moves streams, the server says what it cannot write
		}
		paths = append(paths, filepath.Join(b.embed.guard.folder(s.stream), "msgs"))
	}
	for _, path := range paths {
		was, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("watch data folder: %w", err)
		}
		w.places = append(w.places, place{path, was})
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	w.done.Go(func() { w.run(ctx) })
	b.embed.log.complain(w.complaint)
	return w, nil
}

// complaint takes an error line of the server; it never blocks.
func (w *watch) complaint(line string) {
	select {
	case w.doubt <- line:
	default: // there is doubt already
	}
}

func (w *watch) run(ctx context.Context) {
	tick := time.NewTicker(watchPause)
	defer tick.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.room()
			err = w.look()
		case line := <-w.doubt:
			if err = w.look(); err == nil {
				err = w.judge(line)
			}
		}
		if err != nil && ctx.Err() == nil {
			w.fail(err)
			return
		}
	}
}

// look compares what stands in the folder with what stood there at the start.
func (w *watch) look() error {
	for _, p := range w.places {
		now, err := os.Stat(p.path)
		if errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(p.was, now) {
			return fmt.Errorf("%w while it was in use: %s is not what it was at the start; stop whatever removes it, restore the folder if you can, and start again",
				ErrGone, p.path)
		}
	}
	return nil
}

// judge tests whether the disk can still be written after the server complained,
// and knows the lines after which a stream takes nothing any more.
func (w *watch) judge(line string) error {
	err := w.probe(w.data)
	final := err != nil || strings.Contains(line, "write error") || strings.Contains(line, "failed to store a msg")
	if !final {
		return nil
	}
	if noRoom(err) || strings.Contains(line, "no space left") || strings.Contains(line, "quota exceeded") {
		return fullError(w.data, fmt.Errorf("the log server cannot write: %s", line))
	}
	if err != nil {
		return fmt.Errorf("data folder %s cannot be written any more: %w; the log server says: %s", w.data, err, line)
	}
	return fmt.Errorf("the log server in %s stopped writing and must be started again: %s", w.data, line)
}

// stop ends the watch and waits for it.
func (w *watch) stop() {
	if w == nil {
		return
	}
	w.cancel()
	w.done.Wait()
}
