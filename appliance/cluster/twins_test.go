package cluster

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// Two processes answer as member b: a says so, and the one that was started later ends.
func TestOfTwoProcessesWithOneIDTheLaterOneEnds(t *testing.T) {
	t.Parallel()
	nc := connected(t)
	st := status(true, "a", "b")
	quiet := slog.New(slog.DiscardHandler)
	older := &Answers{Conn: nc, Keeper: &keeper{st: status(true, "b")}, Self: Member{ID: "b", Listen: "10.0.0.2:4248"}, Logger: quiet}
	older.begin()
	later := &Answers{Conn: nc, Keeper: &keeper{st: status(true, "b")}, Self: Member{ID: "b", Listen: "10.0.0.3:4248"}, Logger: quiet}
	later.begin()
	later.since = older.since.Add(time.Millisecond)
	answering(t, older)
	ended := make(chan error, 1)
	ready := make(chan struct{})
	go func() { ended <- later.Run(t.Context(), func() { close(ready) }) }()
	<-ready
	var logged bytes.Buffer
	a := &Answers{Conn: nc, Keeper: &keeper{st: st}, Self: Member{ID: "a", Listen: "10.0.0.1:4248"}, Logger: slog.New(slog.NewTextHandler(&logged, nil))}
	if err := a.learn(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "another process is member b of this cluster, at 10.0.0.2:4248: this one, at 10.0.0.3:4248") {
			t.Errorf("it ends with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the later one goes on")
	}
	const want = "2 processes are member b, at 10.0.0.2:4248 and 10.0.0.3:4248"
	if r, err := a.Report(t.Context()); err != nil || len(r.Trouble) < 2 || r.Trouble[1] != a.doubles()[0] || !strings.HasPrefix(r.Trouble[1], want) {
		t.Errorf("the report says %+v, %v", r, err)
	}
	if !strings.Contains(logged.String(), want) {
		t.Errorf("the log says %s", &logged)
	}
	if err := a.learn(t.Context()); err != nil || len(a.doubles()) != 0 {
		t.Errorf("once it has ended: %v, %v", a.doubles(), err)
	}
}

func TestWhoHasAnIDTwice(t *testing.T) {
	t.Parallel()
	at := func(id, instance string, second int) self {
		return self{ID: id, Instance: instance, Since: time.Unix(int64(second), 0)}
	}
	for name, c := range map[string]struct {
		give []self
		want string // the instances, oldest first
	}{
		"everybody has another id":         {[]self{at("a", "x", 1), at("b", "y", 2)}, ""},
		"one answers twice":                {[]self{at("a", "x", 1), at("a", "x", 1)}, ""},
		"one of a release that says less":  {[]self{at("a", "x", 1), {ID: "a"}}, ""},
		"two have one":                     {[]self{at("a", "y", 2), at("b", "z", 0), at("a", "x", 1)}, "x y"},
		"two have one since the same time": {[]self{at("a", "y", 1), at("a", "x", 1)}, "x y"},
		"two pairs":                        {[]self{at("b", "4", 4), at("a", "2", 2), at("b", "3", 3), at("a", "1", 1)}, "1 2, 3 4"},
	} {
		var got []string
		for _, same := range twins(c.give) {
			var one []string
			for _, s := range same {
				one = append(one, s.Instance)
			}
			got = append(got, strings.Join(one, " "))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

// An id that was let in at one member is not let in at another one, until its machine has
// started or an hour is over.
func TestAnIDIsLetInOnce(t *testing.T) {
	t.Parallel()
	data, _ := founded(t, "a")
	nc := connected(t)
	st := status(true, "a", "b")
	b := &Answers{Conn: nc, Keeper: &keeper{st: st}, Self: Member{ID: "b", Listen: "10.0.0.2:4248"}}
	answering(t, b)
	a := &Answers{Conn: nc, Keeper: &keeper{st: st}, Self: Member{ID: "a", Listen: "10.0.0.1:4248"}}
	answering(t, a)
	b.admit(Member{ID: "w", Listen: "10.0.0.5:4248"}, time.Now())
	d := &Door{Data: data, Members: func(context.Context) ([]string, error) { return []string{"a", "b"}, nil }, Standing: a.Standing, Logger: a.Logger}
	me, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ id, at, want string }{
		{"w", "10.0.0.6:4248", "a machine at 10.0.0.5:4248 was let in as w"},
		{"W", "10.0.0.6:4248", "a machine at 10.0.0.5:4248 was let in as W"},
		{"w", "10.0.0.5:4248", ""}, // the same machine again
		{"v", "10.0.0.5:4248", ""}, // it was given another name
		{"v", "10.0.0.2:4248", "the address 10.0.0.2:4248 is that of member b"},
		{"v", "10.0.0.1:4248", "the address 10.0.0.1:4248 is that of member a"},
		{"v", "10.0.0.6:4248", ""},
		{"B", "10.0.0.6:4248", "there is a member b already"},
	} {
		err := d.fits(t.Context(), me, &Member{Cluster: "site", ID: c.id, Listen: c.at}, &kept{})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s at %s: %v, want %q", c.id, c.at, err, c.want)
		}
	}
	if left := b.admissions([]string{"a", "w"}, time.Now()); len(left) != 0 {
		t.Errorf("it is a member, and kept for: %v", left)
	}
	b.admit(Member{ID: "w", Listen: "10.0.0.5:4248"}, time.Now().Add(-admission))
	if s := a.Standing(t.Context(), "w", "10.0.0.6:4248"); s.Admitted != "" {
		t.Errorf("an hour later it is kept for %s", s.Admitted)
	}
}

// stepping is an engine that is asked to step out.
type stepping struct {
	asked  chan string
	answer error
}

func (s stepping) Drill(context.Context, time.Duration, string) error { return s.answer }

func (s stepping) StepAside(_ context.Context, _ time.Duration, by string) error {
	s.asked <- by
	return s.answer
}
func (s stepping) Report() *DrillReport { return &DrillReport{} }
func (s stepping) Away() bool           { return false }

func TestAMemberThatIsRemovedHandsItsObjectsOverFirst(t *testing.T) {
	t.Parallel()
	nc := connected(t)
	k := &keeper{st: status(true, "a", "b")}
	asked := make(chan string, 1)
	answering(t, &Answers{Conn: nc, Keeper: k, Self: Member{ID: "b"}, Driller: stepping{asked: asked}})
	answering(t, &Answers{Conn: nc, Keeper: k, Self: Member{ID: "a"}})
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := askMember(t.Context(), nc, "a", Question{Remove: "b"}); err != nil {
		t.Fatal(err)
	}
	select {
	case by := <-asked:
		if by != "jaque cluster remove" {
			t.Errorf("asked by %q", by)
		}
	default:
		t.Error("it was not asked to step out")
	}
}

func TestARemovalSaysThatTheObjectsWereNotHandedOver(t *testing.T) {
	t.Parallel()
	nc := connected(t)
	k := &keeper{st: status(true, "a", "b")}
	engines := func() *Engines { return &Engines{Members: []Engine{{ID: "b", Live: true, Objects: 7}}} }
	answering(t, &Answers{Conn: nc, Keeper: k, Self: Member{ID: "b"}, Driller: stepping{make(chan string, 1), errors.New("it is busy")}})
	answering(t, &Answers{Conn: nc, Keeper: k, Self: Member{ID: "a"}, Engines: engines})
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	r, err := Ask(t.Context(), nc, Question{Remove: "b"})
	if err != nil || !strings.HasPrefix(r.Left, "b did not hand its 7 objects over (it is busy): the others take them over after its -heartbeat-ttl") {
		t.Errorf("%+v, %v", r, err)
	}
}
