package view

import (
	"math"
	"strconv"
	"strings"
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
	var out []Perf
	for text = strings.TrimLeft(text, " "); text != ""; text = strings.TrimLeft(text, " ") {
		label, rest, ok := perfLabel(text)
		if !ok {
			return out
		}
		value, after, _ := strings.Cut(rest, " ")
		text = after
		if p, ok := newPerf(label, value); ok {
			out = append(out, p)
		}
	}
	return out
}

// perfLabel takes the label and the "=" off the text. A quoted label writes a
// quote in it twice.
func perfLabel(text string) (label, rest string, ok bool) {
	if text[0] != '\'' {
		return strings.Cut(text, "=")
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		if text[i] != '\'' {
			b.WriteByte(text[i])
			continue
		}
		if strings.HasPrefix(text[i:], "''") {
			b.WriteByte('\'')
			i++
			continue
		}
		rest, ok = strings.CutPrefix(text[i+1:], "=")
		return b.String(), rest, ok
	}
	return "", "", false
}

func newPerf(label, text string) (Perf, bool) {
	parts := append(strings.Split(text, ";"), "", "", "", "")
	digits := strings.IndexFunc(parts[0], func(r rune) bool { return !strings.ContainsRune("0123456789+-.eE", r) })
	if digits < 0 {
		digits = len(parts[0])
	}
	value, err := strconv.ParseFloat(parts[0][:digits], 64)
	if err != nil || label == "" || math.IsInf(value, 0) || math.IsNaN(value) {
		return Perf{}, false
	}
	unit := parts[0][digits:]
	p := Perf{Label: label, Value: figure(value, unit), Warn: parts[1], Crit: parts[2], WarnX: -1, CritX: -1, Tone: "ok"}
	warn, hasWarn := upper(parts[1])
	crit, hasCrit := upper(parts[2])
	low, _ := upper(parts[3])
	high, hasHigh := upper(parts[4])
	if !hasHigh && unit == "%" {
		high, hasHigh = 100, true
	}
	if !hasHigh && hasCrit {
		high, hasHigh = max(crit*1.25, value), true
	}
	switch {
	case hasCrit && value > crit:
		p.Tone = "crit"
	case hasWarn && value > warn:
		p.Tone = "warn"
	}
	if !hasHigh || high <= low {
		return p, true
	}
	at := func(v float64) int { return int(1000 * min(1, max(0, (v-low)/(high-low)))) }
	p.Bar, p.Width = true, at(value)
	if hasWarn {
		p.WarnX = at(warn)
	}
	if hasCrit {
		p.CritX = at(crit)
	}
	return p, true
}

// upper reads a plain upper bound; other ranges have no single place in a bar.
func upper(s string) (float64, bool) {
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
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
