package bus

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// foldersSubject is where members tell each other of folders, among the servers' own
// connections. What a passport tells once, when two members connect, this tells
// whenever it changes.
const foldersSubject = "jaque.cluster.folders"

// foldersSay is how often a member says it again: a message may be lost.
const foldersSay = 15 * time.Second

// folderWord is what is said.
type folderWord struct {
	passport
	// Leaving are folders of a member whose removal is about to be asked for: should who
	// asks be killed before it is decided, the others know them.
	Leaving []goneFolder `json:"leaving,omitempty"`
}

// talk hears what others say of folders and tells them, until the member is closed. It
// ends this member if it turns out to be removed.
func (p *peering) talk() error {
	sub, err := p.nc.Subscribe(foldersSubject, p.hearFolders)
	if err != nil {
		return fmt.Errorf("listen for what others say of data folders: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.silence = cancel
	p.done.Go(func() {
		defer func() { _ = sub.Unsubscribe() }() // the connection ends too
		tick := time.NewTicker(foldersSay)
		defer tick.Stop()
		out := p.folders.out
		for {
			select {
			case <-ctx.Done():
				return
			case <-out:
				out = nil
				p.b.fail(p.removal())
			case <-p.folders.changed:
				p.folders.keep()
				p.tellFolders(nil)
			case <-tick.C:
				p.folders.expire(time.Now())
				p.tellFolders(nil)
			}
		}
	})
	return nil
}

// tellFolders says what this member knows.
func (p *peering) tellFolders(leaving []goneFolder) {
	text, err := json.Marshal(folderWord{p.folders.says(), leaving})
	if err == nil {
		err = p.nc.Publish(foldersSubject, text)
	}
	if err != nil {
		p.b.log.Debug("the others are not told of data folders", "err", err)
	}
}

func (p *peering) hearFolders(m *nats.Msg) {
	var w folderWord
	if json.Unmarshal(m.Data, &w) == nil && w.Member != "" {
		p.folders.hear(&w)
	}
}

// hear takes in what another member says.
func (f *folders) hear(w *folderWord) {
	if f.meet(&w.passport) != nil || len(w.Leaving) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range w.Leaving {
		w.Leaving[i].Pending, w.Leaving[i].At = true, time.Now().UTC().Truncate(time.Second)
	}
	if f.take(w.Leaving) {
		f.turned()
	}
}

// announce notes which folders a member has that is about to be removed, and tells the
// others; lost as folders.leaving says.
func (p *peering) announce(name string, lost bool) error {
	leaving, err := p.folders.leaving(name, lost)
	if err != nil {
		return err
	}
	p.tellFolders(leaving)
	if err := p.nc.FlushTimeout(statusWait); err != nil {
		return fmt.Errorf("tell the others which data folders it has: %w", err)
	}
	return nil
}
