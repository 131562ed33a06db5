package client

import (
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// table is rows of text for a terminal; empty columns are left out.
type table struct {
	head []string
	rows [][]string
}

func (t *table) add(cells ...string) {
	for i, c := range cells {
		cells[i] = strings.TrimSpace(printable(c))
	}
	t.rows = append(t.rows, cells)
}

// printable puts blanks in the place of control characters, so that what somebody
// wrote somewhere cannot steer the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}

func (t *table) write(w io.Writer) error {
	widths := make([]int, len(t.head))
	for _, row := range t.rows {
		for i, c := range row {
			if c != "" {
				widths[i] = max(widths[i], utf8.RuneCountInString(c), len(t.head[i]))
			}
		}
	}
	var b strings.Builder
	for _, row := range append([][]string{t.head}, t.rows...) {
		line := ""
		for i, c := range row {
			if widths[i] > 0 {
				line += c + strings.Repeat(" ", widths[i]-min(widths[i], utf8.RuneCountInString(c))+2)
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if len(t.rows) == 0 {
		return nil
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// times writes the next times of a recurring downtime.
func times(b *strings.Builder, all []occurrence, zone string) {
	if len(all) == 0 {
		return
	}
	t := table{head: []string{"STARTS (UTC)", "STARTS (" + first(zone, "local") + ")", "ENDS (" + first(zone, "local") + ")", "LASTS", "CLOCKS"}}
	for _, o := range all {
		t.add(utc(o.Start), local(o.LocalStart), local(o.LocalEnd), (time.Duration(o.Length) * time.Second).String(), o.DST)
	}
	_ = t.write(b) // a Builder takes everything
}

// utc is a time of the API in UTC, to the second.
func utc(s string) string {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.UTC().Format("2006-01-02 15:04:05")
	}
	return s
}

// local is a time on the clock it came with.
func local(s string) string {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.Format("Mon 2006-01-02 15:04 -07:00")
	}
	return s
}
