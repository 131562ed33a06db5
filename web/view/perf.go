package view

import (
	"math"
	"strconv"

	"jaque.sh/jaque/appliance/rule/perfdata"
	"jaque.sh/jaque/appliance/rule/threshold"
)

// Perf is one value of performance data. Bars are 1000 wide.
type Perf struct {
	Label string
	Value string // with its unit
	Warn  string
	Crit  string
	Bar   bool // the value's place between its bounds is known
	Width int
	WarnX int // place of a threshold in the bar, -1 = none
	CritX int
	Tone  string
}

// NewPerf reads performance data as checks write it; what cannot be read is
// left out, the raw text is shown beside it anyway.
func NewPerf(text string) []Perf {
	metrics, _ := perfdata.Parse(text)
	out := make([]Perf, 0, len(metrics))
	for i := range metrics {
		out = append(out, newPerf(&metrics[i]))
	}
	return out
}

func newPerf(m *perfdata.Metric) Perf {
	p := Perf{Label: m.Label, Value: "not known", Warn: written(m.Warn, m.UOM), Crit: written(m.Crit, m.UOM), WarnX: -1, CritX: -1, Tone: "ok"}
	if m.Unknown {
		p.Tone = "unknown"
		return p
	}
	p.Value = figure(m.Value, m.UOM)
	switch {
	case m.Crit != nil && m.Crit.Alert(m.Value):
		p.Tone = "crit"
	case m.Warn != nil && m.Warn.Alert(m.Value):
		p.Tone = "warn"
	}
	warn, hasWarn := upper(m.Warn)
	crit, hasCrit := upper(m.Crit)
	low, high := 0.0, math.Inf(1)
	if m.Min != nil {
		low = *m.Min
	}
	switch {
	case m.Max != nil:
		high = *m.Max
	case m.UOM == "%":
		high = 100
	case hasCrit:
		high = max(crit*1.25, m.Value)
	}
	if math.IsInf(high, 1) || high <= low {
		return p
	}
	at := func(v float64) int { return int(1000 * min(1, max(0, (v-low)/(high-low)))) }
	p.Bar, p.Width = true, at(m.Value)
	if hasWarn {
		p.WarnX = at(warn)
	}
	if hasCrit {
		p.CritX = at(crit)
	}
	return p
}

// written says what a threshold alerts on, in the unit of the value; a plain
// number is the most that is fine.
func written(r *threshold.Range, unit string) string {
	if r == nil {
		return ""
	}
	low, high := figure(r.Start, unit), figure(r.End, unit)
	fromStart, toEnd := math.IsInf(r.Start, -1), math.IsInf(r.End, 1)
	words := "outside " + low + " to " + high
	switch {
	case r.Inside && fromStart && toEnd:
		words = "always"
	case r.Inside && fromStart:
		words = "up to " + high
	case r.Inside && toEnd:
		words = "from " + low
	case r.Inside:
		words = low + " to " + high
	case fromStart && toEnd:
		words = "never"
	case fromStart:
		words = "above " + high
	case toEnd:
		words = "below " + low
	case r.Start == 0:
		words = high
	}
	return words
}

// upper returns the bound of a range that has nothing but an upper one; others
// have no single place in a bar.
func upper(r *threshold.Range) (float64, bool) {
	if r == nil || r.Inside || r.Start > 0 || math.IsInf(r.End, 0) {
		return 0, false
	}
	return r.End, true
}

// figure writes a value the way a person reads it.
func figure(v float64, unit string) string {
	scale := func(units []string, step float64) string {
		n := 0
		for math.Abs(v) >= step && n < len(units)-1 {
			v, n = v/step, n+1
		}
		return strconv.FormatFloat(v, 'g', 4, 64) + " " + units[n]
	}
	switch unit {
	case "B":
		return scale([]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}, 1024)
	case "KB":
		return scale([]string{"KiB", "MiB", "GiB", "TiB", "PiB"}, 1024)
	case "MB":
		return scale([]string{"MiB", "GiB", "TiB", "PiB"}, 1024)
	case "s":
		if v != 0 && math.Abs(v) < 1 {
			v *= 1e6
			return scale([]string{"µs", "ms"}, 1000)
		}
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if len(s) > 10 {
		s = strconv.FormatFloat(v, 'g', 6, 64)
	}
	if unit == "" {
		return s
	}
	return s + " " + unit
}
