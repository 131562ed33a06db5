package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"jaque.sh/jaque/appliance/bus"
)

// RestoreFolder restores a file into a data folder that holds no log: it is made if it
// is not there, and what else stands in it, such as the users of the log server, stays.
// The store is made beside its place and moved there when it is whole.
func RestoreFolder(ctx context.Context, f *File, data string, log *slog.Logger, progress func(Progress)) (m Manifest, err error) {
	if m, err = f.Check(ctx); err != nil {
		return m, err
	}
	if m.Prefix != "" {
		return m, f.wrong("it is of an installation with the prefix %q on a shared server; restore it into a server with -eventlog", m.Prefix)
	}
	if err := free(data); err != nil {
		return m, err
	}
	release, err := bus.Lock(data)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if err := free(data); err != nil {
		return m, err
	}
	beside, err := os.MkdirTemp(data, ".restore-")
	if err != nil {
		return m, fmt.Errorf("restore into %s: %w", data, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(beside)) }()
	if err := fillFolder(ctx, f, &m, beside, log, progress); err != nil {
		return m, err
	}
	return m, move(beside, data)
}

// free refuses a folder that holds a log.
func free(data string) error {
	if used := bus.Used(data); used != "" {
		return fmt.Errorf("%w: %s is there; a backup is restored into a folder without a log. Name another one with -data, or move %s away first", ErrNotEmpty, used, used)
	}
	return nil
}

// fillFolder has a server of its own make the store, and then one that is opened like
// that of a role: it writes the marks by which a later start sees what it must find.
func fillFolder(ctx context.Context, f *File, m *Manifest, folder string, log *slog.Logger, progress func(Progress)) error {
	b, err := bus.Open(ctx, bus.Options{Data: folder, Bare: true, Bulk: true, Logger: log})
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	err = Target{Bus: b, Progress: progress}.fill(ctx, f, m)
	if err = errors.Join(err, b.Close(context.WithoutCancel(ctx))); err != nil {
		return err
	}
	if b, err = bus.Open(ctx, bus.Options{Data: folder, Logger: log}); err != nil {
		return fmt.Errorf("open what was restored: %w", err)
	}
	err = compareAll(ctx, b, m)
	b.Stored(m.Log().Last)
	return errors.Join(err, b.Close(context.WithoutCancel(ctx)), syncAll(folder))
}

// syncAll writes every file below a folder to the disk.
func syncAll(folder string) error {
	return filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() && !d.Type().IsRegular() {
			return err
		}
		return syncFolder(path)
	})
}

// compareAll makes sure that a start finds what the manifest says.
func compareAll(ctx context.Context, b *bus.Bus, m *Manifest) error {
	for i := range m.Streams {
		s, err := b.JetStream().Stream(ctx, m.Streams[i].Name)
		if err != nil {
			return fmt.Errorf("look at what was restored of stream %s: %w", m.Streams[i].Name, err)
		}
		// Snapshots were told where they stand now, which adds messages.
		if last := s.CachedInfo().State.LastSeq; last < m.Streams[i].Last || last > m.Streams[i].Last && m.Streams[i].Name != "OBJ_"+m.Names().Snapshots {
			return fmt.Errorf("what was restored of stream %s ends at position %d instead of %d", m.Streams[i].Name, last, m.Streams[i].Last)
		}
	}
	return nil
}

// move puts the store in its place. The marks come last: without them a start takes the
// store as it is.
func move(from, to string) error {
	for _, name := range bus.StoreFiles() {
		if err := os.Rename(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			return fmt.Errorf("move what was restored into %s: %w", to, err)
		}
	}
	return syncFolder(to)
}
