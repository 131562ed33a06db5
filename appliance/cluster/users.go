package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/access"
	"jaque.sh/jaque/appliance/bucket"
	"jaque.sh/jaque/appliance/command"
)

// usersSubject is where a member asks the others for records of users that it lacks. It
// is of the cluster's own conversation, as whoSubject is.
const usersSubject = "jaque.cluster.users"

// Bounds of the exchange.
const (
	usersLook = 500 * time.Millisecond // between two looks at the folder
	usersEach = 2 * time.Second        // between two questions when nothing changes
	usersPage = 256                    // records in one message
)

// UserList is what a member says of the users that it lets in.
type UserList struct {
	Count int `json:"count"` // that are not revoked
	// Sum is the same at members that have the same records.
	Sum string `json:"sum,omitempty"`
}

// Sharing keeps the users of this member's log server the same as the other members':
// each asks the others every two seconds, and those who have other records answer with
// all of theirs. Of two records about one user the later one counts, so that it works
// without a quorum and a member that was away learns what it missed.
type Sharing struct {
	Conn   *nats.Conn // inside the process
	Self   string     // id of this member
	Users  access.Users
	Logger *slog.Logger

	list  atomic.Pointer[UserList]
	again atomic.Bool // somebody has other records
	inbox string
	busy  sync.RWMutex // held for reading while a message is worked on

	mu    sync.Mutex // guards what follows
	watch func() ([]access.Record, bool, error)
	told  string // the error that was told last
}

// usersAsk is what a member asks, usersSaid what it is told: a part of the records.
type (
	usersAsk struct {
		From string `json:"from"`
		Sum  string `json:"sum"`
	}
	usersSaid struct {
		From    string          `json:"from"`
		Records []access.Record `json:"records"`
	}
)

// List is what this member says of its users; nil before it has looked.
func (s *Sharing) List() *UserList { return s.list.Load() }

// Run exchanges records until ctx ends. What goes wrong is told of in the log, and tried
// again: it keeps nobody from working.
func (s *Sharing) Run(ctx context.Context, ready func()) error {
	s.mu.Lock()
	s.watch, s.inbox = s.Users.Watch(), s.Conn.NewInbox()
	s.mu.Unlock()
	over := false // guarded by busy
	defer func() {
		s.busy.Lock() // waits for who writes to the folder: Unsubscribe does not
		defer s.busy.Unlock()
		over = true
	}()
	for subject, take := range map[string]nats.MsgHandler{usersSubject: s.answer, s.inbox: s.take} {
		sub, err := s.Conn.Subscribe(subject, func(m *nats.Msg) {
			s.busy.RLock()
			defer s.busy.RUnlock()
			if !over {
				take(m)
			}
		})
		if err != nil {
			return fmt.Errorf("share the users of the log server: %w", err)
		}
		defer func() { _ = sub.Unsubscribe() }() // the connection ends too
	}
	ready()
	tick := time.NewTicker(usersLook)
	defer tick.Stop()
	var asked time.Time
	for {
		_, changed, err := s.read()
		s.tell(err)
		if s.again.Swap(false) || changed || time.Since(asked) >= usersEach {
			s.tell(s.ask())
			asked = time.Now()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// read returns the records of this member, and whether they changed since the last look.
func (s *Sharing) read() ([]access.Record, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, changed, err := s.watch()
	if err == nil && (changed || s.list.Load() == nil) {
		live := slices.DeleteFunc(slices.Clone(all), func(r access.Record) bool { return r.Revoked })
		s.list.Store(&UserList{Count: len(live), Sum: access.Sum(all)})
	}
	return all, changed, err
}

// tell logs an error once for as long as it stays.
func (s *Sharing) tell(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil || errors.Is(err, nats.ErrConnectionClosed) || err.Error() == s.told {
		return
	}
	s.told = err.Error()
	s.Logger.Error("the users of the log server are not shared with the other members", "err", err)
}

func (s *Sharing) ask() error {
	ask := usersAsk{From: s.Self}
	if l := s.list.Load(); l != nil {
		ask.Sum = l.Sum
	}
	text, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	return s.Conn.PublishRequest(usersSubject, s.inbox, text)
}

// answer gives another member the records of this one, if it has others, and asks it too.
func (s *Sharing) answer(m *nats.Msg) {
	var ask usersAsk
	if !command.Sent(m) || json.Unmarshal(m.Data, &ask) != nil || ask.From == s.Self {
		return
	}
	all, changed, err := s.read()
	if s.tell(err); err != nil {
		return
	}
	if changed || access.Sum(all) != ask.Sum {
		s.again.Store(true)
	}
	if access.Sum(all) == ask.Sum {
		return
	}
	for page := range slices.Chunk(all, usersPage) {
		text, err := json.Marshal(usersSaid{From: s.Self, Records: page})
		if err == nil {
			err = m.Respond(text)
		}
		s.tell(err)
	}
}

// take takes in records of another member.
func (s *Sharing) take(m *nats.Msg) {
	var said usersSaid
	if len(m.Header[bucket.StreamHeader]) > 0 || len(m.Data) == 0 {
		return // the server's own, such as that nobody else is there
	}
	if err := json.Unmarshal(m.Data, &said); err != nil {
		s.tell(fmt.Errorf("read what a member says of its users: %w", err))
		return
	}
	changed, err := s.Users.Merge(said.Records)
	s.tell(err)
	if len(changed) > 0 {
		s.Logger.Info("users of the log server were taken over from another member", "member", said.From, "users", strings.Join(changed, ", "))
		s.again.Store(true) // that this member has them now
	}
}

// users says which members let in others than the one that tells.
func (r *Report) users() []string {
	var mine *UserList
	for _, m := range r.Members {
		if m.ID == r.Self {
			mine = m.Users
		}
	}
	if mine == nil {
		return nil
	}
	other := r.Differ(mine.Sum)
	if len(other) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("other users of the log server are known at %s than at %s; members learn from each other within seconds, "+
		"and the log lines of those that do not say why", strings.Join(other, ", "), r.Self)}
}

// Knowing says which members have the users of a sum, which are there and have others or
// have not said which, and which cannot be reached. The cluster takes a member that was
// just cut off for one that is there: only its own answer tells what it knows.
func (r *Report) Knowing(sum string) (know, unsure, away []string) {
	for _, m := range r.Members {
		switch {
		case m.Users != nil && m.Users.Sum == sum:
			know = append(know, m.ID)
		case m.Online:
			unsure = append(unsure, m.ID)
		default:
			away = append(away, m.ID)
		}
	}
	return know, unsure, away
}

// Differ names the members that are there and have other users than those of a sum.
func (r *Report) Differ(sum string) []string {
	var other []string
	for _, m := range r.Members {
		if m.Online && m.Users != nil && m.Users.Sum != sum {
			other = append(other, m.ID)
		}
	}
	return other
}
