package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"jaque.sh/jaque/appliance/bus"
)

// A file is a tar archive in zstd. Its first member says what it is and its last one,
// the manifest, what must be in it; in between stand the messages of each stream in
// parts, encoded as in the log server's own backups. So "tar --zstd -tvf" shows what is
// inside.
const (
	formatName    = "jaque backup"
	formatVersion = 1
	beginName     = "backup.json"
	manifestName  = "manifest.json"
	partSize      = 4 << 20  // bytes of messages after which a part ends
	partMost      = 64 << 20 // bytes of a part; one message may be larger than partSize
	textMost      = 64 << 20 // bytes of the first and the last member
)

// Errors that a caller branches on.
var (
	// ErrFile: the file is no backup, or it is damaged or too new.
	ErrFile = errors.New("the file cannot be restored")
	// ErrNotEmpty: the target holds a log already.
	ErrNotEmpty = errors.New("the target is not empty")
)

// Begin is the first member of a file.
type Begin struct {
	Format  string    `json:"format"`
	Version int       `json:"version"`
	Made    time.Time `json:"made"`    // when it was begun
	Program string    `json:"program"` // version of jaque
	Prefix  string    `json:"prefix,omitempty"`
}

// Manifest is the last member of a file: what is in it.
type Manifest struct {
	Begin
	Done    time.Time `json:"done"`
	Streams []Stream  `json:"streams"` // in the order in which they were taken
}

// Stream is what a file holds of one stream.
type Stream struct {
	Name     string          `json:"name"`
	Created  time.Time       `json:"created"`
	Config   json.RawMessage `json:"config"`
	First    uint64          `json:"first"` // position of the first message; Last + 1 = there is none
	Last     uint64          `json:"last"`  // last position, its message there or removed
	Messages uint64          `json:"messages"`
	// Missing are positions between First and Last without a message. In buckets newer
	// messages replace older ones; in the log they are a loss that was accepted once.
	Missing uint64    `json:"missing"`
	Bytes   int64     `json:"bytes"` // of the messages
	Newest  time.Time `json:"newest,omitzero"`
	Parts   []Part    `json:"parts"`
}

// Part is one member of the file: messages one behind the other.
type Part struct {
	Name   string `json:"name"` // the name of the stream, a slash and a number
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Names returns the names of the streams of the installation.
func (m *Manifest) Names() bus.Names { return bus.NamesFor(m.Prefix) }

// Log returns what the file holds of the log, the zero Stream if nothing.
func (m *Manifest) Log() Stream { return m.stream(m.Names().Log) }

func (m *Manifest) stream(name string) Stream {
	for i := range m.Streams {
		if m.Streams[i].Name == name {
			return m.Streams[i]
		}
	}
	return Stream{}
}

var streamForm = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

var partForm = regexp.MustCompile(`^([A-Za-z0-9_-]+)/[0-9]{6,}$`)

func partName(stream string, n int) string { return fmt.Sprintf("%s/%06d", stream, n) }

// streamOf returns the stream that a member belongs to, "" if it is no part of one.
func streamOf(member string) string {
	if m := partForm.FindStringSubmatch(member); m != nil {
		return m[1]
	}
	return ""
}

// check tells what is wrong with the first member, nil if it can be read.
func (b *Begin) check() error {
	switch {
	case b.Format != formatName:
		return fmt.Errorf("%w: it is no backup of jaque", ErrFile)
	case b.Version > formatVersion:
		return fmt.Errorf("%w: its form is version %d and this jaque knows %d; it was made by jaque %s, restore it with that or a newer one",
			ErrFile, b.Version, formatVersion, b.Program)
	case b.Version < 1:
		return fmt.Errorf("%w: its form has no version", ErrFile)
	}
	return nil
}
