package bus

import (
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// The log server knows members by their names alone. After a removal a name is free
// again, for a machine with an empty folder, and the folder that was removed must not come
// back under it: it holds the votes and the streams of another time. So every data folder
// has an id of its own, members show each other theirs (see passport), and whoever
// removes a member notes which folders it had. Every member keeps all of these notes, tells
// the others, and refuses the folders that stand in them for good.

// foldersFile in the data folder keeps what this member knows of folders.
const foldersFile = "folders.json"

// earlierFolder begins the id of a folder that was a member's before folders had ids: what
// was removed before anybody saw its id is known by that.
const earlierFolder = "earlier-"

// Bounds of what is kept.
const (
	mostGone    = 500              // folders that were removed; the oldest are forgotten
	mostFolders = 8                // of one member, which may have been emptied now and then
	pendingLife = 10 * time.Minute // of a removal that was asked for and is not decided
)

// goneFolder is a folder of a member that was removed.
type goneFolder struct {
	Member string    `json:"member"`
	Folder string    `json:"folder,omitempty"` // "" = one whose id nobody knew
	At     time.Time `json:"at"`
	// Pending says that the removal was asked for, and is not known to be decided yet.
	Pending bool `json:"pending,omitempty"`
	// Lost says that it was removed as gone for good, although the log may have ended there
	// behind where it went on.
	Lost bool `json:"lost,omitempty"`
}

// folderNote is the content of the file.
type folderNote struct {
	Self  string              `json:"self"`            // id of this folder
	Known map[string][]string `json:"known,omitempty"` // ids that were seen, by the name of the member
	Gone  []goneFolder        `json:"gone,omitempty"`
}

// folders is what this member knows of data folders, its own and others.
type folders struct {
	data, name string   // of this member
	members    []string // names, as the folder noted them before this start
	log        *slog.Logger

	out     chan struct{} // closed when this folder turns out to be removed
	changed chan struct{} // tells that there is something to keep and to tell

	mu      sync.Mutex // guards what follows
	note    folderNote
	shown   []byte // the passport, nil = it is to be made
	removed bool   // out is closed
}

// openFolders reads what the data folder knows, and gives it an id if it has none.
func openFolders(data, name string, log *slog.Logger) (*folders, error) {
	f := &folders{data: data, name: name, members: readNote(data).Members, log: log, out: make(chan struct{}), changed: make(chan struct{}, 1)}
	path := filepath.Join(data, foldersFile)
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &f.note)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read which data folders are members' from %s: %w; restore the file from a backup, or remove this member and join again with an empty folder", path, err)
	}
	size, ids, err := readPeers(metaOf(data))
	known := err == nil && size != unadmitted
	// What was asked for before this start was decided, or it was not.
	f.note.Gone = slices.DeleteFunc(f.note.Gone, func(g goneFolder) bool {
		return g.Pending && (!known || slices.Contains(ids, memberID(g.Member)))
	})
	for i := range f.note.Gone {
		f.note.Gone[i].Pending = false
	}
	if f.note.Self == "" {
		f.note.Self = strings.ToLower(rand.Text()[:16])
		if known {
			f.note.Self = earlierFolder + f.note.Self
		}
	}
	return f, f.save()
}

// save keeps the note; f.mu is held, or nobody else has f yet.
func (f *folders) save() error {
	text, err := json.Marshal(f.note)
	if err == nil {
		err = replaceFile(filepath.Join(f.data, foldersFile), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep which data folders are members' in %s: %w", f.data, err)
	}
	return nil
}

// keep saves the note.
func (f *folders) keep() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trySave()
}

// trySave is save that logs if that fails: it is tried again with the next change. f.mu is
// held.
func (f *folders) trySave() {
	if err := f.save(); err != nil {
		f.log.Warn("a member that was removed could come back after a restart", "err", err)
	}
}

// turned says that the note is another one; f.mu is held.
func (f *folders) turned() {
	f.shown = nil
	select {
	case f.changed <- struct{}{}:
	default: // that is known
	}
}

// leaving notes on disk that a member is about to be removed, with all folders that it
// had: whoever it is that comes back later under its name, these do not. lost tells that
// the newest of the log may go with it.
func (f *folders) leaving(name string, lost bool) ([]goneFolder, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ids := f.note.Known[name]
	if len(ids) == 0 {
		ids = []string{""}
	}
	var all []goneFolder
	for _, id := range ids {
		all = append(all, goneFolder{Member: name, Folder: id, At: time.Now().UTC().Truncate(time.Second), Pending: true, Lost: lost})
	}
	f.take(all)
	return all, f.save()
}

// givenUp are the removals with which an operator gave up what the log may have lacked.
func (f *folders) givenUp() (all []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, g := range f.note.Gone {
		if g.Lost && !g.Pending {
			all = append(all, g.Member+" "+g.Folder+" "+g.At.Format(time.RFC3339))
		}
	}
	return all
}

// left notes on disk that a member whose removal was asked for is none any more.
func (f *folders) left(name string) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	was := false
	for i, g := range f.note.Gone {
		if g.Member == name && g.Pending {
			f.note.Gone[i].Pending, was = false, true
		}
	}
	if !was {
		return
	}
	f.forget()
	f.turned()
	f.trySave()
}

// wasRemoved tells whether a member of a name was ever removed.
func (f *folders) wasRemoved(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.note.Gone, func(g goneFolder) bool { return g.Member == name && !g.Pending })
}

// expire forgets removals that were asked for and never decided.
func (f *folders) expire(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note.Gone = slices.DeleteFunc(f.note.Gone, func(g goneFolder) bool { return g.Pending && now.Sub(g.At) > pendingLife })
}

// take takes in folders that are gone, and tells whether any was new; f.mu is held.
func (f *folders) take(gone []goneFolder) (turned bool) {
	for _, g := range gone {
		i := slices.IndexFunc(f.note.Gone, func(o goneFolder) bool { return o.Member == g.Member && o.Folder == g.Folder })
		switch {
		case i < 0:
			f.note.Gone = append(f.note.Gone, g)
		case f.note.Gone[i].Pending:
			f.note.Gone[i] = g
		default:
			continue
		}
		turned = true
	}
	if more := len(f.note.Gone) - mostGone; more > 0 {
		slices.SortStableFunc(f.note.Gone, func(a, b goneFolder) int { return a.At.Compare(b.At) })
		f.note.Gone = slices.Delete(f.note.Gone, 0, more)
	}
	return turned
}

// forget takes folders that are gone out of those that are seen; f.mu is held.
func (f *folders) forget() {
	for name, ids := range f.note.Known {
		f.note.Known[name] = slices.DeleteFunc(ids, func(id string) bool { return f.gone(name, id) != nil })
		if len(f.note.Known[name]) == 0 {
			delete(f.note.Known, name)
		}
	}
}

// gone returns what is noted of the removal of a member's folder, nil = it was not
// removed; f.mu is held.
func (f *folders) gone(name, id string) *goneFolder {
	early := id == "" || strings.HasPrefix(id, earlierFolder)
	for i, g := range f.note.Gone {
		if g.Member == name && !g.Pending && (g.Folder == id || g.Folder == "" && early) {
			return &f.note.Gone[i]
		}
	}
	return nil
}

// meet is the error for a peer whose folder was removed; of any other it takes in what it
// says. No word of a folder that was removed counts, so that an old one ends nobody.
func (f *folders) meet(p *passport) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p.Member == f.name && p.Self == f.note.Self {
		return nil // this member itself
	}
	if g := f.gone(p.Member, p.Self); g != nil {
		return g.refusal()
	}
	turned := f.take(p.Gone)
	turned = f.see(p.Member, p.Self) || turned
	for name, ids := range p.Known {
		for _, id := range ids {
			turned = f.see(name, id) || turned
		}
	}
	if turned {
		f.forget()
		f.turned()
	}
	if f.gone(f.name, f.note.Self) != nil && !f.removed {
		f.removed = true
		close(f.out)
	}
	return nil
}

// see takes in the id of a folder, and tells whether it is new; f.mu is held.
func (f *folders) see(name, id string) bool {
	ids := f.note.Known[name]
	if id == "" || name == "" || slices.Contains(ids, id) || f.gone(name, id) != nil {
		return false
	}
	if f.note.Known == nil {
		f.note.Known = map[string][]string{}
	}
	ids = append(ids, id)
	f.note.Known[name] = ids[max(0, len(ids)-mostFolders):]
	return true
}

// unknown is the error for a peer of a release that shows no passport: its certificate
// has the name of a member that was removed, and of none that is one now.
func (f *folders) unknown(c *x509.Certificate, members []string) error {
	if len(members) == 0 {
		members = f.members
	}
	if slices.ContainsFunc(members, func(name string) bool { return name != f.name && named(c, name) }) {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, g := range f.note.Gone {
		if !g.Pending && named(c, g.Member) {
			return f.note.Gone[i].refusal()
		}
	}
	return nil
}

// refusal is the error for a peer with this folder.
func (g *goneFolder) refusal() error {
	return fmt.Errorf("the member %s %s at %s, and its data folder stays out", g.Member, removedForGood, g.At.Format(time.RFC3339))
}

// says is what this member tells others.
func (f *folders) says() passport {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.passport()
}
