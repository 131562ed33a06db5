package perfdata_test

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"jaque.sh/jaque/appliance/rule/perfdata"
	"jaque.sh/jaque/appliance/rule/threshold"
	"pgregory.net/rapid"
)

type span struct {
	Start, End *float64
	Inside     bool
}

type metric struct {
	Label      string
	Value      *float64
	UOM        string
	Warn, Crit *span
	Min, Max   *float64
}

type expected struct {
	Metrics     []metric
	Bad         bool       `json:"bad_tokens"`
	Alternative []expected `json:"any_of"`
}

// shape turns a metric into the form of the cases.
func shape(m perfdata.Metric) metric {
	out := metric{Label: m.Label, UOM: m.UOM, Warn: shapeRange(m.Warn), Crit: shapeRange(m.Crit), Min: m.Min, Max: m.Max}
	if !m.Unknown {
		out.Value = &m.Value
	}
	return out
}

func shapeRange(r *threshold.Range) *span {
	if r == nil {
		return nil
	}
	s := &span{Inside: r.Inside}
	if !math.IsInf(r.Start, 0) {
		s.Start = &r.Start
	}
	if !math.IsInf(r.End, 0) {
		s.End = &r.End
	}
	return s
}

func (e expected) matches(got []metric, bad bool) bool {
	for _, a := range e.Alternative {
		if a.matches(got, bad) {
			return true
		}
	}
	if len(e.Alternative) > 0 || len(got) != len(e.Metrics) || bad != e.Bad {
		return false
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], e.Metrics[i]) {
			return false
		}
	}
	return true
}

func TestCasesOfPerfdata(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	ran := 0
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewScanner(strings.NewReader(string(text)))
		in.Buffer(nil, len(text)+1)
		for in.Scan() {
			var c struct {
				ID, Area string
				Input    struct{ Perfdata string }
				Expect   expected
			}
			if err := json.Unmarshal(in.Bytes(), &c); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			if c.Area != "perfdata" {
				continue
			}
			ran++
			metrics, bad := perfdata.Parse(c.Input.Perfdata)
			got := make([]metric, len(metrics))
			for i, m := range metrics {
				got[i] = shape(m)
			}
			if !c.Expect.matches(got, len(bad) > 0) {
				t.Errorf("%s: got %+v, bad %q\nwant %s", c.ID, metrics, bad, in.Text())
			}
		}
	}
	t.Logf("%d cases", ran)
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, in string
		good     string // the metrics as they are written
		bad      []string
	}{
		{"a metric after a quote that never closes", "'a=1 b=2", "b=2", []string{"'a=1"}},
		{"a quoted label after a quote that never closes", "'a=1 'b c'=2", "'b c'=2", []string{"'a=1"}},
		{"a quoted label without a value", "'a b' c=1", "c=1", []string{"'a", "b'"}},
		{"a quote inside a bare label", "it's=5 a=1", "a=1", []string{"it's=5"}},
		{"no label", "=5 ''=6 a=1", "a=1", []string{"=5", "''=6"}},
		{"no value", "a= b=;1;2 c=1", "c=1", []string{"a=", "b=;1;2"}},
		{"a blank around the equals sign", "a =1 b= 2", "", []string{"a", "=1", "b=", "2"}},
		{"one field too many, but empty", "a=1;2;3;4;5;", "a=1;2;3;4;5", nil},
		{"one field too many", "a=1;2;3;4;5;6 b=2", "b=2", []string{"a=1;2;3;4;5;6"}},
		{"a bad quoted metric is reported whole", "'a b'=x c=1", "c=1", []string{"'a b'=x"}},
		{"units with signs", "a=1°C b=2m/s c=3m² d=4€ e=5‰", "a=1°C b=2m/s c=3m² d=4€ e=5‰", nil},
		{"what is no unit", "a=1.2.3 b=0x10 c=1,5 d=5-3 e=5m3 f=Us g=--1", "", []string{"a=1.2.3", "b=0x10", "c=1,5", "d=5-3", "e=5m3", "f=Us", "g=--1"}},
		{"fractions without a digit on one side", "a=.5 b=5.", "a=0.5 b=5", nil},
		{"limits must be numbers", "a=1;;;x b=1;;;;2s c=1;5%", "", []string{"a=1;;;x", "b=1;;;;2s", "c=1;5%"}},
		{"tabs and line feeds separate", "a=1\tb=2\nc=3", "a=1 b=2 c=3", nil},
		{"quotes only", "''''=1 '", "''''=1", []string{"'"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			metrics, bad := perfdata.Parse(c.in)
			var good []string
			for _, m := range metrics {
				good = append(good, m.String())
			}
			if got := strings.Join(good, " "); got != c.good || !reflect.DeepEqual(bad, c.bad) {
				t.Errorf("got %q, bad %q, want %q, bad %q", got, bad, c.good, c.bad)
			}
		})
	}
}

func TestParseReadsWhatStringWrites(t *testing.T) {
	number := rapid.Float64Range(-1e12, 1e12)
	rapid.Check(t, func(t *rapid.T) {
		m := perfdata.Metric{
			Label: rapid.StringOfN(rapid.SampledFrom([]rune("ab '=;|é")), 1, 8, -1).Draw(t, "label"),
			Value: number.Draw(t, "value"),
			UOM:   rapid.SampledFrom([]string{"", "s", "%", "c", "EB", "µs"}).Draw(t, "uom"),
		}
		if rapid.Bool().Draw(t, "unknown") {
			m.Value, m.UOM, m.Unknown = 0, "", true
		}
		if rapid.Bool().Draw(t, "warn") {
			m.Warn = &threshold.Range{Start: -1, End: number.Filter(func(v float64) bool { return v > 0 }).Draw(t, "end")}
		}
		if rapid.Bool().Draw(t, "max") {
			v := number.Draw(t, "max")
			m.Max = &v
		}
		metrics, bad := perfdata.Parse("x=1 " + m.String() + "  y=2;")
		if len(bad) > 0 || len(metrics) != 3 || !reflect.DeepEqual(metrics[1], m) {
			t.Fatalf("%+v became %q, then %+v, bad %q", m, m, metrics, bad)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a=1;2;3;4;5", "'it''s'=5%;@1:2", "'a=1 'b'=U", "=;;;'", "x=+2.5E-12EB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		metrics, bad := perfdata.Parse(s)
		for _, m := range metrics {
			again, wrong := perfdata.Parse(m.String())
			if len(wrong) > 0 || len(again) != 1 || !reflect.DeepEqual(again[0], m) {
				t.Errorf("%q: %+v became %q, then %+v, bad %q", s, m, m, again, wrong)
			}
			if utf8.ValidString(s) && !utf8.ValidString(m.Label+m.UOM) {
				t.Errorf("%q: not UTF-8: %+v", s, m)
			}
		}
		if len(metrics)+len(bad) == 0 && strings.Trim(s, " \t\r\n") != "" {
			t.Errorf("%q: got lost", s)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		perfdata.Parse("'p1 rx'=8820011c;;;0 load=0.5;5;10 free=41%;20:;10:;0;100")
	}
}
