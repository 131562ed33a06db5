package backup

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Source hands out the messages of streams.
type Source interface {
	// Stream calls fn with every message of a stream in order, as it was when the call
	// began, and returns what else is known of it; nil if there is no such stream.
	Stream(ctx context.Context, name string, fn func(*Message) error) (*Info, error)
}

// Info is what is known of a stream beside its messages.
type Info struct {
	Config  json.RawMessage
	Created time.Time
	Last    uint64 // last position, whether its message is there or not
}

// Options of a backup.
type Options struct {
	File    string // the name of the file; it must not exist
	Prefix  string // of the installation; "" = none
	Program string // version of jaque
	// Progress is told with each part how far it is; nil = nobody.
	Progress func(Progress)
}

// Progress is how far a backup or a restore is.
type Progress struct {
	Stream   string
	Messages uint64 // of the stream
	Bytes    int64  // of all streams, before compression
}

// Take writes a backup. The file has its name only when it is whole; after an error
// nothing is left. It returns the manifest and the size of the file in bytes.
func Take(ctx context.Context, from Source, o Options) (Manifest, int64, error) {
	f, err := create(o.File)
	if err != nil {
		return Manifest{}, 0, err
	}
	m, err := fill(ctx, f, from, o)
	if err == nil {
		var size int64
		if size, err = f.finish(); err == nil {
			return m, size, nil
		}
	}
	f.drop()
	return Manifest{}, 0, err
}

func fill(ctx context.Context, f *file, from Source, o Options) (Manifest, error) {
	m := Manifest{Begin: Begin{Format: formatName, Version: formatVersion, Made: f.made, Program: o.Program, Prefix: o.Prefix}}
	if err := f.putJSON(beginName, m.Begin); err != nil {
		return m, err
	}
	names := m.Names()
	for _, stream := range names.Kept() {
		s, err := take(ctx, f, from, stream, o.Progress)
		if err != nil {
			return m, err
		}
		if s != nil {
			m.Streams = append(m.Streams, *s)
		}
	}
	if m.Log().Name == "" {
		return m, fmt.Errorf("there is no event log (stream %s) here; is it the right server or folder?", names.Log)
	}
	m.Done = time.Now().UTC()
	return m, f.putJSON(manifestName, m)
}

// take writes one stream, nil if there is none.
func take(ctx context.Context, f *file, from Source, stream string, progress func(Progress)) (*Stream, error) {
	c := content{Stream: Stream{Name: stream, Parts: []Part{}}}
	var part []byte
	flush := func() error {
		if progress != nil {
			progress(Progress{Stream: stream, Messages: c.Messages, Bytes: f.wrote})
		}
		err := f.put(c.part(part), part)
		part = part[:0]
		return err
	}
	info, err := from.Stream(ctx, stream, func(m *Message) error {
		if err := c.add(m); err != nil {
			return err
		}
		if part = appendMessage(part, m); len(part) < partSize {
			return nil
		}
		return flush()
	})
	if err == nil && len(part) > 0 {
		err = flush()
	}
	if err != nil || info == nil {
		return nil, err
	}
	c.Config, c.Created = info.Config, info.Created
	s := c.end(info.Last)
	return &s, nil
}
