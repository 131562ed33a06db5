package audit_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"jaque.sh/jaque/appliance/audit"
	"jaque.sh/jaque/appliance/backup"
	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/chain"
)

func open(t testing.TB, o bus.Options) *bus.Bus {
	t.Helper()
	b, err := bus.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	return b
}

// writer writes decisions as an engine does, many at once.
type writer struct {
	t    testing.TB
	b    *bus.Bus
	next uint64
	last map[object.ID]uint64
	open []jetstream.PubAckFuture
}

func newWriter(t testing.TB, b *bus.Bus) *writer {
	return &writer{t: t, b: b, next: 1, last: map[object.ID]uint64{}}
}

// decision is a typical one.
func (w *writer) decision(id object.ID) *event.Event {
	return &event.Event{
		Version: event.Version, ID: fmt.Sprintf("d%015d", w.next), Kind: event.CheckResult, Object: id, Epoch: 1779962400123, Writer: "engine-a",
		Instance: "k3v9x2", Prev: w.last[id], Time: 1779962460456 + object.Time(w.next),
		Status: &event.Status{
			State: object.Critical, Checked: true, Attempt: 2, MaxAttempts: 3, LastChange: 1779962400123, LastHardChange: 1779962400123,
		},
		Measure: &event.Measure{
			Epoch: 1779962400123, N: w.next, State: object.Critical, LastCheck: 1779962460123, NextCheck: 1779962520123, Ring: 0x155, Latency: 812, Took: 23411,
			Output: "DISK CRITICAL - free space: /var 12 MiB (0.34% inode=87%)", Perfdata: "/var=5767MiB;5263;5921;0;6579", LastIn: [4]object.Time{1779962400123, 1779962460123},
		},
	}
}

func (w *writer) put(e *event.Event) {
	w.message(&nats.Msg{Subject: "jaque.log." + e.Object.Token(), Data: event.AppendJSON(nil, e)})
	w.last[e.Object] = w.next - 1
}

func (w *writer) message(m *nats.Msg) {
	a, err := w.b.JetStream().PublishMsgAsync(m, jetstream.WithStallWait(time.Minute))
	if err != nil {
		w.t.Fatal(err)
	}
	if w.next++; len(w.open) < 1000 {
		w.open = append(w.open, a)
		return
	}
	w.wait()
	w.open = append(w.open, a)
}

func (w *writer) wait() {
	for _, a := range w.open {
		select {
		case <-a.Ok():
		case err := <-a.Err():
			w.t.Fatal(err)
		}
	}
	w.open = w.open[:0]
}

func (w *writer) write(n int) {
	for i := range n {
		w.put(w.decision(object.ServiceID(fmt.Sprintf("host%05d", i%1000/10), fmt.Sprintf("service%d", i%10))))
	}
	w.wait()
}

// ways are those in which the log of a running server can be read.
func ways(t *testing.T, b *bus.Bus, data string) map[string]audit.Source {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if _, _, err := backup.Take(t.Context(), backup.Server{Conn: b.Conn()}, backup.Options{File: name}); err != nil {
		t.Fatal(err)
	}
	f, err := backup.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]audit.Source{
		"the server": &audit.Server{Bus: b}, "its folder": &audit.Folder{Data: data}, "a backup": &audit.File{Backup: f},
	}
}

// everywhere verifies the log of a running server in each way in which it can be read.
func everywhere(t *testing.T, b *bus.Bus, data string, check func(t *testing.T, r chain.Report)) {
	t.Helper()
	for way, from := range ways(t, b, data) {
		t.Run(way, func(t *testing.T) {
			r, err := audit.Verify(t.Context(), from, audit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			check(t, r)
		})
	}
}

func TestALogIsReadInEveryWay(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	b := open(t, bus.Options{Data: data, Bulk: true})
	w := newWriter(t, b)
	w.write(5000)
	everywhere(t, b, data, func(t *testing.T, r chain.Report) {
		if !r.Clean() || r.Accepted != 5000 || r.Last != 5000 || r.Objects != 1000 || !r.Complete {
			t.Errorf("%+v", r)
		}
	})
}

func TestWhatIsWrongIsFoundInEveryWay(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	b := open(t, bus.Options{Data: data, Bulk: true})
	w := newWriter(t, b)
	w.write(100)
	w.message(&nats.Msg{Subject: "jaque.log.x", Data: []byte("{")})
	w.message(&nats.Msg{Subject: "jaque.log.x", Data: []byte("{}")})
	delivered := &nats.Msg{Subject: "jaque.log.x", Header: nats.Header{"Nats-Stream": {"JAQUE_LOG"}}, Data: event.AppendJSON(nil, w.decision("x"))}
	w.message(delivered)
	e := w.decision("host00000!service0")
	e.Epoch--
	w.put(e)
	w.put(w.decision("host00000!service0"))
	w.message(&nats.Msg{Subject: "jaque.log.elsewhere", Data: event.AppendJSON(nil, w.decision("y"))})
	w.wait()
	everywhere(t, b, data, func(t *testing.T, r chain.Report) {
		var found []string
		for _, v := range r.Violations {
			found = append(found, fmt.Sprintf("%s@%d", v.Rule, v.Seq))
		}
		if got := strings.Join(found, " "); got != "decode@101 epoch@104 chain@105 subject@106" || r.Foreign != 2 || r.Unreadable != 1 || r.Stale != 1 {
			t.Errorf("found %s in %+v", got, r)
		}
	})
}

func TestADamagedFolderIsTold(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	b := open(t, bus.Options{Data: data, Bulk: true})
	newWriter(t, b).write(18000) // two blocks
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	blocks, err := bus.StoredBlocks(data, "JAQUE_LOG")
	if err != nil || len(blocks) < 2 {
		t.Fatal(blocks, err)
	}
	text, err := os.ReadFile(blocks[0].Path())
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2]++
	if err := os.WriteFile(blocks[0].Path(), text, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := audit.Verify(t.Context(), &audit.Folder{Data: data}, audit.Options{})
	if err != nil || r.ByRule[chain.Decode] != 1 || r.ByRule[chain.Gap] != 0 || r.Events != 17999 || r.Last != 18000 {
		t.Errorf("%v, %+v", err, r.ByRule)
	}
	if _, err := audit.Verify(t.Context(), &audit.Folder{Data: t.TempDir()}, audit.Options{}); err == nil {
		t.Error("an empty folder has a log")
	}
}

func benchmarkVerify(b *testing.B, from func(*bus.Bus, string) audit.Source) {
	const events = 200_000
	data := b.TempDir()
	on := open(b, bus.Options{Data: data, Bulk: true})
	newWriter(b, on).write(events)
	runtime.GC()
	cpu := usage(b)
	b.ResetTimer()
	for b.Loop() {
		r, err := audit.Verify(b.Context(), from(on, data), audit.Options{})
		if err != nil || !r.Clean() || r.Events != events {
			b.Fatalf("%v %+v", err, r)
		}
	}
	n := float64(events) * float64(b.N)
	b.ReportMetric(n/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric((usage(b)-cpu).Seconds()/n*1e6, "cpu-s/1000000")
}

// usage is the processor time of this process, a server in it included.
func usage(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func BenchmarkVerifyFolder(b *testing.B) {
	benchmarkVerify(b, func(_ *bus.Bus, data string) audit.Source { return &audit.Folder{Data: data} })
}

func BenchmarkVerifyServer(b *testing.B) {
	benchmarkVerify(b, func(on *bus.Bus, _ string) audit.Source { return &audit.Server{Bus: on} })
}
