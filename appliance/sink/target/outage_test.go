package target

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/sink"
)

// TestAServerThatIsGoneForAWhileMissesNothing kills a server under load and looks
// what it has in the end. It keeps what it has acknowledged, because it is asked to
// stop and not killed: what a server loses of its own memory no sink can know.
func TestAServerThatIsGoneForAWhileMissesNothing(t *testing.T) {
	t.Parallel()
	if !there(t, victoriaProgram, "victoria-metrics", true) {
		return
	}
	v := newVictoria(t)
	log := journal.NewMemory(journal.Options{})
	var sinks []*sink.Sink
	ctx, cancel := context.WithCancel(t.Context())
	var ended []chan error
	for name, settings := range map[string]map[string]string{
		"influx":       {"url": v.address("/write")},
		"remote_write": {"url": v.address("/api/v1/write")},
		"graphite":     {"address": fmt.Sprintf("127.0.0.1:%d", v.graphite)},
		"opentsdb":     {"address": fmt.Sprintf("127.0.0.1:%d", v.telnet)},
	} {
		settings["name"], settings["items"], settings["wait"], settings["start"] = name+"_{metric}", "100", "20ms", "beginning"
		settings["label.host"], settings["label.service"], settings["label.metric"], settings["label.unit"] = "{host}", "", "", ""
		made, err := New(Setup{Kind: name, Input: Metrics, Settings: settings})
		if err != nil {
			t.Fatal(err)
		}
		o := sink.Options{
			Name: name, Source: log, Positions: &sink.Memory{}, RetryFirst: 50 * time.Millisecond, RetryMost: 200 * time.Millisecond,
			Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
		}
		made.Fill(&o)
		s, err := sink.New(o)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		service := s.Service()
		go func() { done <- service.Run(ctx, func() {}) }()
		sinks, ended = append(sinks, s), append(ended, done)
	}
	const rounds, hosts = 150, 20
	at := time.Now().Add(-rounds * time.Second).Truncate(time.Second)
	var want []point
	for n := range rounds {
		switch n {
		case 50:
			v.stop()
		case 100:
			waitFor(t, "every sink fails", func() bool { return each(sinks, func(s *sink.Sink) bool { return !s.State().Failing.IsZero() }) })
			for _, s := range sinks {
				if got := strings.Join(s.Trouble(), ""); !strings.Contains(got, "nothing is taken since") {
					t.Errorf("trouble of %s: %q", s.Name(), got)
				}
			}
			v.start()
		}
		when := at.Add(time.Duration(n) * time.Second)
		for h := range hosts {
			id := object.ID(fmt.Sprint("h", h))
			if err := log.Record(ctx, result(id, when, fmt.Sprintf("m=%d", n*h)), nil); err != nil {
				t.Fatal(err)
			}
			label := map[string]string{"host": string(id)}
			for _, name := range []string{"influx_m_value", "remote_write_m", "graphite_m", "opentsdb_m"} {
				want = append(want, point{series(name, label), when.UnixMilli(), float64(n * h)})
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	waitFor(t, "every sink has told everything", func() bool {
		return each(sinks, func(s *sink.Sink) bool { return s.State().Taken >= rounds*hosts })
	})
	cancel()
	for _, done := range ended {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	want = sorted(want)
	waitFor(t, "the server shows everything", func() bool { return len(v.points("")) >= len(want) })
	compare(t, v.points(""), want)
}

func each(sinks []*sink.Sink, holds func(*sink.Sink) bool) bool {
	for _, s := range sinks {
		if !holds(s) {
			return false
		}
	}
	return true
}

func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(15 * time.Second); !holds(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// TestInfluxDBRefusesOneValue has the server judge: a series whose field has
// another type, and a line that it cannot read, cost themselves only.
func TestInfluxDBRefusesOneValue(t *testing.T) {
	t.Parallel()
	if !there(t, influxProgram, "influxdb", true) {
		return
	}
	s := newInfluxDB(t)
	s.create()
	at := time.Now().Truncate(time.Second)
	settings := map[string]string{"url": s.address(""), "database": "db", "name": "{metric}"}
	first, err := New(Setup{Kind: "influx", Input: Metrics, Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	raw := first.Target.(*influx)
	if _, _, err := raw.post(t.Context(), &raw.to, fmt.Appendf(nil, "taken value=\"text\" %d\n", at.UnixMilli())); err != nil {
		t.Fatal(err)
	}
	log := journal.NewMemory(journal.Options{})
	made, err := New(Setup{Kind: "influx", Input: Metrics, Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	x, err := sink.New(sink.Options{
		Name: "x", Source: log, Positions: &sink.Memory{}, Target: made.Target, Mapping: made.Mapping, Beginning: true,
		Wait: 10 * time.Millisecond, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	service := x.Service()
	record := func(e *event.Event) {
		if err := log.Record(ctx, e, nil); err != nil {
			t.Fatal(err)
		}
	}
	record(result("first", at, "good0=0"))
	go func() { ended <- service.Run(ctx, func() {}) }()
	waitFor(t, "something is taken", func() bool { return x.State().Taken == 1 })
	record(result("h", at, "good1=1 taken=2 good2=3 good3=4"))
	waitFor(t, "the rest is taken", func() bool { return x.State().Taken == 4 })
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := x.State(); got.Refused != 1 || !strings.Contains(got.LastRefused, "field type conflict") {
		t.Errorf("state %+v", got)
	}
	var names []string
	for _, p := range s.influxQuery(`SELECT value FROM /good.*/`) {
		names = append(names, p.series)
	}
	if got := strings.Join(names, " "); got != "good0 good1 good2 good3" {
		t.Errorf("the server has %s", got)
	}
}
