package queue

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// everyKind is an item with a check of every kind, as no config makes it.
func everyKind() *Item {
	return &Item{
		ID: "run.1", Engine: "engine-a", Object: "web01!http", Address: "192.0.2.7", Zone: "dmz",
		Timeout: 10 * time.Second, Env: []string{"A=1"}, Due: 1_800_000_000_000, Sent: 1_800_000_000_100, Life: 15 * time.Second,
		AggressiveHostChecking: true, TimeoutState: object.Critical,
		Check: object.Check{
			Kind: object.CheckPlugin, Plugin: []string{"check_http", "-H", "web01"}, Shell: "echo ok",
			HTTP: &object.HTTPCheck{URL: "https://web01/", Headers: map[string]string{"X": "1"}, Status: []int{200}, Redirect: 2},
			TCP:  &object.TCPCheck{Address: "web01:22", Expect: "SSH"}, ICMP: &object.ICMPCheck{Count: 3, CritLoss: "50"},
			DNS: &object.DNSCheck{Name: "web01", Expect: []string{"192.0.2.7"}}, TLS: &object.TLSCheck{Address: "web01:443", CritDays: "3:"},
			Dummy: &object.DummyCheck{Text: "x", States: []object.State{0, 2}}, Aggregate: &object.AggregateCheck{Members: []object.ID{"a"}},
		},
	}
}

// What version 1 looks like on the queue must not change by accident: engines
// and workers of several releases meet there.
func TestTheFormOfAnItemIsKept(t *testing.T) {
	got, err := encodeItem(everyKind())
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/item.v1.json")
	if err != nil || !bytes.Equal(got, bytes.TrimSpace(want)) {
		t.Errorf("an item is now\n%s\n%v", got, err)
	}
	back, err := decodeItem(bytes.TrimSpace(want))
	if err != nil || !reflect.DeepEqual(back, everyKind()) {
		t.Errorf("the stored item reads as %+v, %v", back, err)
	}
}

func TestItemsOfOtherVersions(t *testing.T) {
	cases := []struct {
		name, data string
		ok         bool
		want       string // part of the error
	}{
		{"an older item without what came later", `{"v":1,"id":"a","engine":"e","object":"o","zone":"z","life_ms":1000,"check":{"kind":"tcp"}}`, true, ""},
		{"a newer item that older workers may execute", `{"v":9,"need":1,"id":"a","engine":"e","object":"o","zone":"z","life_ms":1000,"colour":"red","check":{"kind":"tcp","gentle":true}}`, true, ""},
		{"a newer item that needs a newer worker", `{"v":9,"need":9,"id":"a","engine":"e","object":"o","zone":"z","life_ms":1000,"check":17}`, true, "upgrade the worker"},
		{"an item without an engine", `{"v":1,"id":"a","object":"o","zone":"z","life_ms":1000}`, false, "lacks"},
		{"an item that lives for ever", `{"v":1,"id":"a","engine":"e","object":"o","zone":"z","life_ms":9223372036854775807}`, false, "lacks"},
		{"a timeout before the beginning", `{"v":1,"id":"a","engine":"e","object":"o","zone":"z","life_ms":1,"timeout_ms":-1}`, false, "timeout of -1"},
		{"another message", `[]`, false, "decode work item"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			it, err := decodeItem([]byte(c.data))
			if (it != nil) != c.ok || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, %v", it, err)
			}
		})
	}
	var future *TooNew
	if _, err := decodeItem([]byte(cases[2].data)); !errors.As(err, &future) || future.Need != 9 {
		t.Errorf("%v", err)
	}
}

func TestResultsComeBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		want := &Result{ID: "run.1", Worker: text.Draw(t, "worker"), Result: fold.Result{
			State: object.State(rapid.IntRange(0, 3).Draw(t, "state")), Output: text.Draw(t, "output"), Long: text.Draw(t, "long"),
			Perfdata: text.Draw(t, "perfdata"), Start: object.Time(rapid.Int64().Draw(t, "start")),
			Latency: rapid.Int64Min(0).Draw(t, "latency"), Took: rapid.Int64Min(0).Draw(t, "took"),
		}}
		data, err := encodeResult(want, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got, begun, err := decodeResult(data); err != nil || begun || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, %v, want %+v", got, err, want)
		}
	})
}

func TestAResultIsCutToTheLimit(t *testing.T) {
	r := &Result{ID: "run.1", Worker: "w", Result: fold.Result{Output: "fine", Long: strings.Repeat("ü\x01", 5000), Perfdata: "a=1"}}
	data, err := encodeResult(r, 4000)
	if err != nil || len(data) > 4000 {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	got, _, err := decodeResult(data)
	if err != nil || got.Output != "fine" || got.Perfdata != "a=1" || got.Long == "" || !strings.HasPrefix(r.Long, got.Long) {
		t.Errorf("%+v, %v", got, err)
	}
	if data, err = encodeResult(r, 90); err != nil || len(data) > 90 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if _, err = encodeResult(r, 10); err == nil {
		t.Error("a limit that nothing fits")
	}
}

// Arguments may be secret.
func TestLogsDoNotShowArguments(t *testing.T) {
	var out strings.Builder
	it := everyKind()
	it.Check.Plugin = append(it.Check.Plugin, "hunter2")
	it.Env = []string{"PASSWORD=hunter2"}
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "item", it)
	if !strings.Contains(out.String(), "web01!http") || strings.Contains(out.String(), "hunter2") {
		t.Error(out.String())
	}
}

func TestLifeIsTheSmallerOfIntervalAndTimeout(t *testing.T) {
	cases := []struct{ interval, timeout, want time.Duration }{
		{time.Minute, 30 * time.Second, 30 * time.Second},
		{20 * time.Second, 30 * time.Second, 20 * time.Second},
		{time.Minute, 5 * time.Second, 10 * time.Second}, // another worker must be able to redo it
		{0, 30 * time.Second, 30 * time.Second},
		{100 * time.Millisecond, time.Second, time.Second},
	}
	for _, c := range cases {
		if got := Life(c.interval, c.timeout); got != c.want {
			t.Errorf("interval %s, timeout %s: %s, want %s", c.interval, c.timeout, got, c.want)
		}
	}
}

func FuzzItem(f *testing.F) {
	data, err := encodeItem(everyKind())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"v":2,"need":2,"id":"a","engine":"e","object":"o","zone":"z","life_ms":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		it, err := decodeItem(data)
		var future *TooNew
		if err != nil {
			if it != nil && !errors.As(err, &future) {
				t.Fatal("an item with an error")
			}
			return
		}
		if it.ID == "" || it.Engine == "" || it.Zone == "" || it.Life <= 0 || it.Timeout < 0 {
			t.Fatalf("%+v", it)
		}
		again, err := encodeItem(it)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decodeItem(again)
		if err != nil || back.ID != it.ID || back.Life != it.Life || back.Zone != it.Zone {
			t.Fatalf("%+v becomes %+v, %v", it, back, err)
		}
	})
}

func FuzzResult(f *testing.F) {
	f.Add([]byte(`{"v":1,"id":"a","worker":"w","state":2,"output":"x","took_us":5}`))
	f.Add([]byte(`{"v":1,"id":"a","begun":true}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, _, err := decodeResult(data); err == nil && (r.ID == "" || r.State > object.Unknown || r.Took < 0 || r.Latency < 0) {
			t.Fatalf("%+v", r)
		}
	})
}

func FuzzAnnouncement(f *testing.F) {
	f.Add([]byte(`{"v":1,"id":"w1","program":"1.0","zone":"dmz","understands":1,"capacity":5,"running":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := decodeAnnouncement(data)
		if err != nil {
			return
		}
		fleet := newFleet(time.Minute)
		fleet.hear(a)
		if n := fleet.Live(a.Zone); a.Leaving != (n == 0) {
			t.Fatalf("%+v makes %d workers", a, n)
		}
	})
}
