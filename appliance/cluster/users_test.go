package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/access"
	"jaque.sh/jaque/appliance/access/credential"
)

// someone is a user with a key of its own.
func someone(t *testing.T, name string) access.Record {
	t.Helper()
	c, err := credential.New("worker", name, []string{"dmz"})
	if err != nil {
		t.Fatal(err)
	}
	key, err := c.Key()
	if err != nil {
		t.Fatal(err)
	}
	return access.Record{Name: name, Role: access.Worker, Zones: []string{"dmz"}, Key: key, Made: time.Now().UTC().Truncate(time.Second)}
}

// sharing has a member with a data folder share its users until stop is called.
func sharing(t *testing.T, nc *nats.Conn, id, data string, log *slog.Logger) (s *Sharing, stop func()) {
	t.Helper()
	s = &Sharing{Conn: nc, Self: id, Users: access.In(data), Logger: log}
	ctx, cancel := context.WithCancel(t.Context())
	done, ready := make(chan error, 1), make(chan struct{})
	go func() { done <- s.Run(ctx, func() { close(ready) }) }()
	<-ready
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return s, stop
}

// names are the users of a folder, as its server lets them in.
func names(t *testing.T, data string) string {
	t.Helper()
	users, err := access.In(data).Source()()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, u := range users {
		all = append(all, u.Name)
	}
	return strings.Join(all, " ")
}

// soon waits for what members have to tell each other.
func soon(t *testing.T, what string, done func() bool) {
	t.Helper()
	for began := time.Now(); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("never: %s", what)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestUsersAreTheClusters(t *testing.T) {
	t.Parallel()
	nc, log := connected(t), slog.New(slog.DiscardHandler)
	a, b, c := t.TempDir(), t.TempDir(), t.TempDir()
	must(t, access.In(a).Add(someone(t, "before")))
	sa, _ := sharing(t, nc, "a", a, log)
	sb, _ := sharing(t, nc, "b", b, log)
	_, stop := sharing(t, nc, "c", c, log)
	all := func(want string) func() bool {
		return func() bool { return names(t, a) == want && names(t, b) == want && names(t, c) == want }
	}
	soon(t, "all let in who was there before", all("before"))
	must(t, access.In(b).Add(someone(t, "w1")))
	soon(t, "all let in a user that another member made", all("before w1"))
	must(t, access.In(c).Remove("before"))
	soon(t, "a user is revoked at all", all("w1"))
	stop() // c is away
	must(t, access.In(a).Remove("w1"))
	must(t, access.In(b).Add(someone(t, "w2")))
	soon(t, "those who are there agree", func() bool { return names(t, a) == "w2" && names(t, b) == "w2" })
	if names(t, c) != "w1" {
		t.Errorf("c was away and lets in %q", names(t, c))
	}
	sc, _ := sharing(t, nc, "c", c, log)
	soon(t, "c learns what it missed", all("w2"))
	soon(t, "all say the same", func() bool {
		return sa.List().Count == 1 && reflect.DeepEqual(sa.List(), sb.List()) && reflect.DeepEqual(sa.List(), sc.List())
	})
}

// Many users do not fit into one message.
func TestManyUsersAreShared(t *testing.T) {
	t.Parallel()
	nc, log := connected(t), slog.New(slog.DiscardHandler)
	a, b := t.TempDir(), t.TempDir()
	one := someone(t, "w")
	many := make([]access.Record, 2*usersPage+1)
	for i := range many {
		one.Name, one.Changed = "w"+strings.Repeat("x", i%100)+string(rune('a'+i/100)), int64(i+1)
		many[i] = one
	}
	if changed, err := access.In(a).Merge(many); err != nil || len(changed) != len(many) {
		t.Fatalf("%d, %v", len(changed), err)
	}
	sharing(t, nc, "a", a, log)
	s, _ := sharing(t, nc, "b", b, log)
	soon(t, "b has all", func() bool { return s.List() != nil && s.List().Count == len(many) })
}

// Whoever ends the exchange may give the folder to somebody else: nothing is written to
// it any more, even when a message was being worked on.
func TestWhatEndedWritesNoUsers(t *testing.T) {
	t.Parallel()
	nc := connected(t)
	many := make([]access.Record, usersPage)
	one := someone(t, "w")
	for i := range many {
		one.Name, one.Changed = fmt.Sprintf("w%d", i), int64(i+1)
		many[i] = one
	}
	text, err := json.Marshal(usersSaid{From: "b", Records: many})
	must(t, err)
	data := t.TempDir()
	s, stop := sharing(t, nc, "a", data, slog.New(slog.DiscardHandler))
	must(t, nc.Publish(s.inbox, text))
	files := func() int {
		all, err := filepath.Glob(filepath.Join(data, "users", "*"))
		must(t, err)
		return len(all)
	}
	soon(t, "the first users are written", func() bool { return files() > 0 })
	stop()
	before := files()
	time.Sleep(100 * time.Millisecond) // what would still write has the time to
	if now := files(); now != before {
		t.Errorf("%d files were there when it ended, now there are %d", before, now)
	}
}

// Whoever has the server deliver something on the subjects of the members changes
// nothing and learns nothing.
func TestWhatTheServerDeliversFromItsStoreIsNoWordOfAMember(t *testing.T) {
	t.Parallel()
	nc := connected(t)
	data, text := t.TempDir(), &lines{}
	log := slog.New(slog.NewTextHandler(text, nil))
	must(t, access.In(data).Add(someone(t, "w")))
	s, _ := sharing(t, nc, "a", data, log)
	k := &keeper{st: status(true, "a", "b")}
	answering(t, &Answers{Conn: nc, Keeper: k, Self: Member{ID: "a", Listen: "10.0.0.1:4248"}, Logger: log})
	evil, err := json.Marshal(usersSaid{From: "b", Records: []access.Record{someone(t, "evil")}})
	must(t, err)
	question, err := json.Marshal(Question{Remove: "b"})
	must(t, err)
	heard, err := nc.SubscribeSync("jaque.log.web01")
	must(t, err)
	stored := nats.Header{"Nats-Stream": {"JAQUE_LOG"}}
	for _, m := range []*nats.Msg{
		{Subject: askSubject + ".a", Data: question},
		{Subject: askSubject + ".a", Data: question, Reply: "jaque.log.web01"},
		{Subject: askSubject + ".a", Data: question, Reply: nc.NewInbox(), Header: stored},
		{Subject: whoSubject, Reply: "jaque.log.web01"},
		{Subject: usersSubject, Data: []byte(`{"from":"x","sum":"y"}`), Reply: "jaque.log.web01"},
		{Subject: s.inbox, Data: evil, Header: stored},
	} {
		must(t, nc.PublishMsg(m))
	}
	// A real question comes behind them.
	if _, err := Ask(t.Context(), nc, Question{}); err != nil {
		t.Fatal(err)
	}
	soon(t, "what is no question is told of", func() bool {
		return strings.Count(text.String(), "a message is no question to a member") == 3
	})
	if k.removed != "" || names(t, data) != "w" {
		t.Errorf("%q was removed, the users are %q", k.removed, names(t, data))
	}
	if m, err := heard.NextMsg(50 * time.Millisecond); err == nil {
		t.Errorf("something came on the log: %s", m.Data)
	}
}

func TestAReportSaysWhichMembersHaveOtherUsers(t *testing.T) {
	t.Parallel()
	member := func(id, sum string, online bool) MemberReport {
		return MemberReport{ID: id, Online: online, Users: &UserList{Count: 1, Sum: sum}}
	}
	for _, c := range []struct {
		name    string
		members []MemberReport
		want    string // "" = nothing
	}{
		{"all have the same", []MemberReport{member("a", "1", true), member("b", "1", true)}, ""},
		{"one has others", []MemberReport{member("a", "1", true), member("b", "2", true), member("c", "1", true)}, "are known at b than at a"},
		{"one that is away has others", []MemberReport{member("a", "1", true), member("b", "2", false)}, ""},
		{"one does not say", []MemberReport{member("a", "1", true), {ID: "b", Online: true}}, ""},
		{"the one that is asked does not say", []MemberReport{{ID: "a", Online: true}, member("b", "2", true)}, ""},
	} {
		r := &Report{Self: "a", Members: c.members}
		if got := strings.Join(r.users(), " "); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// A member that was just cut off counts as there, and says nothing: it must not be taken
// for one that knows.
func TestOnlyItsOwnAnswerTellsWhatAMemberKnows(t *testing.T) {
	st := status(true, "a", "b", "c", "d", "e")
	for i := range st.Members {
		st.Members[i].Online = st.Members[i].Name != "e"
	}
	said := map[string]self{}
	for id, sum := range map[string]string{"a": "1", "b": "1", "c": "2"} {
		said[id] = self{ID: id, Users: &UserList{Sum: sum}}
	}
	know, unsure, away := newReport(&st, said).Knowing("1")
	if got := fmt.Sprint(know, unsure, away); got != "[a b] [c d] [e]" {
		t.Errorf("who knows, does not or is silent, and is away: %s", got)
	}
}

func TestAFurtherMemberGetsTheUsersWithTheAnswer(t *testing.T) {
	t.Parallel()
	first, give := founded(t, "a")
	must(t, access.In(first).Add(someone(t, "w")))
	must(t, access.In(first).Add(someone(t, "gone")))
	must(t, access.In(first).Remove("gone"))
	data := filepath.Join(t.TempDir(), "b")
	if _, err := Join(t.Context(), data, give(false), Member{ID: "b", Listen: "10.0.0.2:4248"}, patient); err != nil {
		t.Fatal(err)
	}
	if got := names(t, data); got != "w" {
		t.Errorf("the new member lets in %q", got)
	}
	here, err := access.In(data).Records()
	must(t, err)
	there, err := access.In(first).Records()
	must(t, err)
	if len(here) != 2 || access.Sum(here) != access.Sum(there) {
		t.Errorf("records %+v, want %+v", here, there)
	}
}

// lines is a log that many goroutines write.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
