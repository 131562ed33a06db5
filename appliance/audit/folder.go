package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"jaque.sh/jaque/appliance/bus"
)

// Folder is a data folder. Its files are read as they are: a process may work on them
// meanwhile, which is not disturbed.
type Folder struct {
	Data string

	allowance // losses that an operator accepted
	bytes     uint64
	must      bus.Expectation
	doubt     error // why must is not everything
}

func (f *Folder) size() uint64 { return f.bytes }

func (f *Folder) jobs(ctx context.Context, free *spare, yield func(job) bool) error {
	n := bus.NamesFor("")
	f.must, f.doubt = bus.Expected(f.Data) // in front of the blocks, which may grow
	blocks, err := f.blocks(ctx, n.Log)
	if err != nil {
		return err
	}
	f.allowance = allowance{f.must.Gaps, "their loss was accepted"}
	for _, k := range blocks {
		f.bytes += k.Size()
	}
	for _, k := range blocks {
		if !yield(func() part { return readBlock(k, n, free) }) {
			return nil
		}
	}
	return nil
}

// A running member of a cluster may be told that the others have an event before it has
// written its own copy.
const (
	copyMost  = 5 * time.Second
	copyPause = 50 * time.Millisecond
)

// blocks lists the files of the log, when they reach what was acknowledged or will not.
func (f *Folder) blocks(ctx context.Context, log string) ([]bus.Block, error) {
	ctx, cancel := context.WithTimeout(ctx, copyMost)
	defer cancel()
	for {
		blocks, err := bus.StoredBlocks(f.Data, log)
		if errors.Is(err, bus.ErrNoStream) && f.must.Last > 0 && f.must.Members == 0 {
			return nil, nil // everything is missing
		}
		if err != nil {
			return nil, err
		}
		if f.must.Last == 0 || newest(log, blocks) >= f.must.Last || !bus.Running(f.Data) {
			return blocks, nil
		}
		select {
		case <-ctx.Done():
			return blocks, nil
		case <-time.After(copyPause):
		}
	}
}

// newest is the last position that the newest block tells of.
func newest(log string, blocks []bus.Block) uint64 {
	last := uint64(0)
	for _, k := range blocks[max(len(blocks)-2, 0):] { // the newest may hold nothing yet
		data, err := os.ReadFile(k.Path())
		if err != nil {
			continue // retention has removed it meanwhile
		}
		_ = bus.Records(log, k.Index(), data, func(r *bus.Record) bool {
			last = max(last, r.Seq)
			return true
		}) // what cannot be read is told when all of it is read
	}
	return last
}

func (f *Folder) bounds() bounds {
	b := bounds{
		last: f.must.Last, whyLast: fmt.Sprintf("position %d was acknowledged", f.must.Last), err: f.doubt,
	}
	// Without its description a start makes the stream anew from the blocks.
	if age, err := bus.StoredAge(f.Data, bus.NamesFor("").Log); err == nil {
		var at time.Time
		b.first, at = f.must.First(age, time.Now())
		b.whyFirst = fmt.Sprintf("position %d of %s must still be there", b.first, at.UTC().Format(time.RFC3339))
	}
	if f.must.Members > 1 {
		b.whyLast += fmt.Sprintf("; this is one copy of the log of %d members, and a start fetches from the others what it lacks", f.must.Members)
	}
	return b
}

// readBlock decodes one file of the log. Bytes at the end of the newest one that are no
// record are what was being written, unless something is missing that was acknowledged.
func readBlock(k bus.Block, n bus.Names, free *spare) part {
	p, err := readFile(k.Path(), free)
	if errors.Is(err, os.ErrNotExist) {
		return part{} // retention has removed it meanwhile
	}
	if err != nil {
		return part{err: fmt.Errorf("read the log: %w", err)}
	}
	d := newDecoder(n)
	err = bus.AllRecords(n.Log, k.Index(), p.data, func(r *bus.Record) bool {
		if r.Removed {
			p.gone = max(p.gone, r.Seq)
			return true
		}
		var x *entry
		p.entries, x = grow(p.entries)
		x.damage = false
		d.stored(x, r.Seq, r.Subject, r.Headers, r.Data)
		return true
	}, func(u *bus.Unreadable) {
		p.entries = append(p.entries, entry{damage: true, err: fmt.Errorf("%s: %w", k.Path(), u)})
	})
	if err != nil {
		p.err = fmt.Errorf("read the log: %w", err)
	}
	p.share = uint64(len(p.data))
	return p
}

// readFile reads a file into a slice that is used again.
func readFile(name string, free *spare) (part, error) {
	f, err := os.Open(name)
	if err != nil {
		return part{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return part{}, err
	}
	p := free.get(info.Size())
	n, err := io.ReadFull(f, p.data)
	if p.data = p.data[:n]; errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // it was shortened meanwhile
	}
	return p, err
}
