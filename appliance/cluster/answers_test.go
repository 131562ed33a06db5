package cluster

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/bus"
)

// keeper is a server's part in a cluster, as a test writes it.
type keeper struct {
	mu      sync.Mutex
	st      bus.Status
	removed string
	lost    []string
	barred  map[string]time.Duration
}

func (k *keeper) Status(context.Context) (bus.Status, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.st, nil
}

func (k *keeper) Remove(_ context.Context, name string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.removed = name
	k.st = status(true, "a")
	return nil
}

func (k *keeper) RemoveLost(_ context.Context, names ...string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lost = names
	return bus.ErrNoQuorum
}

func (k *keeper) Trouble() []string { return []string{"something is wrong"} }

// status is one of a cluster; members with a "-" in front are away.
func status(quorum bool, members ...string) bus.Status {
	st := bus.Status{Cluster: "site", Self: "a", Quorum: quorum, Wanted: min(3, len(members))}
	s := bus.StreamStatus{Name: "LOG", Leader: "a", Replicas: st.Wanted}
	for _, m := range members {
		name, away := strings.CutPrefix(m, "-")
		st.Members = append(st.Members, bus.Member{Name: name, Online: !away})
		if name != "a" {
			s.Others = append(s.Others, bus.Replica{Name: name, Offline: away, Current: true})
		}
	}
	st.Streams = []bus.StreamStatus{s}
	return st
}

func TestTheOutlookSaysWhatOneMoreLossCosts(t *testing.T) {
	t.Parallel()
	lagging := status(true, "a", "b", "c")
	lagging.Streams[0].Others[0] = bus.Replica{Name: lagging.Streams[0].Others[0].Name, Lag: 4}
	declared := status(true, "a", "b", "c")
	declared.Streams[0].Replicas = 1
	grown := status(true, "a", "b", "-c")
	grown.Self, grown.Streams[0].Leader = "a", ""
	grown.Streams[0].Others = []bus.Replica{{Name: "c", Offline: true}}
	for _, c := range []struct {
		name string
		st   bus.Status
		want []string
	}{
		{"one member", status(true, "a"), []string{"this is the only member"}},
		{"two members", status(true, "a", "b"), []string{"two members: if one of them dies"}},
		{"two members of which one is away", status(false, "a", "-b"), []string{"nothing is written at present"}},
		{"three members", status(true, "a", "b", "c"), []string{"one more member may die"}},
		{"three members of which one is away", status(true, "a", "b", "-c"), []string{"if one more member dies, nothing is written"}},
		{"three members of which one is away that had one of two copies", grown, []string{
			"nothing is written to LOG at present, which has no leader; its copies are at a and c, of which c cannot be reached: start c again with its data folder", "not every copy",
		}},
		{"three members of which two are away", status(false, "a", "-b", "-c"), []string{"nothing is written at present"}},
		{"five members of which one is away", status(true, "a", "b", "c", "d", "-e"), []string{"one more member may die"}},
		{"a copy that is being filled", lagging, []string{"not every copy is made or filled yet of LOG"}},
		{"a copy that is not made yet", declared, []string{"not every copy is made or filled yet of LOG"}},
	} {
		if c.name == "five members of which one is away" {
			c.st.Streams[0].Others = c.st.Streams[0].Others[:2]
		}
		got := outlook(&c.st)
		if len(got) != len(c.want) {
			t.Errorf("%s: %q", c.name, got)
			continue
		}
		for i := range got {
			if !strings.HasPrefix(got[i], c.want[i]) {
				t.Errorf("%s: %q, want %q", c.name, got[i], c.want[i])
			}
		}
	}
}

func TestAMemberKeepsWhereTheOthersAre(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		peers    []string
		at       []string
		complete bool
		want     []string
		changed  bool
	}{
		{"a new one is added", []string{"b:1"}, []string{"c:1", "b:1"}, true, []string{"b:1", "c:1"}, true},
		{"nothing is new", []string{"b:1", "c:1"}, []string{"c:1", "b:1"}, true, []string{"b:1", "c:1"}, false},
		{"one that was removed is forgotten", []string{"b:1", "c:1"}, []string{"b:1"}, true, []string{"b:1"}, true},
		{"one that is away is kept", []string{"b:1", "c:1"}, []string{"b:1"}, false, []string{"b:1", "c:1"}, false},
		{"the last member forgets all that were removed", []string{"b:1", "c:1"}, nil, true, nil, true},
		{"the last member knows nobody already", nil, nil, true, nil, false},
		{"nobody has answered yet", []string{"b:1"}, nil, false, []string{"b:1"}, false},
	} {
		m := &Member{Listen: "a:1", Peers: c.peers}
		if changed := m.learnt(c.at, c.complete); changed != c.changed || !reflect.DeepEqual(m.Peers, c.want) {
			t.Errorf("%s: %v %v", c.name, changed, m.Peers)
		}
	}
	m := &Member{Listen: "a:1", Peers: []string{"b:1"}, Lost: []string{"c"}}
	if !m.learnt([]string{"b:1"}, true) || m.Lost != nil {
		t.Errorf("with a quorum nobody is lost any more: %+v", m)
	}
}

func TestWhoNeverComesBackIsKept(t *testing.T) {
	t.Parallel()
	data, _ := founded(t, "a")
	for id, want := range map[string]string{"a": "this member itself", "no name": "no name of a member", "b": ""} {
		err := Lose(data, id)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if err := Lose(data, "b"); err != nil {
		t.Error(err)
	}
	if m, err := Read(data); err != nil || !reflect.DeepEqual(m.Lost, []string{"b"}) {
		t.Errorf("%+v, %v", m, err)
	}
	if err := Lose(filepath.Join(data, "nowhere"), "b"); !errors.Is(err, ErrNone) {
		t.Errorf("no member's folder: %v", err)
	}
}

// connected is a connection inside a server.
func connected(t *testing.T) *nats.Conn {
	t.Helper()
	s, err := server.NewServer(&server.Options{ServerName: "a", DontListen: true, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	nc, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close(); s.Shutdown(); s.WaitForShutdown() })
	return nc
}

// answering runs the answers of a member and waits until they are there.
func answering(t *testing.T, a *Answers) {
	t.Helper()
	if a.Logger == nil {
		a.Logger = slog.New(slog.DiscardHandler)
	}
	ctx, stop := context.WithCancel(context.Background())
	done, ready := make(chan error, 1), make(chan struct{})
	go func() { done <- a.Run(ctx, func() { close(ready) }) }()
	<-ready
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestAMemberTellsACommandOfTheClusterAndRemoves(t *testing.T) {
	t.Parallel()
	data, give := founded(t, "a")
	give(true)
	nc := connected(t)
	if _, err := Ask(t.Context(), nc, Question{}); !errors.Is(err, ErrSilent) {
		t.Errorf("nobody answers: %v", err)
	}
	k := &keeper{st: status(true, "a", "b")}
	k.st.Missing = []string{"12 positions are missing"}
	engines := func() *Engines { return &Engines{Epoch: 7, Members: []Engine{{ID: "a", Live: true, Objects: 3}}} }
	older := func() *Engines { return &Engines{Epoch: 6} }
	answering(t, &Answers{Conn: nc, Keeper: k, Self: Member{ID: "b", Listen: "10.0.0.2:4248", Witness: true}, Engines: older})
	answering(t, &Answers{Conn: nc, Keeper: k, Self: Member{ID: "a", Listen: "10.0.0.1:4248"}, Engines: engines, Data: data, Version: "1"})
	r, err := Ask(t.Context(), nc, Question{})
	if err != nil {
		t.Fatal(err)
	}
	want := []MemberReport{
		{ID: "a", Address: "10.0.0.1:4248", Online: true, Version: "1"},
		{ID: "b", Address: "10.0.0.2:4248", Online: true, Witness: true},
	}
	if !reflect.DeepEqual(r.Members, want) || r.Engines == nil || r.Engines.Epoch != 7 || len(r.Trouble) != 2 || r.Trouble[1] != k.st.Missing[0] || len(r.Tokens) != 1 || !r.Tokens[0].Witness {
		t.Errorf("the report is %+v, engines %+v", r, r.Engines)
	}
	if !r.Streams[0].Whole {
		t.Errorf("the stream is %+v", r.Streams[0])
	}
	for q, want := range map[Question]string{{Remove: "a"}: "at another member", {Remove: "b", Lost: true}: bus.ErrNoQuorum.Error()} {
		if _, err := Ask(t.Context(), nc, q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	knows := func(what string, want bool) {
		t.Helper()
		for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			m, err := Read(data)
			if err == nil && strings.Contains(strings.Join(m.Peers, " "), "10.0.0.2:4248") == want {
				return
			}
			if time.Since(began) > 30*time.Second {
				t.Fatalf("%s: %+v, %v", what, m, err)
			}
		}
	}
	knows("the address of b is not kept", true)
	r, err = Ask(t.Context(), nc, Question{Remove: "b"})
	if err != nil || k.removed != "b" || len(r.Members) != 1 {
		t.Errorf("%+v, %v, %q", r, err, k.removed)
	}
	knows("the address of b, which was removed, is kept", false)
	if err := MayRestore(data); err != nil {
		t.Errorf("the last member has others: %v", err)
	}
}

// A member that waits for its cluster answers before it runs, and takes out together all of
// whom an operator said that they never come back.
func TestAMemberAnswersWhileItWaits(t *testing.T) {
	t.Parallel()
	data, _ := founded(t, "a")
	nc := connected(t)
	k := &keeper{st: status(false, "a", "-b", "-c")}
	a := &Answers{Conn: nc, Keeper: k, Self: Member{ID: "a", Listen: "10.0.0.1:4248"}, Data: data, Logger: slog.New(slog.DiscardHandler)}
	for range 2 {
		if err := a.Listen(); err != nil {
			t.Fatal(err)
		}
	}
	a.admit(Member{ID: "d", Listen: "10.0.0.4:4248"}, time.Now())
	r, err := Ask(t.Context(), nc, Question{})
	if err != nil || r.Quorum || len(r.Members) != 3 || len(r.Admitted) != 1 || r.Admitted[0].ID != "d" || r.Admitted[0].Address != "10.0.0.4:4248" {
		t.Errorf("the report is %+v, %v", r, err)
	}
	for _, id := range []string{"b", "c", "somebody who was removed long ago"} {
		if err := Lose(data, id); err != nil && id != "somebody who was removed long ago" {
			t.Fatal(err)
		}
	}
	if _, err := Ask(t.Context(), nc, Question{Remove: "c", Lost: true}); err == nil {
		t.Error("the keeper refuses")
	}
	if got := strings.Join(k.lost, " "); got != "c b" {
		t.Errorf("given up are %q", got)
	}
	answering(t, a)
	if r, err := Ask(t.Context(), nc, Question{}); err != nil || r.Self != "a" {
		t.Errorf("once it runs: %+v, %v", r, err)
	}
}

// Two members are asked to remove each other. The one that is asked second is removed
// before it has answered.
func TestACommandIsNotLeftWaitingForAMemberThatIsGone(t *testing.T) {
	t.Parallel()
	s, err := server.NewServer(&server.Options{ServerName: "a", DontListen: true, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.Shutdown()
	nc, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := nc.Subscribe(askSubject+".a", func(*nats.Msg) { s.Shutdown() }); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if _, err := Ask(t.Context(), nc, Question{Remove: "b"}); !errors.Is(err, ErrEnded) || !strings.Contains(err.Error(), "ask the member a: ") {
		t.Errorf("the member is gone: %v", err)
	}
	if d := time.Since(began); d > askWait/2 {
		t.Errorf("the command ended after %s", d)
	}
}

// none is the server's part in a cluster of which this member is none any more.
type none struct{ keeper }

func (n *none) Remove(context.Context, string) error { return bus.ErrNoMember }

func TestAMemberThatWasRemovedItselfSaysSoWhenItIsAsked(t *testing.T) {
	t.Parallel()
	nc := connected(t)
	answering(t, &Answers{Conn: nc, Keeper: &none{keeper{st: bus.Status{Cluster: "site"}}}, Self: Member{ID: "a"}})
	if _, err := Ask(t.Context(), nc, Question{Remove: "b"}); err == nil || !strings.Contains(err.Error(), ErrOutside.Error()) {
		t.Errorf("it says %v", err)
	}
}
