package bus

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
)

func open(t *testing.T, o Options) *Bus {
	t.Helper()
	b, err := Open(t.Context(), o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	return b
}

func TestOpenDeclaresEverythingAndKeepsItOverARestart(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "new", "folder")
	b := open(t, Options{Data: data, Retention: Retention{Log: 24 * time.Hour}, free: room(100 << 30)})
	if _, err := b.JetStream().Publish(t.Context(), "jaque.log.web01", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if !b.Embedded() || b.Conn().IsClosed() {
		t.Error("the bus is not an open embedded one")
	}
	if err := b.Close(t.Context()); err != nil {
		t.Fatalf("close: %v", err)
	}
	if err := b.Close(t.Context()); err != nil {
		t.Fatalf("second close: %v", err)
	}

	var lines strings.Builder
	b = open(t, Options{Data: data, Logger: slog.New(slog.NewTextHandler(&lines, nil))})
	got := map[string]jetstream.StreamConfig{}
	for _, s := range stores(b.Names(), b.opts.Retention) {
		info, err := streamInfo(t.Context(), b.JetStream(), s.stream)
		if err != nil {
			t.Fatal(err)
		}
		got[s.stream] = info.Config
		if s.stream == "JAQUE_LOG" && info.State.LastSeq != 1 {
			t.Errorf("the log ends at %d after a restart, want 1", info.State.LastSeq)
		}
	}
	if c := got["JAQUE_LOG"]; c.MaxAge != DefaultLogAge || c.Subjects[0] != "jaque.log.>" || !c.AllowAtomicPublish || !c.AllowDirect {
		t.Errorf("log = %+v", c)
	}
	if c := got["JAQUE_RESULTS"]; c.PersistMode != jetstream.AsyncPersistMode || c.MaxAge != DefaultResultsAge || c.MaxBytes != DefaultResultsBytes {
		t.Errorf("results = %+v", c)
	}
	if c := got["KV_JAQUE_MEMBERS"]; c.AllowRollup || !c.AllowMsgTTL || c.MaxMsgsPerSubject != 1 {
		t.Errorf("members = %+v", c)
	}
	if !strings.Contains(lines.String(), "retention changed") {
		t.Errorf("a changed retention was not logged:\n%s", lines.String())
	}
}

func TestPrefixKeepsInstallationsApart(t *testing.T) {
	t.Parallel()
	n := NamesFor("site1")
	if n.Log != "site1_JAQUE_LOG" || n.LogRoot != "site1.jaque.log" || n.ResultRoot != "site1.jaque.result" {
		t.Errorf("names = %+v", n)
	}
	b := open(t, Options{Data: t.TempDir(), Prefix: "site1"})
	if _, err := streamInfo(t.Context(), b.JetStream(), "site1_JAQUE_LOG"); err != nil {
		t.Error(err)
	}
}

func TestOpenSaysWhatToDo(t *testing.T) {
	t.Parallel()
	used := t.TempDir()
	open(t, Options{Data: used})
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	blocked := t.TempDir()
	if err := os.WriteFile(filepath.Join(blocked, storeFolder), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name string
		o    Options
		want []string
	}{
		{"a folder in use", Options{Data: used}, []string{used, "in use by another process", "choose another folder with -data"}},
		{"a file instead of a folder", Options{Data: filepath.Join(file, "data")}, []string{file, "choose a folder"}},
		{"a store folder that is a file", Options{Data: blocked}, []string{blocked, "choose a folder"}},
		{"no folder", Options{}, []string{"-data"}},
		{"a bad prefix", Options{Data: t.TempDir(), Prefix: "A.b"}, []string{`"A.b"`, "lower-case letters"}},
		{"not an address", Options{URL: "http://u:geheim@host"}, []string{"write nats://host:4222", "(secret)@host"}},
		{"nobody listens", Options{URL: "nats://u:geheim@127.0.0.1:1"}, []string{"(secret)@127.0.0.1:1", "is it running"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b, err := Open(t.Context(), c.o)
			if err == nil {
				_ = b.Close(t.Context())
				t.Fatal("it opened")
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error %q does not say %q", err, w)
				}
			}
			if strings.Contains(err.Error(), "geheim") {
				t.Errorf("error %q shows the password", err)
			}
		})
	}
}

func TestRunEndsInOrderOrWithTheFailure(t *testing.T) {
	t.Parallel()
	b := open(t, Options{Data: t.TempDir()})
	ctx, cancel := context.WithCancel(t.Context())
	if err := b.Run(ctx, cancel); err != nil {
		t.Fatalf("run ended with %v when asked to end", err)
	}
	b = open(t, Options{Data: t.TempDir()})
	err := b.Run(t.Context(), func() { b.embed.log.Fatalf("disk %s", "gone") })
	if err == nil || !strings.Contains(err.Error(), "log server failed: disk gone") {
		t.Fatalf("run = %v, want what the server said last", err)
	}
	if b.Err() == nil {
		t.Error("Err is nil after a failure")
	}
}

func TestServerEndingByItselfFailsTheBus(t *testing.T) {
	t.Parallel()
	b := open(t, Options{Data: t.TempDir()})
	b.Conn().Close()
	select {
	case <-b.Failed():
	case <-t.Context().Done():
	}
	if b.Err() == nil {
		t.Error("the bus lives on without its connection")
	}
}

func TestTwoBusesInOneProcess(t *testing.T) {
	t.Parallel()
	a, b := open(t, Options{Data: t.TempDir()}), open(t, Options{Data: t.TempDir()})
	if _, err := a.JetStream().Publish(t.Context(), "jaque.log.x", []byte("x")); err != nil {
		t.Fatal(err)
	}
	info, err := streamInfo(t.Context(), b.JetStream(), "JAQUE_LOG")
	if err != nil || info.State.Msgs != 0 {
		t.Errorf("the other bus has %+v, %v", info, err)
	}
}

// external starts a server of its own on a free port.
func external(t *testing.T, data string, port int) (*server.Server, string) {
	t.Helper()
	s, err := server.NewServer(&server.Options{ServerName: "ext", Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: data, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s, s.ClientURL()
}

func TestExternalServerComesBack(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s, url := external(t, data, -1)
	reg := prometheus.NewRegistry()
	b := open(t, Options{URL: url, Registerer: reg})
	if b.Embedded() || b.Blocks("JAQUE_LOG") != nil {
		t.Error("an external server is taken for the embedded one")
	}
	b.Stored(7) // means nothing here
	port := s.Addr().(*net.TCPAddr).Port
	s.Shutdown()
	s.WaitForShutdown()
	external(t, data, port)
	deadline := time.Now().Add(20 * time.Second)
	for b.Conn().Stats().Reconnects == 0 {
		if time.Now().After(deadline) {
			t.Fatal("the connection did not come back")
		}
		time.Sleep(20 * time.Millisecond) // polling with a deadline: a real socket
	}
	if _, err := b.JetStream().Publish(t.Context(), "jaque.log.x", []byte("x")); err != nil {
		t.Errorf("publish after the reconnect: %v", err)
	}
	if b.Err() != nil {
		t.Errorf("the bus failed: %v", b.Err())
	}
}

func TestReconnectDelayGrowsAndEnds(t *testing.T) {
	for _, c := range []struct {
		heartbeat     time.Duration
		longest, dial time.Duration
	}{
		{0, reconnectLongest, dialTimeout},
		{time.Second, 100 * time.Millisecond, 2 * time.Second},
		{10 * time.Second, 500 * time.Millisecond, 2500 * time.Millisecond},
		{20 * time.Second, time.Second, 5 * time.Second},
		{time.Hour, time.Second, dialTimeout},
	} {
		o := Options{Heartbeat: c.heartbeat}
		if o.again() != c.longest || o.dialMost() != c.dial {
			t.Errorf("with a heartbeat of %s the longest pause is %s and a try ends after %s, want %s and %s", c.heartbeat, o.again(), o.dialMost(), c.longest, c.dial)
		}
		for attempts, most := range map[int]time.Duration{
			1: 100 * time.Millisecond, 2: 200 * time.Millisecond, 3: 400 * time.Millisecond, 5: 1600 * time.Millisecond, 9: time.Hour, 1000: time.Hour,
		} {
			most = min(most, c.longest)
			seen := map[time.Duration]bool{}
			for range 20 {
				d := reconnectDelay(attempts, o.again())
				if d < most/2 || d > most {
					t.Errorf("heartbeat %s: pause %d is %s, want %s to %s", c.heartbeat, attempts, d, most/2, most)
				}
				seen[d] = true
			}
			if len(seen) < 2 {
				t.Errorf("pause %d is the same for everybody", attempts)
			}
		}
	}
}

func TestAckLine(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), ackFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := readAck(f); got != 0 {
		t.Errorf("an empty file says %d", got)
	}
	for _, seq := range []uint64{1, 99, 1 << 62, 12} {
		if _, err := f.WriteAt(ackLine(seq), 0); err != nil {
			t.Fatal(err)
		}
		if got := readAck(f); got != seq {
			t.Errorf("got %d, want %d", got, seq)
		}
	}
	if _, err := f.WriteAt([]byte("7"), 5); err != nil {
		t.Fatal(err)
	}
	if got := readAck(f); got != 0 {
		t.Errorf("a torn file says %d, want 0", got)
	}
}

func TestDaysOfTheLog(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	m := &marks{}
	for h := range 24 * 10 {
		at := start.Add(time.Duration(h) * time.Hour)
		m.addDay(uint64(h+1), at, at.Add(-4*24*time.Hour))
	}
	if len(m.Days) != 4 || m.Days[0].Seq != 24*6+1 {
		t.Errorf("days = %v, want the last four, one a day", m.Days)
	}
}

func TestFrontLossIsToldFromRetention(t *testing.T) {
	now := time.Now()
	g := &guard{names: NamesFor(""), data: "d", known: &marks{Days: []dayMark{{10, now.Add(-50 * time.Hour)}, {20, now.Add(-26 * time.Hour)}}}}
	cases := []struct {
		name   string
		maxAge time.Duration
		first  uint64
		loss   bool
	}{
		{"nothing removed", 100 * time.Hour, 1, false},
		{"a young event is gone", 100 * time.Hour, 15, true},
		{"retention removed the first day", 48 * time.Hour, 15, false},
		{"more than the first day is gone", 48 * time.Hour, 25, true},
		{"retention removed all", time.Hour, 99, false},
		{"kept for ever", 0, 11, true},
	}
	for _, c := range cases {
		if err := g.checkFront(c.maxAge, c.first); errors.Is(err, ErrLoss) != c.loss {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestMarksRefuseWhatTheyDidNotWrite(t *testing.T) {
	data := t.TempDir()
	m := &marks{Streams: map[string]streamMark{"JAQUE_LOG": {Last: 12}}, Gaps: 3}
	if err := m.write(data); err != nil {
		t.Fatal(err)
	}
	got, err := readMarks(data)
	if err != nil || got.Streams["JAQUE_LOG"].Last != 12 || got.Gaps != 3 {
		t.Fatalf("marks = %+v, %v", got, err)
	}
	path := filepath.Join(data, marksFile)
	buf, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(buf), "12", "13", 1)
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readMarks(data); err == nil || !strings.Contains(err.Error(), "accept the loss") {
		t.Errorf("changed marks: %v", err)
	}
}
