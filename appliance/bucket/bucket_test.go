package bucket

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// world is a server with one bucket and a log beside it.
type world struct {
	nc *nats.Conn
	js jetstream.JetStream
	*Bucket
}

// connect starts a server and connects to it.
func connect(t *testing.T, o *server.Options) *nats.Conn {
	t.Helper()
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server is not ready")
	}
	nc, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

func open(t *testing.T, history int64) *world {
	t.Helper()
	nc := connect(t, &server.Options{DontListen: true, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true})
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []jetstream.StreamConfig{
		{Name: "KV_B", Subjects: []string{"$KV.B.>"}, MaxMsgsPerSubject: history, AllowMsgTTL: true, AllowDirect: true},
		{Name: "LOG", Subjects: []string{"log.>"}, AllowDirect: true, AllowAtomicPublish: true},
	} {
		if _, err := js.CreateStream(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	b, err := New(nc, "B")
	if err != nil {
		t.Fatal(err)
	}
	return &world{nc, js, b}
}

// last waits until the key has another revision.
func (w *world) last(t *testing.T, key string, after uint64) Entry {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if e, err := w.Get(t.Context(), key); err != nil {
			t.Fatal(err)
		} else if e.Revision > after {
			return e
		}
	}
	t.Fatal("nothing was stored")
	return Entry{}
}

func TestAKeyIsWrittenReadAndRemoved(t *testing.T) {
	w := open(t, 1)
	if e, err := w.Get(t.Context(), "a"); err != nil || !e.Gone || e.Foreign || e.Revision != 0 {
		t.Errorf("a key that was never written: %+v, %v", e, err)
	}
	first, err := w.Put(t.Context(), "a", []byte("1"), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if e, err := w.Get(t.Context(), "a"); err != nil || string(e.Value) != "1" || e.Gone || e.Foreign || e.Revision != first || time.Since(e.Time) > time.Minute {
		t.Errorf("a key that stays: %+v, %v", e, err)
	}
	if _, err := w.Put(t.Context(), "a", []byte("2"), 0, time.Minute); !errors.Is(err, ErrConflict) {
		t.Errorf("a write at another revision: %v", err)
	}
	if first, err = w.Put(t.Context(), "a", []byte("2"), first, time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := w.Remove(t.Context(), "a", first); err != nil {
		t.Fatal(err)
	}
	if e, err := w.Get(t.Context(), "a"); err != nil || !e.Gone || e.Foreign || e.Revision <= first {
		t.Errorf("a key that was removed: %+v, %v", e, err)
	}
}

// No way by which a server stores something under a key makes an entry that counts.
func TestNothingButAWriteCounts(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for name, do := range map[string]func(t *testing.T, w *world, key string){
		"an answer without a text": func(t *testing.T, w *world, key string) {
			must(t, w.nc.PublishRequest("$JS.API.DIRECT.GET.LOG", key, []byte(`{"seq":99}`)))
		},
		"an answer of the interface": func(t *testing.T, w *world, key string) {
			must(t, w.nc.PublishRequest("$JS.API.STREAM.INFO.LOG", key, nil))
		},
		"an acknowledgement": func(t *testing.T, w *world, key string) { must(t, w.nc.PublishRequest("log.x", key, []byte(long))) },
		"a message got from the log": func(t *testing.T, w *world, key string) {
			w.appended(t)
			must(t, w.nc.PublishRequest("$JS.API.DIRECT.GET.LOG", key, []byte(`{"last_by_subj":"log.web"}`)))
		},
		"an event as the log keeps it": func(t *testing.T, w *world, key string) {
			must(t, w.nc.PublishMsg(&nats.Msg{Subject: key, Data: []byte("{}"), Header: nats.Header{expectHeader: {"0"}, "Nats-Msg-Id": {"i"}}}))
		},
		"an entry of the bucket, got to another key": func(t *testing.T, w *world, key string) {
			_, err := w.Put(t.Context(), "other", []byte("1"), 0, 0)
			must(t, err)
			must(t, w.nc.PublishRequest("$JS.API.DIRECT.GET.KV_B", key, []byte(`{"last_by_subj":"$KV.B.other"}`)))
		},
		"a write of the client's own": func(t *testing.T, w *world, key string) { must(t, w.nc.Publish(key, []byte("x"))) },
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, 16)
			do(t, w, w.Subject("k"))
			e := w.last(t, "k", 0)
			if !e.Foreign {
				t.Errorf("it counts: %q", e.Value)
			}
			if _, err := w.Put(t.Context(), "k", []byte("mine"), e.Revision, time.Minute); err != nil {
				t.Errorf("it cannot be written over: %v", err)
			}
		})
	}
}

// appended puts a message on the log as a decision is, compared with nothing before it.
func (w *world) appended(t *testing.T) {
	t.Helper()
	m := &nats.Msg{Subject: "log.web", Data: []byte("{}"), Header: nats.Header{expectHeader: {"0"}, "Nats-Msg-Id": {"i"}}}
	if _, err := w.js.PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	// Nobody who writes there can give it what an entry has.
	m.Header[ttlHeader] = []string{never}
	delete(m.Header, "Nats-Msg-Id")
	m.Header[expectHeader] = []string{"1"}
	if _, err := w.js.PublishMsg(t.Context(), m); err == nil {
		t.Error("the log takes life times")
	}
}

func TestTheNewestGenuineEntryIsFoundBelowForeignOnes(t *testing.T) {
	w := open(t, 4)
	at := uint64(0)
	for _, value := range []string{"1", "2"} {
		var err error
		if at, err = w.Put(t.Context(), "k", []byte(value), at, 0); err != nil {
			t.Fatal(err)
		}
	}
	for n, want := range []string{"2", "2", "2", ""} {
		must(t, w.nc.PublishRequest("$JS.API.STREAM.INFO.LOG", w.Subject("k"), nil))
		e := w.last(t, "k", at)
		at = e.Revision
		g, err := w.Genuine(t.Context(), "k", e.Revision)
		if err != nil || string(g.Value) != want || g.Gone != (want == "") {
			t.Errorf("below %d foreign entries: %+v, %v; want %q", n+1, g, err, want)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAClosedConnectionIsAnError(t *testing.T) {
	w := open(t, 1)
	w.nc.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := w.Get(ctx, "k"); !errors.Is(err, nats.ErrConnectionClosed) {
		t.Errorf("get: %v", err)
	}
	if _, err := w.Put(ctx, "k", nil, 0, 0); err == nil || !strings.Contains(err.Error(), "write key k") {
		t.Errorf("put: %v", err)
	}
}

func FuzzHeaders(f *testing.F) {
	f.Add([]byte("NATS/1.0\r\nNats-TTL: never\r\nNats-Expected-Last-Subject-Sequence: 0\r\n\r\n"))
	f.Add([]byte("NATS/1.0\r\nNats-Stream: LOG\r\n\r\n"))
	f.Add([]byte("NATS/1.0 404 No Messages\r\n\r\n"))
	f.Add([]byte("NATS/1.0"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h := parse(data)
		low := strings.ToLower(string(data))
		if written(h) && (!strings.Contains(low, "nats-ttl") || !strings.Contains(low, "nats-expected-last-subject-sequence") || h.Get(StreamHeader) != "") {
			t.Fatal("an entry counts without its marks")
		}
	})
}

// An answer may get lost with the server that leads: who asks must not wait for ever.
func TestAnAnswerThatDoesNotComeIsNotWaitedForLong(t *testing.T) {
	nc := connect(t, &server.Options{DontListen: true, NoSigs: true, NoLog: true}) // has no streams
	if _, err := nc.Subscribe("$JS.API.STREAM.MSG.GET.KV_B", func(*nats.Msg) {}); err != nil {
		t.Fatal(err)
	}
	b, err := New(nc, "B")
	if err != nil {
		t.Fatal(err)
	}
	if b.wait <= 0 || b.wait > 10*time.Second {
		t.Errorf("an answer is waited for %s", b.wait)
	}
	b.wait = 50 * time.Millisecond
	for what, ask := range map[string]func() error{
		"a key":        func() error { _, err := b.Get(context.Background(), "a"); return err },
		"an older one": func() error { _, err := b.Genuine(context.Background(), "a", 9); return err },
		"all keys":     func() error { _, err := b.Scan(context.Background()); return err },
	} {
		if err := ask(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v, want that the time is over", what, err)
		}
	}
}
