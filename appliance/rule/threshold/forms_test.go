package threshold_test

import (
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/rule/threshold"
)

// TestFormsOfRanges takes every form that [@][start:][end] allows and asks at
// the ends and on either side of them.
func TestFormsOfRanges(t *testing.T) {
	for _, c := range []struct {
		name, in string
		alerts   []float64
		quiet    []float64
	}{
		{"a missing start is zero", ":10", []float64{-0.1, 10.1}, []float64{0, 10}},
		{"zero to infinity", "0:", []float64{-1e-9}, []float64{0, 1e300}},
		{"everything is fine", "~:", nil, []float64{-1e300, 0, 1e300}},
		{"a range of one value", "5:5", []float64{4.999, 5.001}, []float64{5}},
		{"inside a range of one value", "@5:5", []float64{5}, []float64{4.999, 5.001}},
		{"inside, with a missing start", "@:10", []float64{0, 10}, []float64{-0.1, 10.1}},
		{"inside, with a missing end", "@10:", []float64{10, 1e300}, []float64{9.99}},
		{"inside a plain zero", "@0", []float64{0}, []float64{-0.001, 0.001}},
		{"minus zero is zero", "-0", []float64{-1, 1}, []float64{0}},
		{"from minus zero", "-0:5", []float64{-0.5, 5.5}, []float64{0, 5}},
		{"a negative end below infinity", "~:-5", []float64{-4.9, 0}, []float64{-5, -1e300}},
		{"exponents with signs", "1e-3:1E+3", []float64{0.0009, 1000.1}, []float64{0.001, 1000}},
		{"a negative number with an exponent", "-1.5e2:", []float64{-150.1}, []float64{-150, 0}},
		{"a fraction without digits before the dot", ".5:1.5", []float64{0.4, 1.6}, []float64{0.5, 1.5}},
		{"a dot without digits behind it", "1.:2.", []float64{0.9, 2.1}, []float64{1, 2}},
		{"leading zeros", "007", []float64{7.5}, []float64{7}},
		{"a plus sign", "+1:+2", []float64{0.9, 2.1}, []float64{1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := threshold.Parse(c.in)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range c.alerts {
				if !r.Alert(v) {
					t.Errorf("%s is quiet about %v", c.in, v)
				}
			}
			for _, v := range c.quiet {
				if r.Alert(v) {
					t.Errorf("%s alerts at %v", c.in, v)
				}
			}
		})
	}
}

// TestWhatIsNoRange wants an error for each, because a threshold that is read
// as something else watches for the wrong thing without anyone noticing.
func TestWhatIsNoRange(t *testing.T) {
	for _, c := range []struct{ in, says string }{
		{"", "empty"},
		{"@", "empty"},
		{":", "empty"},
		{"@:", "empty"},
		{"10:5", "smaller number first"},
		{"@10:5", "smaller number first"},
		{"-1", "smaller number first"},
		{"1:-1", "smaller number first"},
		{"~", `"~" is no number`},
		{"~10", `"~10" is no number`},
		{"10:~", `"~" is no number`},
		{"~:~", `"~" is no number`},
		{"@@10", `"@10" is no number`},
		{"10@", "no number"},
		{"1:2:3", "no number"},
		{"::", "no number"},
		{" 10", "no number"},
		{"10 ", "no number"},
		{"10: 20", "no number"},
		{"@ 10", "no number"},
		{"10,5", "no number"},
		{"10%", "no number"},
		{"1e", "no number"},
		{"1e+", "no number"},
		{"e5", "no number"},
		{".", "no number"},
		{"-", "no number"},
		{"+-1", "no number"},
		{"--1:", "no number"},
		{"1.2.3", "no number"},
		{"0x10", "no number"},
		{"1_000", "no number"},
		{"inf", "no number"},
		{"nan", "no number"},
		{"1e999", "too large"},
		{"10:20x", "no number"},
		{"\t10", "no number"},
		{"１０", "no number"},
	} {
		r, err := threshold.Parse(c.in)
		if err == nil {
			t.Errorf("%q was read as %s", c.in, r)
			continue
		}
		if !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "parse range") {
			t.Errorf("%q: %v; want a text with %q", c.in, err, c.says)
		}
	}
}

// TestNumberPrefix shows where a number ends and its unit begins.
func TestNumberPrefix(t *testing.T) {
	for in, want := range map[string]int{
		"12ms": 2, "1.5e3B": 5, "3EB": 1, "3e": 1, "4e+": 1, "-.5x": 3, "5.": 2, ".": 0, "-": 0, "": 0,
		"x1": 0, "1,5": 1, "1.2.3": 3, "+2E-4EB": 5, "7%": 1, "- 1": 0,
	} {
		if got := threshold.NumberPrefix(in); got != want {
			t.Errorf("%q: %d, want %d", in, got, want)
		}
	}
}
