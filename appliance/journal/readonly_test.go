package journal

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/event"
)

// A process that only reads leaves a snapshot alone that an engine would remove, and
// its connection needs no right to write an event.
func TestReadOnlyJournalsReadAndNeverWrite(t *testing.T) {
	s, url := externalServer(t, t.TempDir(), server.RANDOM_PORT)
	defer s.WaitForShutdown()
	defer s.Shutdown()
	writer, _ := openIn(t, bus.Options{URL: url}, Options{})
	at := mustPut(t, writer, decision("db", 1, 0), 0)
	good := Position{Log: at}
	for _, p := range []Position{good, {Log: at + 100}} { // the second one is of a log that was lost
		if err := writer.SaveSnapshot(t.Context(), p, []byte("state")); err != nil {
			t.Fatal(err)
		}
	}
	b, err := bus.Open(t.Context(), bus.Options{URL: url, Attach: true, Inbox: "_INBOX.ui.x"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close(context.Background()) }()
	j, err := OpenJetStream(t.Context(), b, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close(context.Background()) }()
	if got, data, err := j.LoadSnapshot(t.Context()); err != nil || got != good || string(data) != "state" {
		t.Errorf("the snapshot is at %+v (%v), want %+v: what is newer than the log is of no use", got, err, good)
	}
	if all, err := writer.snapshots(t.Context()); err != nil || len(all) != 2 {
		t.Errorf("%d snapshots are left (%v), want both", len(all), err)
	}
	if all := readAll(t, j, Position{}); len(all) != 1 || all[0].Seq != at {
		t.Errorf("%d events are read, want the one at %d", len(all), at)
	}
	if _, err := put(t, j, decision("db", 2, at), at); !errors.Is(err, ErrReadOnly) {
		t.Errorf("an append: %v, want ErrReadOnly", err)
	}
	if err := j.Record(t.Context(), measurement("db", 1), nil); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a measurement: %v, want ErrReadOnly", err)
	}
	if err := j.SaveSnapshot(t.Context(), good, nil); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a snapshot: %v, want ErrReadOnly", err)
	}
	if end, err := writer.End(t.Context()); err != nil || end.Log != at {
		t.Errorf("the log ends at %d (%v), want %d", end.Log, err, at)
	}
}

func TestAFollowerOfALogThatIsGoneSaysSo(t *testing.T) {
	s, url := externalServer(t, t.TempDir(), server.RANDOM_PORT)
	defer s.WaitForShutdown()
	defer s.Shutdown()
	j, b := openIn(t, bus.Options{URL: url}, Options{})
	mustPut(t, j, decision("db", 1, 0), 0)
	if err := b.JetStream().DeleteStream(t.Context(), b.Names().Log); err != nil {
		t.Fatal(err)
	}
	err := j.Follow(t.Context(), Position{}, func([]event.Event) error { return nil }, func() {})
	if err == nil || !strings.Contains(err.Error(), "it was removed or replaced; start again") {
		t.Errorf("got %v", err)
	}
}
