package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// openIn opens bus and journal with options of their own, and closes both.
func openIn(t *testing.T, bo bus.Options, jo Options) (*jetStream, *bus.Bus) {
	t.Helper()
	b, err := bus.Open(t.Context(), bo)
	if err != nil {
		t.Fatalf("open bus: %v", err)
	}
	j, err := OpenJetStream(t.Context(), b, jo)
	if err != nil {
		t.Fatalf("open journal: %v", err)
	}
	t.Cleanup(func() {
		if err := errors.Join(j.Close(context.Background()), b.Close(context.Background())); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return j.(*jetStream), b
}

// T21: retention removed everything about an object; its owner is refused once,
// asks for the last position and goes on.
func TestRetentionEmptiesAnObject(t *testing.T) {
	data := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j, _ := openIn(t, bus.Options{Data: data, Retention: bus.Retention{Log: time.Hour, Results: 10 * time.Minute}}, Options{})
		at := mustPut(t, j, decision("db", 1, 0), 0)
		mustRecord(t, j, measurement("db", 1))
		time.Sleep(30 * time.Minute)
		other := mustPut(t, j, decision("other", 1, 0), 0)
		if all := readAll(t, j, Position{}); len(all) != 2 || all[0].Stream != event.Log || all[1].Seq != other {
			t.Fatalf("%d events left after 30 minutes, want both decisions and no measurement", len(all))
		}
		time.Sleep(45 * time.Minute)
		if _, err := put(t, j, decision("db", 2, at), at); !errors.Is(err, ErrConflict) {
			t.Fatalf("append on a removed position: %v, want ErrConflict", err)
		}
		last, _, err := j.LastOf(t.Context(), "db")
		if err != nil || last != 0 {
			t.Fatalf("last = %d, %v; want 0", last, err)
		}
		next := mustPut(t, j, decision("db", 3, 0), last)
		all := readAll(t, j, Position{})
		if len(all) != 2 || all[1].Seq != next {
			t.Fatalf("%d events, want the other object's and the new one", len(all))
		}
		time.Sleep(3 * time.Hour)
		if all := readAll(t, j, Position{Log: 1}); len(all) != 0 {
			t.Fatalf("%d events after everything expired", len(all))
		}
	})
}

// A follower that waits while retention removes what it has not read goes on
// behind it.
func TestFollowerOutlivesSilence(t *testing.T) {
	data := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j, _ := openIn(t, bus.Options{Data: data}, Options{})
		ctx, cancel := context.WithCancel(t.Context())
		events, ended := make(chan event.Event, 10), make(chan error, 1)
		go func() {
			ended <- j.Follow(ctx, Position{}, func(es []event.Event) error {
				for _, e := range es {
					events <- e
				}
				return nil
			}, nil)
		}()
		time.Sleep(time.Hour)
		at := mustPut(t, j, decision("db", 1, 0), 0)
		if e := <-events; e.Seq != at {
			t.Errorf("got %d after an hour of silence, want %d", e.Seq, at)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// What cannot be decoded delivers nothing, is counted, and stops nobody; live
// and in replay.
func TestUndecodableIsPassedOver(t *testing.T) {
	t.Parallel()
	var lines lockedBuffer
	reg := prometheus.NewRegistry()
	j, b := openIn(t, bus.Options{Data: t.TempDir()}, Options{Registerer: reg, Logger: slog.New(slog.NewTextHandler(&lines, nil))})
	first := mustPut(t, j, decision("db", 1, 0), 0)
	for _, text := range []string{"no json", ""} {
		if _, err := b.JetStream().Publish(t.Context(), "jaque.log.db", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	last := mustPut(t, j, decision("db", 2, first), first+2)
	all := readAll(t, j, Position{})
	if len(all) != 2 || all[0].Seq != first || all[1].Seq != last {
		t.Errorf("%d events, want those around the two bad ones", len(all))
	}
	if got, err := j.History(t.Context(), Query{Object: "db"}); err != nil || len(got) != 2 {
		t.Errorf("history = %d events, %v", len(got), err)
	}
	if !strings.Contains(lines.String(), "passed over") || !strings.Contains(lines.String(), "seq=2") {
		t.Errorf("log:\n%s", lines.String())
	}
	if n := gathered(t, reg, "jaque_journal_skipped_events_total"); n != 2 {
		t.Errorf("skipped = %v, want 2", n)
	}
}

// gathered sums a metric over its labels.
func gathered(t *testing.T, reg *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return sum
}

// Positions never disappear for a follower: neither when its consumer is taken
// away nor when the server goes away and comes back.
func TestFollowerSurvivesResetsAndReconnects(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s, url := externalServer(t, data, -1)
	j, b := openIn(t, bus.Options{URL: url}, Options{Timeout: 2 * time.Second})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seqs, ended := make(chan uint64, 1000), make(chan error, 1)
	go func() {
		ended <- j.Follow(ctx, Position{}, func(es []event.Event) error {
			for _, e := range es {
				seqs <- e.Seq
			}
			return nil
		}, nil)
	}()
	want, at := uint64(1), uint64(0)
	step := func() {
		t.Helper()
		deadline := time.Now().Add(40 * time.Second)
		for {
			seq, err := put(t, j, decision("db", int(want), at), at)
			if err == nil {
				at = seq
				break
			}
			if !errors.Is(err, ErrUnknown) || time.Now().After(deadline) {
				t.Fatalf("append %d: %v", want, err)
			}
			time.Sleep(50 * time.Millisecond) // polling with a deadline: a real socket
		}
		if got := <-seqs; got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
		want++
	}
	step()
	stream, err := b.JetStream().Stream(t.Context(), "JAQUE_LOG")
	if err != nil {
		t.Fatal(err)
	}
	for name := range stream.ConsumerNames(t.Context()).Name() {
		if err := stream.DeleteConsumer(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	step()
	port := s.Addr().(*net.TCPAddr).Port
	s.Shutdown()
	s.WaitForShutdown()
	externalServer(t, data, port)
	step()
	step()
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("follow ended with %v", err)
	}
}

func externalServer(t *testing.T, data string, port int) (*server.Server, string) {
	t.Helper()
	s, err := server.NewServer(&server.Options{ServerName: "ext", Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: data, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s, s.ClientURL()
}

// A hole in the log that nobody accepted ends the follower with an error that
// says what to do.
func TestHoleEndsTheFollower(t *testing.T) {
	t.Parallel()
	j, _ := openIn(t, bus.Options{Data: t.TempDir()}, Options{})
	at := uint64(0)
	for n := range 5 {
		at = mustPut(t, j, decision("db", n, at), at)
	}
	tail := newTail(j, event.Log, 1, newInbox(Position{}))
	if err := tail.gap(2, 4); err == nil || !strings.Contains(err.Error(), "positions 2 to 3 cannot be read") {
		t.Errorf("gap = %v", err)
	}
	tail = newTail(j, event.Results, 1, newInbox(Position{}))
	if err := tail.gap(2, 4); err != nil {
		t.Errorf("a hole among measurements ends the follower: %v", err)
	}
}

func TestSnapshotThatCannotBeReadIsPassedOver(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	var lines lockedBuffer
	j, b := openIn(t, bus.Options{Data: data}, Options{Timeout: 2 * time.Second, Logger: slog.New(slog.NewTextHandler(&lines, nil))})
	at := uint64(0)
	for n := range 5 {
		at = mustPut(t, j, decision("db", n, at), at)
		mustRecord(t, j, measurement("db", n))
		state := bytes.Repeat([]byte{byte(n)}, 300_000) // several chunks
		if err := j.SaveSnapshot(t.Context(), Position{Log: at, Results: at}, state); err != nil {
			t.Fatal(err)
		}
	}
	all, err := j.snapshots(t.Context())
	if err != nil || len(all) != snapshotsKept {
		t.Fatalf("%d snapshots, %v; want %d", len(all), err, snapshotsKept)
	}
	// Take one chunk out of the newest, as damage does.
	stream, err := b.JetStream().Stream(t.Context(), "OBJ_JAQUE_SNAPSHOTS")
	if err != nil {
		t.Fatal(err)
	}
	chunk, err := stream.GetLastMsgForSubject(t.Context(), "$O.JAQUE_SNAPSHOTS.C."+all[0].NUID)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.DeleteMsg(t.Context(), chunk.Sequence); err != nil {
		t.Fatal(err)
	}
	pos, state, err := j.LoadSnapshot(t.Context())
	if err != nil || pos.Log != at-1 || len(state) != 300_000 || state[0] != 3 {
		t.Fatalf("load = %+v, %d bytes, %v; want the one before", pos, len(state), err)
	}
	if !strings.Contains(lines.String(), "an older one is tried") {
		t.Errorf("log:\n%s", lines.String())
	}
}

func TestOpenedIsTheEndOfTheProcessBefore(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	fill(t, data, 7)
	j, _ := openIn(t, bus.Options{Data: data}, Options{})
	mustRecord(t, j, measurement("db", 8))
	if at := j.Opened(); at != (Position{Log: 7, Results: 7}) {
		t.Errorf("opened at %+v, want 7 and 7", at)
	}
}

// A snapshot from behind the end of the streams is removed or corrected before
// other events take those positions.
func TestSnapshotBehindTheEnd(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	j, b := openIn(t, bus.Options{Data: data}, Options{})
	at := mustPut(t, j, decision("db", 1, 0), 0)
	for _, p := range []Position{{Log: at, Results: 77}, {Log: 99}} {
		if err := j.SaveSnapshot(t.Context(), p, []byte("state")); err != nil {
			t.Fatal(err)
		}
	}
	again, err := OpenJetStream(t.Context(), b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close(context.Background())
	pos, _, err := again.LoadSnapshot(t.Context())
	if err != nil || pos != (Position{Log: at}) {
		t.Errorf("load = %+v, %v; want the first one, with measurements from their end", pos, err)
	}
}

func TestRefusedBatchIsSplit(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	j, _ := openIn(t, bus.Options{Data: t.TempDir()}, Options{Registerer: reg})
	mustPut(t, j, decision("h7", 1, 0), 0)
	type outcome struct {
		id  string
		err error
	}
	got := make(chan outcome, 200)
	for o := range 200 {
		e := decision(object.HostID(fmt.Sprintf("h%d", o)), 2, 0)
		j.Append(e, 0, func(_ uint64, err error) { got <- outcome{e.ID, err} })
	}
	for range 200 {
		o := <-got
		if (o.id == "h7-2") != errors.Is(o.err, ErrConflict) || o.id != "h7-2" && o.err != nil {
			t.Errorf("%s: %v", o.id, o.err)
		}
	}
	if all := readAll(t, j, Position{}); len(all) != 200 {
		t.Errorf("%d events, want 200", len(all))
	}
}

func TestParseAnswer(t *testing.T) {
	cases := []struct {
		name, data string
		seq, count uint64
		is         error
	}{
		{"an acknowledgement", `{"stream":"JAQUE_LOG", "seq":12}`, 12, 1, nil},
		{"of a batch", `{"stream":"L","seq":12,"batch":"x","count":5}`, 12, 5, nil},
		{"of a duplicate", `{"stream":"L","seq":3,"duplicate": true}`, 3, 1, nil},
		{"of a duplicate, said first", `{"stream":"L","duplicate":true,"seq":3}`, 3, 1, nil},
		{"another last position", `{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 5"},"stream":"L","seq":0}`, 0, 0, ErrConflict},
		{"another append is in process", `{"error":{"code":400,"err_code":10164,"description":"wrong last sequence"},"seq":0}`, 0, 0, ErrConflict},
		{"the server failed", `{"error":{"code":503,"err_code":10077,"description":"x"},"seq":0}`, 0, 0, ErrUnknown},
		{"no answer", ``, 0, 0, ErrUnknown},
		{"garbage", `seq:`, 0, 0, ErrUnknown},
	}
	for _, c := range cases {
		a := parseAnswer(&nats.Msg{Data: []byte(c.data)})
		if a.seq != c.seq || a.count != c.count && c.is == nil || !errors.Is(a.err, c.is) || a.twice != strings.Contains(c.name, "duplicate") {
			t.Errorf("%s: %+v", c.name, a)
		}
	}
}

func TestDeliveredAs(t *testing.T) {
	cases := []struct {
		reply      string
		seq, count uint64
		ok         bool
	}{
		{"$JS.ACK.JAQUE_LOG.c.1.42.7.1700000000.3", 42, 7, true},
		{"$JS.ACK.hub.acc.JAQUE_LOG.c.1.42.7.1700000000.3", 42, 7, true},
		{"$JS.ACK.hub.acc.JAQUE_LOG.c.1.42.7.1700000000.3.rnd", 42, 7, true},
		{"$JS.ACK.JAQUE_LOG.c.1.x.7.1700000000.3", 0, 7, false},
		{"_INBOX.x", 0, 0, false},
		{"", 0, 0, false},
	}
	for _, c := range cases {
		if seq, count, ok := deliveredAs(c.reply); seq != c.seq || count != c.count || ok != c.ok {
			t.Errorf("%q = %d, %d, %v", c.reply, seq, count, ok)
		}
	}
}

// A log that retention emptied is not mistaken for one that lost its data.
func TestRestartAfterRetentionEmptiedTheLog(t *testing.T) {
	data := t.TempDir()
	for round := range 3 {
		synctest.Test(t, func(t *testing.T) {
			// Every bubble begins at the same instant: the later rounds sleep longer.
			time.Sleep(time.Duration(round) * 5 * time.Hour)
			j, b := openIn(t, bus.Options{Data: data, Retention: bus.Retention{Log: time.Hour}}, Options{})
			last := uint64(0)
			for n := range 20 {
				last = mustPut(t, j, decision(object.HostID(fmt.Sprintf("h%d", n)), round, 0), 0)
			}
			if want := uint64(20 * (round + 1)); last != want {
				t.Errorf("round %d ends at %d, want %d: positions go on", round, last, want)
			}
			if round == 1 {
				time.Sleep(2 * time.Hour) // empty at the stop; in the other rounds it gets empty while stopped
			}
			if err := errors.Join(j.Close(t.Context()), b.Close(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
}

// When the bus ends by itself, nobody waits for the time-out.
func TestFailedBusAnswersEverybody(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	j, b := openIn(t, bus.Options{Data: data}, Options{Timeout: time.Hour})
	got := make(chan error, 1)
	if _, err := b.Conn().Subscribe("silent", func(*nats.Msg) {}); err != nil {
		t.Fatal(err)
	}
	j.pub.send(&nats.Msg{Subject: "silent"}, func(a answer) { got <- a.err })
	b.Conn().Close()
	if err := <-got; !errors.Is(err, ErrUnknown) {
		t.Errorf("what waited got %v, want ErrUnknown", err)
	}
	if _, err := put(t, j, decision("db", 1, 0), 0); !errors.Is(err, ErrUnknown) && !errors.Is(err, ErrClosed) {
		t.Errorf("an append afterwards got %v, want an error at once", err)
	}
}

// Without a server nothing is promised: the outcome is unknown, within the
// time-out, and measurements stop to be taken when too many wait.
func TestServerGone(t *testing.T) {
	t.Parallel()
	s, url := externalServer(t, t.TempDir(), -1)
	j, _ := openIn(t, bus.Options{URL: url}, Options{Timeout: time.Second, MaxInFlight: 3})
	at := mustPut(t, j, decision("db", 1, 0), 0)
	s.Shutdown()
	s.WaitForShutdown()
	if _, err := put(t, j, decision("db", 2, at), at); !errors.Is(err, ErrUnknown) {
		t.Errorf("append without a server: %v, want ErrUnknown", err)
	}
	for o := range 20 { // a group
		e := decision(object.HostID(fmt.Sprintf("h%d", o)), 1, 0)
		if _, err := put(t, j, e, 0); !errors.Is(err, ErrUnknown) {
			t.Errorf("append of %s: %v, want ErrUnknown", e.Object, err)
		}
	}
	got := make(chan error, 1)
	if err := j.Record(t.Context(), measurement("db", 1), func(_ uint64, err error) { got <- err }); err != nil {
		t.Fatal(err)
	}
	if err := <-got; !errors.Is(err, ErrUnknown) {
		t.Errorf("record without a server: %v, want ErrUnknown", err)
	}
}

func TestRecordWaitsForRoom(t *testing.T) {
	t.Parallel()
	j, _ := openIn(t, bus.Options{Data: t.TempDir()}, Options{MaxInFlight: 2})
	j.room <- struct{}{}
	j.room <- struct{}{}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := j.Record(ctx, measurement("db", 1), nil)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "2 measurements wait") {
		t.Errorf("record without room: %v", err)
	}
	<-j.room
	<-j.room
	mustRecord(t, j, measurement("db", 1))
}

func TestZoneIsAToken(t *testing.T) {
	t.Parallel()
	j, b := openIn(t, bus.Options{Data: t.TempDir()}, Options{Zone: func(object.ID) string { return "dmz.1" }})
	mustRecord(t, j, measurement("db!http x", 1))
	s, err := b.JetStream().Stream(t.Context(), "JAQUE_RESULTS")
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.GetMsg(t.Context(), 1)
	if err != nil || m.Subject != "jaque.result.dmz%2E1."+object.ID("db!http x").Token() {
		t.Errorf("subject = %v, %v", m, err)
	}
	got, err := j.History(t.Context(), Query{Object: "db!http x", Results: true})
	if err != nil || len(got) != 1 {
		t.Errorf("history = %d events, %v", len(got), err)
	}
}
