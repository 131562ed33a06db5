package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// columns are who stands in the table, from the floor to us.
var columns = []string{"floor", "nagios4", "icinga2", "jaque"}

// must is what the budget asks of jaque: at most (or, for rates, at least) this
// ratio to the best peer (peer) or to the floor, or this figure itself.
var must = map[string]string{
	"A engine + plugin":        "≤ 0.75 × nagios4, ≤ 1.40 × floor",
	"A engine alone":           "≤ 0.65 × nagios4",
	"A sustained":              "≥ 1.4 × nagios4",
	"A lateness p99":           "≤ 20 ms at half load",
	"A mean period error":      "≤ 0.1 %",
	"C memory, 1000":           "≤ 66 MiB",
	"C memory, 10000":          "≤ 84 MiB",
	"C memory, 100000":         "≤ 260 MiB",
	"D validate, 100000":       "≤ 1.0 CPU s",
	"D first check, 100000":    "≤ 2.5 s",
	"D restarted, 100000":      "≤ 2.5 s",
	"D reload silence, 100000": "nothing delayed by more than 50 ms",
	"H tcp":                    "≤ 0.28, ≤ 2.6 × floor",
	"H http":                   "≤ 0.60, ≤ 1.7 × floor",
}

// figure is one line of the table.
type figure struct {
	row, what, unit string
	must            string
	higher          bool // more is better
	cells           map[string]float64
}

// table collects figures in the order they are first named.
type table struct{ figures []*figure }

// put enters one cell. key finds the budget; what is the text people read.
func (t *table) put(row, key, what, unit, who string, value float64) *figure {
	for _, f := range t.figures {
		if f.row == row && f.what == what {
			f.cells[who] = value
			return f
		}
	}
	f := &figure{row: row, what: what, unit: unit, must: must[key], cells: map[string]float64{who: value}}
	t.figures = append(t.figures, f)
	return f
}

// best is the best peer's figure.
func (f *figure) best() (float64, bool) {
	var peers []float64
	for _, who := range []string{"nagios4", "icinga2"} {
		if v, ok := f.cells[who]; ok {
			peers = append(peers, v)
		}
	}
	switch {
	case len(peers) == 0:
		return 0, false
	case f.higher:
		return slices.Max(peers), true
	}
	return slices.Min(peers), true
}

// ratio is ours to another figure, as text.
func ratio(ours float64, have bool, other float64, known bool) string {
	if !have || !known || other == 0 {
		return ""
	}
	return strconv.FormatFloat(ours/other, 'f', 2, 64)
}

// number prints a figure with three digits.
func number(v float64) string {
	switch a := max(v, -v); {
	case a >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// markdown prints the table under a line about the machine.
func (t *table) markdown(machine string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n| row | figure | unit | %s | jaque ÷ best peer | jaque ÷ floor | must |\n", machine, strings.Join(columns, " | "))
	fmt.Fprintf(&b, "|---|---|---|%s---:|---:|---|\n", strings.Repeat("---:|", len(columns)))
	for _, f := range t.figures {
		fmt.Fprintf(&b, "| %s | %s | %s |", f.row, f.what, f.unit)
		for _, who := range columns {
			switch v, ok := f.cells[who]; {
			case ok:
				fmt.Fprintf(&b, " %s |", number(v))
			case who == "floor":
				b.WriteString(" |")
			default:
				b.WriteString(" not measured |")
			}
		}
		ours, have := f.cells["jaque"]
		best, known := f.best()
		floor, under := f.cells["floor"]
		fmt.Fprintf(&b, " %s | %s | %s |\n", ratio(ours, have, best, known), ratio(ours, have, floor, under), f.must)
	}
	return b.String()
}

// machine describes where and when the figures were taken.
func (b *bench) machine() string {
	parts := []string{time.Now().UTC().Format(time.DateOnly), fmt.Sprintf("%d cores", runtime.NumCPU()), runtime.Version()}
	if out, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		parts = append(parts, "Linux "+strings.TrimSpace(string(out)))
	}
	versions := map[string]string{}
	for name, pkg := range map[string]string{"nagios4": "nagios4-core", "icinga2": "icinga2-bin"} {
		if out, err := exec.Command("dpkg-query", "-W", "-f", "${Version}", pkg).Output(); err == nil && len(out) > 0 {
			versions[name] = name + " " + string(out)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		parts = append(parts, versions[name])
	}
	return "Taken " + strings.Join(parts, ", ") + "."
}

// The markers between which a file holds the table.
const (
	tableBegin = "<!-- table: written by make bench -->"
	tableEnd   = "<!-- end of table -->"
)

// replaceTable puts the table into a file between its markers.
func replaceTable(name, text string) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	before, rest, ok1 := strings.Cut(string(b), tableBegin)
	_, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok1 || !ok2 {
		return fmt.Errorf("%s has no lines %q and %q to put the table between", name, tableBegin, tableEnd)
	}
	return os.WriteFile(name, []byte(before+tableBegin+"\n"+text+tableEnd+after), 0o644)
}
