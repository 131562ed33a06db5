package threshold_test

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/rule/threshold"
	"pgregory.net/rapid"
)

type expected struct {
	Alerts      []bool
	Error       bool
	Alternative []expected `json:"any_of"`
}

func (e expected) matches(text string, values []float64) bool {
	if len(e.Alternative) > 0 {
		for _, a := range e.Alternative {
			if a.matches(text, values) {
				return true
			}
		}
		return false
	}
	r, err := threshold.Parse(text)
	if err != nil || e.Error {
		return err != nil && e.Error
	}
	for i, v := range values {
		if r.Alert(v) != e.Alerts[i] {
			return false
		}
	}
	return true
}

func TestCasesOfThresholds(t *testing.T) {
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
				Input    struct {
					Range  string
					Values []float64
				}
				Expect expected
			}
			if err := json.Unmarshal(in.Bytes(), &c); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			if c.Area != "thresholds" {
				continue
			}
			ran++
			if !c.Expect.matches(c.Input.Range, c.Input.Values) {
				r, err := threshold.Parse(c.Input.Range)
				t.Errorf("%s: got %+v, %v\nwant %s", c.ID, r, err, in.Text())
			}
		}
	}
	t.Logf("%d cases", ran)
}

func TestParse(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		in   string
		want threshold.Range
	}{
		{"10", threshold.Range{End: 10}},
		{":10", threshold.Range{End: 10}},
		{"10:", threshold.Range{Start: 10, End: inf}},
		{"~:", threshold.Range{Start: -inf, End: inf}},
		{"@~:-3", threshold.Range{Start: -inf, End: -3, Inside: true}},
		{".5:1.", threshold.Range{Start: .5, End: 1}},
		{"+1:+2", threshold.Range{Start: 1, End: 2}},
		{"5:5", threshold.Range{Start: 5, End: 5}},
		{"-1e-3:1E+3", threshold.Range{Start: -.001, End: 1000}},
	} {
		t.Run(c.in, func(t *testing.T) {
			if got, err := threshold.Parse(c.in); err != nil || got != c.want {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

func TestWhatIsNoRangeSaysWhatToWrite(t *testing.T) {
	for in, says := range map[string]string{
		"": "write a range", "@": "write a range", ":": "write a range", "@:": "write a range",
		"~": "no number", "10:~": "no number", "~10": "no number", "@@5": "no number", "1,5": "no number",
		" 10": "no number", "10 ": "no number", "1:2:3": "no number", "inf": "no number", "nan": "no number",
		"0x10": "no number", "1_000": "no number", "1e": "no number", ".": "no number", "-": "no number",
		"5%": "no number", "2:1": "smaller number first", "-1": "smaller number first", "1e999": "too large",
	} {
		if r, err := threshold.Parse(in); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %+v, %v, want %q", in, r, err, says)
		}
	}
}

func TestAValueThatIsNoNumberIsOutside(t *testing.T) {
	if !(threshold.Range{End: 1}).Alert(math.NaN()) || (threshold.Range{End: 1, Inside: true}).Alert(math.NaN()) {
		t.Error("NaN counts as inside")
	}
}

func TestParseReadsWhatStringWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Float64Range(-1e9, 1e9), rapid.SampledFrom([]float64{0, 1, -1, 10}))
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		r := threshold.Range{Start: min(a, b), End: max(a, b), Inside: rapid.Bool().Draw(t, "inside")}
		if rapid.Bool().Draw(t, "open below") {
			r.Start = math.Inf(-1)
		}
		if rapid.Bool().Draw(t, "open above") {
			r.End = math.Inf(1)
		}
		got, err := threshold.Parse(r.String())
		if err != nil || got != r {
			t.Fatalf("%+v became %q, then %+v, %v", r, r, got, err)
		}
		v := number.Draw(t, "value")
		other := r
		other.Inside = !r.Inside
		if r.Alert(v) == other.Alert(v) {
			t.Fatalf("%v and its opposite agree on %v", r, v)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"10", "@~:5", "1e3:", "-5:5.5", ":", "1.2.3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := threshold.Parse(s)
		if err != nil {
			return
		}
		if again, err := threshold.Parse(r.String()); err != nil || again != r {
			t.Errorf("%q: %+v became %q, then %+v, %v", s, r, r, again, err)
		}
	})
}
