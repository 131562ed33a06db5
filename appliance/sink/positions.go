package sink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
)

// Positions keeps how far each sink has come. Any goroutine may call it.
type Positions interface {
	// Load returns the position of a sink; found is false if it has none yet.
	Load(ctx context.Context, name string) (at journal.Position, found bool, err error)
	// Save keeps the position of a sink for good.
	Save(ctx context.Context, name string, at journal.Position) error
}

// files keeps each position in a file of its own.
type files struct{ dir string }

// NewFiles keeps positions in a folder, which it makes when there is something to
// save: one file for each sink, replaced as a whole.
func NewFiles(dir string) Positions { return files{dir} }

func (f files) path(name string) string {
	return filepath.Join(f.dir, object.ID(name).Token()+".json")
}

func (f files) Load(_ context.Context, name string) (at journal.Position, found bool, err error) {
	data, err := os.ReadFile(f.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return at, false, nil
	}
	if err != nil {
		return at, false, fmt.Errorf("read the position of sink %s: %w", name, err)
	}
	if err := json.Unmarshal(data, &at); err != nil {
		return journal.Position{}, false, fmt.Errorf("read the position of sink %s in %s: %w; remove the file to begin anew", name, f.path(name), err)
	}
	return at, true, nil
}

func (f files) Save(_ context.Context, name string, at journal.Position) error {
	if err := f.save(name, at); err != nil {
		return fmt.Errorf("save the position of sink %s: %w", name, err)
	}
	return nil
}

func (f files) save(name string, at journal.Position) error {
	if err := os.MkdirAll(f.dir, 0o750); err != nil {
		return err
	}
	data, err := json.Marshal(at)
	if err != nil {
		return err
	}
	path := f.path(name)
	next, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o640)
	if err != nil {
		return err
	}
	_, err = next.Write(append(data, '\n'))
	if err == nil {
		err = next.Sync()
	}
	if err = errors.Join(err, next.Close()); err != nil {
		return err
	}
	// Should the machine fail before the folder is synced, the older position counts
	// again: what lies between is delivered once more.
	return os.Rename(path+".new", path)
}
