package encode

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/sample"
)

var update = flag.Bool("update", false, "write the golden files anew")

// at is when everything here happens.
const at = object.Time(1700000000123)

// some are samples of three series, one of them twice.
func some() []sample.Sample {
	host := sample.Label{Name: "host", Value: "web 01"}
	path := sample.Label{Name: "path", Value: `C:\`}
	return []sample.Sample{
		{Name: "jaque_metric", Labels: []sample.Label{host, path}, Value: 0.25, Time: at, Unit: "seconds"},
		{Name: "jaque_metric", Labels: []sample.Label{host}, Value: -1e-9, Time: at},
		{Name: "jaque_metric", Labels: []sample.Label{host, path}, Value: 0.5, Time: at - 1000, Unit: "seconds"},
		{Name: "a,b c=d\\", Value: 1e300, Time: at, Counter: true},
		{Name: "jaque_metric", Labels: []sample.Label{host}, Value: 12345678901, Time: at},
	}
}

// happened is an event with all that the encodings tell.
func happened() *event.Event {
	return &event.Event{
		Stream: event.Log, Seq: 42, Version: 1, ID: "d1", Kind: event.CheckResult, Object: `web01!say "hi]"`, Time: at, Author: "ann\n", Transition: true,
		Status:  &event.Status{State: object.Critical, Type: object.Hard, Checked: true},
		Measure: &event.Measure{State: object.Critical, Output: "CRITICAL - a\tb\x01 é"},
	}
}

func TestGolden(t *testing.T) {
	e := happened()
	y := Syslog{Facility: 3, Hostname: "mon 1", App: "jaque", ProcID: "77"}
	doc := event.AppendJSON(nil, e)
	for name, got := range map[string][]byte{
		"graphite.txt":        Graphite(nil, some()),
		"graphite.pickle.hex": []byte(hex.Dump(GraphitePickle(nil, some()))),
		"influx.txt":          Influx(nil, some(), "value"),
		"remote1.hex":         []byte(hex.Dump(new(RemoteWrite).Version1(nil, some()))),
		"remote2.hex":         []byte(hex.Dump(second(some()))),
		"opentsdb.txt":        OpenTSDB(nil, some()),
		"opentsdb.json":       OpenTSDBJSON(nil, some()),
		"samples.jsonl":       each(some()),
		"syslog.txt":          Frame(Frame(nil, y.Message(nil, e, nil)), y.Message(nil, &event.Event{Kind: event.ConfigLoaded, Time: at}, []byte("{}"))),
		"bulk.ndjson":         BulkItem(BulkItem(nil, Date("jaque-%Y.%m.%d", at.Std()), e, doc), "x", &event.Event{Time: at}, []byte("{}")),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s is not what is written; if that is right, write it anew with -update:\n%s", path, got)
			}
		})
	}
}

func second(samples []sample.Sample) []byte {
	out, _ := new(RemoteWrite).Version2(nil, samples)
	return out
}

func each(samples []sample.Sample) (out []byte) {
	for i := range samples {
		out = append(Sample(out, &samples[i]), '\n')
	}
	return out
}

// drawn are samples such as a mapping makes.
func drawn(t *rapid.T) []sample.Sample {
	text := rapid.StringOfN(rapid.SampledFrom([]rune(`ab ,=\"é#`)), 1, 5, -1)
	var all []sample.Sample
	for range rapid.IntRange(1, 20).Draw(t, "samples") {
		s := sample.Sample{Name: text.Draw(t, "name"), Value: rapid.Float64().Draw(t, "value"), Time: at + object.Time(rapid.IntRange(0, 3).Draw(t, "time"))*1000}
		if math.IsInf(s.Value, 0) || math.IsNaN(s.Value) {
			s.Value = 0
		}
		for _, name := range []string{"a", "b c", "z"} {
			if rapid.Bool().Draw(t, "has") {
				s.Labels = append(s.Labels, sample.Label{Name: name, Value: text.Draw(t, "label")})
			}
		}
		all = append(all, s)
	}
	return all
}

// TestLineProtocolIsReadBack reads lines as InfluxDB's rules of escaping say.
func TestLineProtocolIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := drawn(t)
		lines := strings.SplitAfter(string(Influx(nil, samples, "value")), "\n")
		if len(lines) != len(samples)+1 {
			t.Fatalf("%d lines of %d samples", len(lines), len(samples))
		}
		for i, s := range samples {
			words := cut(strings.TrimSuffix(lines[i], "\n"), ' ')
			if len(words) != 3 {
				t.Fatalf("%q has %d parts", lines[i], len(words))
			}
			parts := cut(words[0], ',')
			if got := len(parts) - 1; got != len(s.Labels) {
				t.Fatalf("%q has %d tags, not %d", lines[i], got, len(s.Labels))
			}
			want := slash(s.Name)
			if want[0] == '#' {
				want = "_" + want[1:]
			}
			if got := unescaped(parts[0]); got != want {
				t.Fatalf("measurement %q, want %q", got, want)
			}
			for n, l := range s.Labels {
				pair := cut(parts[n+1], '=')
				if len(pair) != 2 || unescaped(pair[0]) != l.Name || slash(unescaped(pair[1])) != slash(l.Value) {
					t.Fatalf("tag %q, want %+v", parts[n+1], l)
				}
			}
			value, err := strconv.ParseFloat(strings.TrimPrefix(words[1], "value="), 64)
			if err != nil || value != s.Value || words[2] != fmt.Sprint(int64(s.Time)) {
				t.Fatalf("%q of %+v", lines[i], s)
			}
		}
	})
}

// slash takes backslashes for slashes, as escape does where they would escape.
func slash(text string) string { return strings.ReplaceAll(text, `\`, "/") }

// cut splits at a byte that no backslash is in front of.
func cut(text string, at byte) []string {
	var parts []string
	from := 0
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			i++
		case text[i] == at:
			parts, from = append(parts, text[from:i]), i+1
		}
	}
	return append(parts, text[from:])
}

func unescaped(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte(", =", text[i+1]) >= 0 {
			i++
		}
		b.WriteByte(text[i])
	}
	return slash(b.String())
}

// TestPickleIsReadBack reads messages as carbon does: with a stack.
func TestPickleIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := drawn(t)
		message := GraphitePickle(nil, samples)
		if n := binary.BigEndian.Uint32(message); int(n) != len(message)-4 {
			t.Fatalf("length %d of %d bytes", n, len(message))
		}
		rows := unpickle(t, message[4:])
		if len(rows) != len(samples) {
			t.Fatalf("%d rows of %d samples", len(rows), len(samples))
		}
		for i, s := range samples {
			row := rows[i].([]any)
			point := row[1].([]any)
			if row[0] != string(path(nil, &s)) || point[0] != seconds(&s) || point[1] != s.Value {
				t.Fatalf("%v of %+v", row, s)
			}
		}
	})
}

// unpickle runs the opcodes that a list of tuples needs.
func unpickle(t *rapid.T, p []byte) []any {
	if p[0] != 0x80 || p[1] != 2 || p[2] != ']' || p[3] != '(' {
		t.Fatalf("begins with %x", p[:4])
	}
	var stack []any
	for p = p[4:]; ; {
		op := p[0]
		p = p[1:]
		switch op {
		case 'X':
			n := binary.LittleEndian.Uint32(p)
			stack, p = append(stack, string(p[4:4+n])), p[4+n:]
		case 0x8a:
			stack, p = append(stack, int64(binary.LittleEndian.Uint64(p[1:]))), p[9:]
		case 'G':
			stack, p = append(stack, math.Float64frombits(binary.BigEndian.Uint64(p))), p[8:]
		case 0x86:
			n := len(stack)
			stack = append(stack[:n-2:n-2], []any{stack[n-2], stack[n-1]})
		case 'e':
			if string(p) != "." {
				t.Fatalf("%x behind the list", p)
			}
			return stack
		default:
			t.Fatalf("opcode %x", op)
		}
	}
}

func TestJSONIsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := drawn(t)
		var put []struct {
			Metric    string
			Timestamp int64
			Value     float64
			Tags      map[string]string
		}
		if err := json.Unmarshal(OpenTSDBJSON(nil, samples), &put); err != nil {
			t.Fatal(err)
		}
		for i, s := range samples {
			var one struct {
				Name   string
				Time   time.Time
				Value  float64
				Labels map[string]string
			}
			if err := json.Unmarshal(Sample(nil, &s), &one); err != nil {
				t.Fatal(err)
			}
			if one.Name != s.Name || !one.Time.Equal(s.Time.Std()) || one.Value != s.Value || len(one.Labels) != len(s.Labels) ||
				put[i].Metric != s.Name || put[i].Value != s.Value || put[i].Timestamp != int64(s.Time) {
				t.Fatalf("%+v and %+v of %+v", one, put[i], s)
			}
			for _, l := range s.Labels {
				if one.Labels[l.Name] != l.Value || put[i].Tags[l.Name] != l.Value {
					t.Fatalf("labels %v of %+v", one.Labels, s)
				}
			}
		}
	})
}

func TestSeverityOfEvents(t *testing.T) {
	for _, c := range []struct {
		name string
		id   object.ID
		s    object.State
		k    object.StateType
		tr   bool
		want string
	}{
		{"a service that fails hard", "h!s", object.Critical, object.Hard, true, "<26>"},
		{"one that may only have hiccuped", "h!s", object.Critical, object.Soft, true, "<28>"},
		{"a warning", "h!s", object.Warning, object.Hard, true, "<28>"},
		{"a host that is down", "h", object.Down, object.Hard, true, "<26>"},
		{"a recovery", "h!s", object.OK, object.Hard, true, "<29>"},
		{"what changes no state", "h!s", object.Critical, object.Hard, false, "<30>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &event.Event{Kind: event.CheckResult, Object: c.id, Time: at, Transition: c.tr, Status: &event.Status{State: c.s, Type: c.k}}
			if got := string((&Syslog{Facility: 3}).Message(nil, e, nil)); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestAnswersToBulkRequests(t *testing.T) {
	for _, c := range []struct {
		name, body string
		n          int
		want       []BulkResult
		says       string
	}{
		{"all is well", `{"took":3,"errors":false,"items":[{"create":{"status":201}}]}`, 1, nil, ""},
		{
			"one was wrong, one is there already, one comes too early",
			`{"errors":true,"items":[{"create":{"status":400,"error":{"type":"mapper_parsing_exception","reason":"bad"}}},{"create":{"status":409,"error":"exists"}},{"create":{"status":429,"error":{"x":1}}},{"create":{"status":201}}]}`,
			4,
			[]BulkResult{{400, "mapper_parsing_exception: bad"}, {409, "exists"}, {429, `{"x":1}`}, {201, ""}},
			"",
		},
		{"it is about fewer items", `{"errors":true,"items":[{"create":{"status":201}}]}`, 2, nil, "about 1 items, not 2"},
		{"it is something else", `{"ok":true}`, 1, nil, "is the address"},
		{"it is a page", `<html>`, 1, nil, "read the answer"},
		{"an item with two actions", `{"errors":true,"items":[{"create":{},"index":{}}]}`, 1, nil, "2 actions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := BulkAnswer([]byte(c.body), c.n)
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) || !slices.Equal(got, c.want) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func FuzzBulkAnswer(f *testing.F) {
	f.Add([]byte(`{"errors":true,"items":[{"create":{"status":400,"error":{"type":"t","reason":"r"}}}]}`), 1)
	f.Add([]byte(`{"errors":false}`), 3)
	f.Add([]byte(`{"errors":true,"items":[{"index":{"status":"x"}}]}`), 1)
	f.Fuzz(func(t *testing.T, body []byte, n int) {
		results, err := BulkAnswer(body, n)
		if err != nil && results != nil || results != nil && len(results) != n {
			t.Errorf("%d results for %d items, %v", len(results), n, err)
		}
	})
}

func TestADocumentIDHasRoom(t *testing.T) {
	if got := DocumentID(&event.Event{Seq: 7, ID: strings.Repeat("x", 1000)}); len(got) != 512 || !strings.HasPrefix(got, "log-7-x") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}
