package audit

import (
	"context"
	"errors"
	"fmt"

	"jaque.sh/jaque/appliance/backup"
	"jaque.sh/jaque/appliance/bus"
)

// File is a backup. Its checksums are compared too.
type File struct {
	Backup *backup.File

	allowance // what was missing when the backup was taken
	messages  uint64
	last      uint64
}

func (f *File) size() uint64 { return f.messages }

// errEnough ends the reading of a file.
var errEnough = errors.New("enough")

func (f *File) jobs(ctx context.Context, free *spare, yield func(job) bool) error {
	m, err := f.Backup.Check(ctx)
	if err != nil {
		return err
	}
	n := m.Names()
	f.messages, f.last = m.Log().Messages, m.Log().Last
	f.allowance = allowance{m.Log().Missing, "they were missing when the backup was taken"}
	err = f.Backup.Each(ctx, func(stream string, data []byte) error {
		if stream != n.Log {
			return nil
		}
		p := free.get(int64(len(data)))
		copy(p.data, data)
		if !yield(func() part { return readPart(p, n) }) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

func (f *File) bounds() bounds {
	if f.messages == 0 {
		return bounds{} // everything was removed when it was taken
	}
	return bounds{last: f.last, whyLast: fmt.Sprintf("the backup says that it goes up to position %d", f.last)}
}

// readPart decodes one part of a backup.
func readPart(p part, n bus.Names) part {
	d := newDecoder(n)
	p.err = backup.Messages(p.data, func(m *backup.Message) bool {
		var x *entry
		p.entries, x = grow(p.entries)
		d.stored(x, m.Seq, m.Subject, m.Headers, m.Data)
		return true
	})
	p.share = uint64(len(p.entries))
	return p
}
