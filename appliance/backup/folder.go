package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"jaque.sh/jaque/appliance/bus"
)

// Folder is the data folder of a process that has stopped, as a source. It is only
// read, without a server, so that a member of a cluster may be taken too; whoever takes
// a backup of it holds its lock, see bus.Lock.
type Folder struct{ Data string }

// settings are what a stream's configuration says that matters here.
type settings struct {
	Created time.Time
	PerSubj int64 `json:"max_msgs_per_subject"`
}

// Stream reads the files of the stream. Of the log what a kill left half written at the
// end is left out; less than what was acknowledged is an error.
func (s Folder) Stream(ctx context.Context, name string, fn func(*Message) error) (*Info, error) {
	text, err := os.ReadFile(filepath.Join(bus.StreamFolder(s.Data, name), "meta.inf"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var set settings
	if err == nil {
		err = json.Unmarshal(text, &set)
	}
	if err != nil {
		return nil, fmt.Errorf("read the configuration of stream %s: %w", name, err)
	}
	r := folderReader{stream: name}
	if r.blocks, err = bus.StoredBlocks(s.Data, name); err != nil {
		return nil, err
	}
	steps := []func(*bus.Record) error{r.look, r.hand(fn)}
	if set.PerSubj > 0 {
		r.most, r.count = set.PerSubj, map[string]int64{}
		steps = []func(*bus.Record) error{r.look, r.tally, r.hand(fn)}
	}
	// What was removed is told behind it, so that everything is read more than once.
	for _, handle := range steps {
		if err := r.each(ctx, handle); err != nil {
			return nil, err
		}
	}
	if acked := bus.Acknowledged(s.Data); name == bus.NamesFor("").Log && r.last < acked {
		return nil, fmt.Errorf("the log in %s ends at position %d, but %d was acknowledged: its store is damaged; start jaque, which says what is lost", s.Data, r.last, acked)
	}
	return &Info{Config: text, Created: set.Created, Last: r.last}, nil
}

// folderReader reads the blocks of one stream.
type folderReader struct {
	stream  string
	blocks  []bus.Block
	removed map[uint64]bool
	most    int64            // messages kept of a subject, 0 = all
	count   map[string]int64 // messages of each subject that are not handed on yet
	last    uint64
}

// each calls fn with every record.
func (r *folderReader) each(ctx context.Context, fn func(*bus.Record) error) error {
	for i, k := range r.blocks {
		if err := ctx.Err(); err != nil {
			return err
		}
		data, err := os.ReadFile(k.Path())
		if err != nil {
			return fmt.Errorf("read stream %s: %w", r.stream, err)
		}
		var stop error
		err = bus.Records(r.stream, k.Index(), data, func(record *bus.Record) bool {
			stop = fn(record)
			return stop == nil
		})
		if stop != nil {
			return stop
		}
		if err != nil && i < len(r.blocks)-1 {
			return fmt.Errorf("read block %s of stream %s: %w; its store is damaged: start jaque, which says what is lost", k.Path(), r.stream, err)
		}
	}
	return nil
}

// look notes what is there no more.
func (r *folderReader) look(record *bus.Record) error {
	r.last = max(r.last, record.Seq)
	if record.Removed {
		if r.removed == nil {
			r.removed = map[uint64]bool{}
		}
		r.removed[record.Seq] = true
	}
	return nil
}

// tally counts the messages of each subject: the server forgets older ones without a
// note.
func (r *folderReader) tally(record *bus.Record) error {
	if !record.Removed && !r.removed[record.Seq] {
		r.count[string(record.Subject)]++
	}
	return nil
}

// hand passes on what is there.
func (r *folderReader) hand(fn func(*Message) error) func(*bus.Record) error {
	return func(record *bus.Record) error {
		if record.Removed || r.removed[record.Seq] {
			return nil
		}
		if subject := string(record.Subject); r.count[subject] > r.most && r.most > 0 {
			r.count[subject]--
			return nil
		}
		return fn(&Message{Seq: record.Seq, Time: record.Time, Subject: record.Subject, Headers: record.Headers, Data: record.Data})
	}
}
