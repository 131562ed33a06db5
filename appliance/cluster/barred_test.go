package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/bus"
)

func (k *keeper) Barred() map[string]time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.barred
}

// Another member saw the removal; this one was started since.
func TestANameThatWasTakenOutIsRefusedWithTheTimeThatIsLeft(t *testing.T) {
	t.Parallel()
	data, _ := founded(t, "a")
	nc := connected(t)
	st := status(true, "a", "b")
	other := &keeper{st: st, barred: map[string]time.Duration{"d": 3 * time.Minute, "e": 20 * time.Second}}
	answering(t, &Answers{Conn: nc, Keeper: other, Self: Member{ID: "b", Listen: "10.0.0.2:4248"}})
	a := &Answers{Conn: nc, Keeper: &keeper{st: st}, Self: Member{ID: "a", Listen: "10.0.0.1:4248"}}
	answering(t, a)
	d := &Door{Data: data, Members: func(context.Context) ([]string, error) { return []string{"a", "b"}, nil }, Standing: a.Standing, Logger: slog.New(slog.DiscardHandler)}
	me, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}
	enter := func(id string) error {
		return d.fits(t.Context(), me, &Member{Cluster: "site", ID: id, Listen: "10.0.0.4:4248"}, &kept{})
	}
	in3 := time.Now().Add(3 * time.Minute).UTC().Format("15:04")
	err = enter("d")
	at3 := time.Now().Add(3*time.Minute + time.Second).UTC().Format("15:04")
	if err == nil || errors.Is(err, errLater) || !strings.Contains(err.Error(), " UTC; join then") ||
		!strings.Contains(err.Error(), "before "+in3) && !strings.Contains(err.Error(), "before "+at3) {
		t.Errorf("three minutes are left: %v, want %s", err, in3)
	}
	if err := enter("e"); !errors.Is(err, errLater) {
		t.Errorf("seconds are left: %v", err)
	}
	if err := enter("f"); err != nil {
		t.Errorf("another name: %v", err)
	}
}

// All that the door wants to know of the members it asks them in one question.
func TestTheDoorAsksTheMembersOnce(t *testing.T) {
	t.Parallel()
	data, _ := founded(t, "a")
	nc := connected(t)
	st := status(true, "a", "b")
	a := &Answers{Conn: nc, Keeper: &keeper{st: st}, Self: Member{ID: "a", Listen: "10.0.0.1:4248"}}
	var asked atomic.Int32
	_, err := nc.Subscribe(whoSubject, func(m *nats.Msg) {
		asked.Add(1)
		text, _ := json.Marshal(self{ID: "b", Address: "10.0.0.2:4248"})
		_ = m.Respond(text)
	})
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	d := &Door{Data: data, Members: func(context.Context) ([]string, error) { return []string{"a", "b"}, nil }, Standing: a.Standing, Logger: slog.New(slog.DiscardHandler)}
	token, err := NewToken(data, "127.0.0.1:1", false, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	r := &joinRequest{Token: token.ID, Secret: token.Secret, Member: Member{Cluster: "site", ID: "c", Listen: "10.0.0.3:4248"}}
	if _, err := d.admit(t.Context(), r); err != nil || asked.Load() != 1 {
		t.Errorf("the members were asked %d times: %v", asked.Load(), err)
	}
}

// Of a machine that has gone the token is kept.
func TestWhoDoesNotWaitForTheAnswerKeepsItsToken(t *testing.T) {
	t.Parallel()
	data, _ := founded(t, "a")
	d := &Door{Data: data, Members: func(context.Context) ([]string, error) { return []string{"a"}, nil }, Logger: slog.New(slog.DiscardHandler)}
	token, err := NewToken(data, "127.0.0.1:1", false, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	r := &joinRequest{Token: token.ID, Secret: token.Secret, Member: Member{Cluster: "site", ID: "c", Listen: "10.0.0.3:4248"}}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := d.admit(gone, r); !errors.Is(err, context.Canceled) {
		t.Errorf("one that has gone: %v", err)
	}
	if _, err := d.admit(t.Context(), r); err != nil {
		t.Errorf("with the same token: %v", err)
	}
}

// One that runs and is no member, or not yet, answers sooner than a member does.
func TestWhoIsNoMemberIsNotTakenForOne(t *testing.T) {
	t.Parallel()
	nc := connected(t)
	respond(t, nc, "stranger", 0)
	respond(t, nc, "b", 100*time.Millisecond)
	st := status(true, "a", "b")
	a := &Answers{Conn: nc, Keeper: &keeper{st: st}, Self: Member{ID: "a", Listen: "10.0.0.1:4248"}, Logger: slog.New(slog.DiscardHandler)}
	r, err := a.Report(t.Context())
	if err != nil || len(r.Members) != 2 || r.Members[1].Address != "b:4248" {
		t.Errorf("%+v, %v", r, err)
	}
}

// respond answers for a server, after a while.
func respond(t *testing.T, nc *nats.Conn, id string, after time.Duration) {
	t.Helper()
	_, err := nc.Subscribe(whoSubject, func(m *nats.Msg) {
		time.AfterFunc(after, func() {
			text, _ := json.Marshal(self{ID: id, Address: id + ":4248"})
			_ = m.Respond(text)
		})
	})
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
}

var _ Keeper = (*bus.Bus)(nil)
