package cluster

import (
	"log/slog"
	"reflect"
	"testing"
)

// A witness goes away, and this member is started anew meanwhile: the status still says
// what it is and where.
func TestWhoIsAwayIsKnownFromBefore(t *testing.T) {
	t.Parallel()
	data, _ := founded(t, "a")
	nc := connected(t)
	k := &keeper{st: status(true, "a", "b", "w")}
	begin := func(data string) *Answers {
		return &Answers{Conn: nc, Keeper: k, Self: Member{ID: "a", Listen: "10.0.0.1:4248"}, Data: data, Logger: slog.New(slog.DiscardHandler)}
	}
	respond(t, nc, "b", 0)
	w := &Answers{Conn: nc, Keeper: k, Self: Member{ID: "w", Listen: "10.0.0.9:4248", Witness: true}, Logger: slog.New(slog.DiscardHandler)}
	a, flags := begin(data), begin("")
	sub, err := nc.Subscribe(whoSubject, w.who)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []*Answers{a, flags} {
		if err := x.learn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := sub.Unsubscribe(); err != nil {
		t.Fatal(err)
	}
	k.mu.Lock()
	k.st = status(true, "a", "b", "-w")
	k.mu.Unlock()
	again := begin(data)
	again.recall()
	want := MemberReport{ID: "w", Address: "10.0.0.9:4248", Witness: true}
	for name, x := range map[string]*Answers{"a member": a, "one that was started since": again, "a member by its flags": flags} {
		r, err := x.Report(t.Context())
		if err != nil || !reflect.DeepEqual(r.Members[2], want) {
			t.Errorf("%s says %+v, %v", name, r, err)
		}
	}
	if err := again.learn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m, err := Read(data); err != nil || !reflect.DeepEqual(m.Peers, []string{"10.0.0.9:4248", "b:4248"}) || len(m.Others) != 2 {
		t.Errorf("the settings are %+v, %v", m, err)
	}
	k.mu.Lock()
	k.st = status(true, "a", "b")
	k.mu.Unlock()
	if err := again.learn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m, err := Read(data); err != nil || !reflect.DeepEqual(m.Peers, []string{"b:4248"}) || len(m.Others) != 1 {
		t.Errorf("the witness was removed: %+v, %v", m, err)
	}
}
