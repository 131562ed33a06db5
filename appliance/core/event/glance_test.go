package event_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
)

// agree compares a glance with the whole event; whatever a glance says must be so.
func agree(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, data []byte,
) bool {
	t.Helper()
	var g event.Glance
	if !g.Look(data) {
		return false
	}
	var e event.Event
	if err := event.Decode(data, &e); err != nil {
		t.Fatalf("a glance takes %q for an event: %v", data, err)
	}
	if g.Version != e.Version || g.Kind != e.Kind || g.Epoch != e.Epoch || g.Prev != e.Prev || g.Status != (e.Status != nil) ||
		string(g.ID) != e.ID || g.About() != e.Object || string(g.Writer) != e.Writer || string(g.Instance) != e.Instance {
		t.Fatalf("a glance says %+v, the event is %+v\n%s", g, e, data)
	}
	if e.Notes != nil || e.Facts != nil || e.Program != nil {
		t.Fatalf("a glance passes over notes, facts or the program in %s", data)
	}
	return true
}

// A glance of a whole event says what decoding says; only what has notes, facts or
// something of the program in it is left to decoding.
func TestAGlanceSaysWhatDecodingSays(t *testing.T) {
	looked := 0
	rapid.Check(t, func(t *rapid.T) {
		e := events().Draw(t, "event")
		if rapid.Bool().Draw(t, "plain") {
			e.Notes, e.Facts, e.Program = nil, nil, nil
		}
		data := event.AppendJSON(nil, &e)
		ok := agree(t, data)
		if ok != (e.Notes == nil && e.Facts == nil && e.Program == nil) {
			t.Fatalf("a glance of %s: %t", data, ok)
		}
		if ok {
			looked++
		}
		// One byte is another one, is missing or is there twice.
		at := rapid.IntRange(0, len(data)-1).Draw(t, "at")
		for _, broken := range [][]byte{
			append(append(append([]byte{}, data[:at]...), rapid.Byte().Draw(t, "byte")), data[at+1:]...),
			append(append([]byte{}, data[:at]...), data[at+1:]...),
			append(append([]byte{}, data[:at+1]...), data[at:]...),
			data[:at],
		} {
			agree(t, broken)
		}
		var g event.Glance
		g.Of(&e)
		if ok && (string(g.ID) != e.ID || g.About() != e.Object || g.Epoch != e.Epoch || g.Status != (e.Status != nil)) {
			t.Fatalf("a glance of the event says %+v, the event is %+v", g, e)
		}
	})
	if looked == 0 {
		t.Error("no event was one for a glance")
	}
}

func TestALookAllocatesNothing(t *testing.T) {
	e := event.Event{
		Version: 1, ID: "d1", Kind: event.CheckResult, Object: "web01!http", Epoch: 7, Writer: "a", Instance: "a1", Prev: 3, Time: 9,
		Transition: true, Was: &event.Was{State: 1}, Also: []event.Kind{event.AckCleared},
		Status: &event.Status{State: 2, Root: "db01"}, Measure: &event.Measure{Output: "DISK OK - /var", Perfdata: "a=1"},
	}
	data := event.AppendJSON(nil, &e)
	var g event.Glance
	if n := testing.AllocsPerRun(100, func() {
		if !g.Look(data) {
			t.Error("no event")
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzLook looks for a text that a glance and decoding see differently.
func FuzzLook(f *testing.F) {
	for _, text := range []string{
		`{"v":1,"id":"a\u00e9","k":"check.result","o":"h!s","e":7,"w":"a","i":"a1","p":3,"t":-4,"s":{"s":2,"x":{"c":[{"id":"c"}]}},"m":{"ls":[1,2]}}`,
		`{"s":{"s":256}}`, `{"n":[{}]}`, `{"f":{"a":"b"}}`, `{"o":"a","o":"b"}`, `{"zz":[1,{"a":null}]} `, `{"m":{"s":-1}}`, `{"also":["x"],"tr":tru}`,
		`{"pr":{}}`, strings.Repeat("[", 80),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) { agree(t, data) })
}
