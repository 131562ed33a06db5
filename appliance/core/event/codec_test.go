package event_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/wire"
)

func times() *rapid.Generator[object.Time] {
	return rapid.Map(rapid.Int64(), func(v int64) object.Time { return object.Time(v) })
}

func statuses() *rapid.Generator[event.Status] {
	return rapid.Custom(func(t *rapid.T) event.Status {
		s := rapid.MakeCustom[event.Status](rapid.MakeConfig{
			Types: map[reflect.Type]*rapid.Generator[any]{
				reflect.TypeFor[*event.Extra](): rapid.Just((*event.Extra)(nil)).AsAny(),
			},
		}).Draw(t, "status")
		if rapid.Bool().Draw(t, "has extra") {
			x := rapid.Make[event.Extra]().Draw(t, "extra")
			if len(x.Comments) == 0 {
				x.Comments = nil
			}
			if len(x.Downtimes) == 0 {
				x.Downtimes = nil
			}
			if len(x.Settings) == 0 {
				x.Settings = nil
			}
			s.Extra = &x
		}
		return s
	})
}

// programs draws program-wide things as a decoder gives them back: what is empty
// is nil.
func programs() *rapid.Generator[event.Program] {
	return rapid.Custom(func(t *rapid.T) event.Program {
		p := rapid.Make[event.Program]().Draw(t, "program")
		if p.Switches != nil && len(p.Switches.Settings) == 0 {
			p.Switches.Settings = nil
		}
		if p.Contact != nil && len(p.Contact.Settings) == 0 {
			p.Contact.Settings = nil
		}
		if p.Rule != nil && len(p.Rule.Ranges) == 0 {
			p.Rule.Ranges = nil
		}
		return p
	})
}

// notes draws decisions about telling people as a decoder gives them back: what is
// empty is nil, and the name of a gate is a word.
func notes(t *rapid.T) (all []event.Note) {
	word := rapid.StringMatching(`[a-z_]{1,12}`)
	gates := rapid.Custom(func(t *rapid.T) event.Gate {
		return event.Gate{Name: word.Draw(t, "gate"), Verdict: event.GateVerdict(rapid.IntRange(0, 2).Draw(t, "verdict")), Why: rapid.String().Draw(t, "why")}
	})
	list := func(g []event.Gate) []event.Gate {
		if len(g) == 0 {
			return nil
		}
		return g
	}
	texts := func(name string) []string {
		if s := rapid.SliceOfN(rapid.String(), 0, 2).Draw(t, name); len(s) > 0 {
			return s
		}
		return nil
	}
	for range rapid.IntRange(0, 2).Draw(t, "notes") {
		n := event.Note{
			Kind: rapid.String().Draw(t, "kind"), Send: rapid.Bool().Draw(t, "send"), By: word.Draw(t, "by"), Until: times().Draw(t, "until"),
			Number: rapid.Int32().Draw(t, "number"), Policy: rapid.String().Draw(t, "policy"), Steps: texts("steps"),
			Group: object.Grouping{
				By:       object.GroupBy(rapid.String().Draw(t, "group by")),
				Wait:     time.Duration(rapid.Int32().Draw(t, "wait")) * time.Millisecond,
				Interval: time.Duration(rapid.Int32().Draw(t, "interval")) * time.Millisecond,
			},
			Gates: list(rapid.SliceOfN(gates, 0, 3).Draw(t, "gates")),
		}
		for range rapid.IntRange(0, 2).Draw(t, "people") {
			n.People = append(n.People, event.Person{
				Name: rapid.String().Draw(t, "name"), Told: rapid.Bool().Draw(t, "told"), By: rapid.String().Draw(t, "person by"),
				Channels: texts("channels"), Gates: list(rapid.SliceOfN(gates, 0, 3).Draw(t, "person gates")),
			})
		}
		all = append(all, n)
	}
	return all
}

func events() *rapid.Generator[event.Event] {
	return rapid.Custom(func(t *rapid.T) event.Event {
		e := event.Event{
			Version: event.Version,
			ID:      rapid.String().Draw(t, "id"),
			Kind:    event.Kind(rapid.SampledFrom([]string{"check.result", "ack.set", "a.kind.of.tomorrow", ""}).Draw(t, "kind")),
			Object:  object.ID(rapid.String().Draw(t, "object")),
			Epoch:   rapid.Uint64().Draw(t, "epoch"), Prev: rapid.Uint64().Draw(t, "prev"),
			Writer: rapid.String().Draw(t, "writer"), Instance: rapid.String().Draw(t, "instance"),
			Time: times().Draw(t, "time"), Transition: rapid.Bool().Draw(t, "transition"),
			Author: rapid.String().Draw(t, "author"), Text: rapid.String().Draw(t, "text"),
		}
		for _, k := range rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "also") {
			e.Also = append(e.Also, event.Kind(k))
		}
		if rapid.Bool().Draw(t, "has was") {
			w := rapid.Make[event.Was]().Draw(t, "was")
			e.Was = &w
		}
		if rapid.Bool().Draw(t, "has status") {
			s := statuses().Draw(t, "status")
			e.Status = &s
		}
		if rapid.Bool().Draw(t, "has measure") {
			m := rapid.Make[event.Measure]().Draw(t, "measure")
			e.Measure = &m
		}
		if rapid.Bool().Draw(t, "has program") {
			p := programs().Draw(t, "program")
			e.Program = &p
		}
		e.Notes = notes(t)
		if f := rapid.MapOfN(rapid.String(), rapid.String(), 0, 3).Draw(t, "facts"); len(f) > 0 {
			e.Facts = f
		}
		return e
	})
}

// An event that was written is read back as it was, and everybody's JSON
// reader accepts it.
func TestDecodeIsTheInverseOfAppendJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := events().Draw(t, "event")
		data := event.AppendJSON(nil, &want)
		if !json.Valid(data) {
			t.Fatalf("not JSON: %s", data)
		}
		var got event.Event
		if err := event.Decode(data, &got); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("read back %+v, want %+v\n%s", got, want, data)
		}
		if again := event.AppendJSON(nil, &got); string(again) != string(data) {
			t.Fatalf("written again as %s, first %s", again, data)
		}
	})
}

func TestAppendJSONWritesTheDocumentedKeys(t *testing.T) {
	tests := []struct {
		name string
		give event.Event
		want string
	}{
		{"nothing is written for zero values", event.Event{}, `{}`},
		{
			"positions on the streams are not written",
			event.Event{Stream: event.Results, Seq: 7, Version: 1, Kind: event.AckSet},
			`{"v":1,"k":"ack.set"}`,
		},
		{
			"a transition carries what was before",
			event.Event{Kind: event.CheckResult, Also: []event.Kind{event.FlappingStarted, event.AckCleared}, Transition: true, Was: &event.Was{}},
			`{"k":"check.result","also":["flapping.started","ack.cleared"],"tr":true,"was":{}}`,
		},
		{
			"facts are sorted by key",
			event.Event{Facts: map[string]string{"b": "2", "a": "1", "c": "\n"}},
			`{"f":{"a":"1","b":"2","c":"\n"}}`,
		},
		{
			"states at the end that never were are left out",
			event.Event{Measure: &event.Measure{LastIn: [4]object.Time{0, 5}}},
			`{"m":{"ls":[0,5]}}`,
		},
		{
			"a status has its own keys",
			event.Event{Status: &event.Status{State: object.Critical, Type: object.Soft, Checked: true, Attempt: 2, MaxAttempts: 3}},
			`{"s":{"s":2,"t":1,"c":true,"a":2,"ma":3}}`,
		},
		{
			"what a plugin printed in another encoding stays readable",
			event.Event{Text: "caf\xe9 \x01\"\\"},
			"{\"x\":\"caf\uFFFD \\u0001\\\"\\\\\"}",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(event.AppendJSON(nil, &tt.give)); got != tt.want {
				t.Errorf("wrote %s, want %s", got, tt.want)
			}
		})
	}
}

func TestDecodeLeavesAloneWhatItDoesNotKnow(t *testing.T) {
	const text = `{"v":9,"k":"moon.eclipsed","zz":{"a":[1,2.5e3,null,{"b":"\u00e9"}]},"s":{"a":3,"new":[true]},"m":{"ls":[1,2,3,4,5],"q":-0.5}, "x" : "\ud83d\ude00 \/" }`
	e := event.Event{Stream: event.Results, Seq: 4, Writer: "left over"}
	if err := event.Decode([]byte(text), &e); err != nil {
		t.Fatal(err)
	}
	want := event.Event{
		Stream: event.Results, Seq: 4, Version: 9, Kind: "moon.eclipsed", Text: "😀 /",
		Status:  &event.Status{Attempt: 3},
		Measure: &event.Measure{LastIn: [4]object.Time{1, 2, 3, 4}},
	}
	if !reflect.DeepEqual(e, want) {
		t.Errorf("got %+v, want %+v", e, want)
	}
}

func TestDecodeSaysWhereATextIsWrong(t *testing.T) {
	tests := []struct{ name, give, want string }{
		{"nothing at all", ``, "at byte 0: expected {"},
		{"text behind the event", `{} {`, "at byte 3: expected the end"},
		{"a missing comma", `{"v":1 "k":"x"}`, "at byte 7: expected , or }"},
		{"a text where a number belongs", `{"e":"12"}`, "at byte 5: expected an integer"},
		{"a negative position", `{"p":-1}`, "at byte 5: expected a number that is not negative"},
		{"a state that does not fit", `{"s":{"s":256}}`, "at byte 13: expected a smaller number"},
		{"a raw line feed in a text", "{\"x\":\"a\nb\"}", "at byte 7: expected an escape instead of a control character"},
		{"an event that was cut off", `{"x":"ab`, "at byte 8: expected \""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var e event.Event
			err := event.Decode([]byte(tt.give), &e)
			var syntax *wire.SyntaxError
			if !errors.As(err, &syntax) || !strings.HasSuffix(err.Error(), tt.want) {
				t.Errorf("error %v, want one that ends in %q", err, tt.want)
			}
		})
	}
}

// Every kind that this build writes is read back as itself.
func TestHas(t *testing.T) {
	e := event.Event{Kind: event.CheckResult, Also: []event.Kind{event.AckCleared}}
	if !e.Has(event.CheckResult) || !e.Has(event.AckCleared) || e.Has(event.AckSet) {
		t.Errorf("Has is wrong for %v with %v", e.Kind, e.Also)
	}
	if event.Log.String() != "log" || event.Results.String() != "results" {
		t.Errorf("streams are called %s and %s", event.Log, event.Results)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{}`))
	f.Add(event.AppendJSON(nil, measurement()))
	f.Add([]byte(`{"also":["a"],"f":{"\u00e9":"\ud800"},"was":{"a":-3},"zz":[[[1e9]]],"x":"\xff"}`))
	f.Add([]byte(`{"s":{"x":{"c":[{"id":"1"}],"d":[{"tr":"2"}]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var e event.Event
		if event.Decode(data, &e) != nil {
			return
		}
		if !json.Valid(data) {
			t.Fatalf("accepted what is no JSON: %q", data)
		}
		again := event.AppendJSON(nil, &e)
		var back event.Event
		if err := event.Decode(again, &back); err != nil {
			t.Fatalf("%v in %s", err, again)
		}
		if third := event.AppendJSON(nil, &back); string(third) != string(again) {
			t.Fatalf("written as %s and then as %s", again, third)
		}
	})
}

// measurement is a typical result of a plugin: about 400 bytes of JSON.
func measurement() *event.Event {
	return &event.Event{
		Version: 1, ID: "8f3a90c1d2e4b567", Kind: event.CheckResult, Object: "web01.example.com!disk /var",
		Epoch: 1779962400123, Writer: "engine-a", Instance: "k3v9x2", Time: 1779962460456,
		Measure: &event.Measure{
			Epoch: 1779962400123, N: 48211, State: object.Warning, LastCheck: 1779962460123, NextCheck: 1779962520123,
			Ring: 0x155, Latency: 812, Took: 23411,
			Output:   "DISK WARNING - free space: /var 812 MiB (12.34% inode=87%)",
			Perfdata: "/var=5767MiB;5263;5921;0;6579", LastIn: [4]object.Time{1779962400123, 1779962460123},
		},
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	e, buf := measurement(), make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		buf = event.AppendJSON(buf[:0], e)
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkDecode(b *testing.B) {
	data := event.AppendJSON(nil, measurement())
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	var e event.Event
	for b.Loop() {
		if err := event.Decode(data, &e); err != nil {
			b.Fatal(err)
		}
	}
}
