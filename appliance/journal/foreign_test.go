package journal

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// inject has the server store what is no event on the subject of an object: an event
// out of a bucket, an answer of its API, and a message that claims to be a status.
// It returns the position of the last of them.
func inject(t *testing.T, b *bus.Bus, root, token string) uint64 {
	t.Helper()
	nc, n := b.Conn(), b.Names()
	kept := "$KV." + n.State + ".sink.x"
	forged := event.AppendJSON(nil, decision("web01!http", 9, 0))
	if _, err := b.JetStream().Publish(t.Context(), kept, forged); err != nil {
		t.Fatal(err)
	}
	subject := root + "." + token
	for to, data := range map[string]string{
		"$JS.API.DIRECT.GET.KV_" + n.State:  `{"last_by_subj":"` + kept + `"}`,
		"$JS.API.STREAM.INFO.KV_" + n.State: ``,
	} {
		if err := nc.PublishRequest(to, subject, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	stream := n.Log
	if root == n.ResultRoot {
		stream = n.Results
	}
	stored := func() (uint64, uint64) {
		s, err := b.JetStream().Stream(t.Context(), stream)
		if err != nil {
			t.Fatal(err)
		}
		return s.CachedInfo().State.Msgs, s.CachedInfo().State.LastSeq
	}
	before, _ := stored()
	for end := time.Now().Add(10 * time.Second); before < 3 && time.Now().Before(end); before, _ = stored() {
	}
	m := &nats.Msg{Subject: subject, Header: nats.Header{"Status": {"204"}, "Nats-Sequence": {"1"}, "Nats-Num-Pending": {"0"}}}
	if _, err := b.JetStream().PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	msgs, last := stored()
	if msgs != 4 {
		t.Fatalf("%s holds %d messages, want an event and 3 that are none", stream, msgs)
	}
	return last
}

// wantEvents wants exactly these positions of the log to be events, live or from disk.
func wantEvents(t *testing.T, j *jetStream, when string, log ...uint64) {
	t.Helper()
	var got []uint64
	results := 0
	for _, e := range readAll(t, j, Position{}) {
		if e.Stream == event.Log {
			got = append(got, e.Seq)
		} else {
			results++
		}
	}
	if len(got) != len(log) || got[len(got)-1] != log[len(log)-1] || results != 1 {
		t.Errorf("%s: events at %v of the log and %d measurements, want %v and 1", when, got, results, log)
	}
	for _, q := range []Query{{Object: "web01!http", Results: true}, {Results: true}, {}} {
		all, err := j.History(t.Context(), q)
		want := len(log)
		if err != nil || len(all) != want {
			t.Errorf("%s: history %+v has %d events, want %d: %v", when, q, len(all), want, err)
		}
	}
}

// What the server stores of its own answers is no event, whoever has asked for it, and
// the object on whose subject it stands goes on.
func TestWhatTheServerDeliversFromItsStoreIsNoEvent(t *testing.T) {
	data, logged := t.TempDir(), &bytes.Buffer{}
	j, b := openIn(t, bus.Options{Data: data}, Options{Logger: slog.New(slog.NewTextHandler(logged, nil))})
	first := mustPut(t, j, decision("web01!http", 1, 0), 0)
	mustRecord(t, j, measurement("web01!http", 1))
	token := object.ID("web01!http").Token()
	foreign := inject(t, b, j.names.LogRoot, token)
	inject(t, b, j.names.ResultRoot, "default."+token)
	if _, err := put(t, j, decision("web01!http", 2, first), first); !errors.Is(err, ErrConflict) {
		t.Errorf("an append on the last event: %v, want ErrConflict", err)
	}
	last, compared, err := j.LastOf(t.Context(), "web01!http")
	if err != nil || last != first || compared != foreign {
		t.Errorf("last decision at %d, compared with %d, %v; want %d and %d", last, compared, err, first, foreign)
	}
	if last, compared, err := j.LastOf(t.Context(), "web02"); err != nil || last != 0 || compared != 0 {
		t.Errorf("of an object without any: %d, %d, %v", last, compared, err)
	}
	second := mustPut(t, j, decision("web01!http", 2, first), compared)
	wantEvents(t, j, "while it runs", first, second)
	if n := testutil.ToFloat64(j.metrics.skipped.WithLabelValues("log", "foreign")); n < 2 {
		t.Errorf("%v foreign messages of the log were counted, want 2", n)
	}
	// Through a consumer alone, as with a log on another server.
	box := newInbox(Position{})
	tail := newTail(j, event.Log, 0, box)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- tail.run(ctx, 0) }()
	for upTo := uint64(0); upTo < second; {
		<-box.more
		_, all, err := box.take(nil)
		if upTo = all[event.Log]; err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if n := strings.Count(logged.String(), "an event cannot be read"); n > 4 {
		t.Errorf("%d lines tell of it, want one of each stream and reason:\n%s", n, logged)
	}
}
