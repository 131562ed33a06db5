package view

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"jaque.sh/jaque/appliance/core/object"
)

// When is an instant for people and machines. The zero When is never.
type When struct {
	Machine string // RFC 3339, "" = never
	Text    string // date and time in UTC
	Ago     string // distance from now, without direction
	Rel     string // distance with direction: "3 min ago", "in 40 s"
}

// NewWhen returns an instant as seen from now.
func NewWhen(t object.Time, now time.Time) When {
	if t == 0 {
		return When{Text: "never", Ago: "never", Rel: "never"}
	}
	std := t.Std()
	w := When{Machine: std.Format(time.RFC3339), Text: std.Format("2006-01-02 15:04:05 UTC")}
	if d := now.Sub(std); d < 0 {
		w.Ago = Span(-d)
		w.Rel = "in " + w.Ago
	} else {
		w.Ago = Span(d)
		w.Rel = w.Ago + " ago"
	}
	return w
}

// Span writes a duration with its two largest units: "45 s", "3 min", "2 h 5 min".
func Span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 24*time.Hour:
		return pair(int(d.Hours()), "h", int(d.Minutes())%60, "min")
	}
	return pair(int(d.Hours())/24, "d", int(d.Hours())%24, "h")
}

// Length writes how long something took that is over: as Span, but a few minutes to
// the second.
func Length(d time.Duration) string {
	if d < time.Minute || d >= time.Hour {
		return Span(d)
	}
	return pair(int(d.Minutes()), "min", int(d.Seconds())%60, "s")
}

func pair(a int, au string, b int, bu string) string {
	if b == 0 {
		return fmt.Sprintf("%d %s", a, au)
	}
	return fmt.Sprintf("%d %s %d %s", a, au, b, bu)
}

// Micros writes microseconds as a short duration.
func Micros(us int64) string {
	switch {
	case us == 0:
		return "0 ms"
	case us < 1000:
		return fmt.Sprintf("%d µs", us)
	case us < 1_000_000:
		return fmt.Sprintf("%.3g ms", float64(us)/1e3)
	}
	return fmt.Sprintf("%.3g s", float64(us)/1e6)
}

// Number writes an integer with thin groups of three digits.
func Number(n int) string {
	s := strconv.Itoa(n)
	var b strings.Builder
	for i, c := range s {
		if left := len(s) - i; i > 0 && left%3 == 0 && s[i-1] != '-' {
			b.WriteRune('\u202f')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// Count writes a number with its noun.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Number(n) + " " + many
}

// mostText is how many characters of an output a page shows at once, fewText how
// many remain of a longer one.
const (
	mostText = 600
	fewText  = 300
)

// Clipped returns how a text begins that is too long to be shown at once, "" for one
// that is not.
func Clipped(text string) string {
	if len(text) <= mostText || utf8.RuneCountInString(text) <= mostText {
		return ""
	}
	n := 0
	for i := range text {
		if n++; n > fewText {
			return text[:i] + "…"
		}
	}
	return ""
}

// URL returns the page of an object.
func URL(id object.ID) string {
	if id.Kind() == object.Host {
		return "/hosts/" + url.PathEscape(id.Host())
	}
	return "/services/" + url.PathEscape(id.Host()) + "/" + url.PathEscape(id.Service())
}

// ListURL returns the list of a kind narrowed by a filter.
func ListURL(k object.Kind, filter string) string {
	u := "/" + k.String() + "s"
	if filter == "" {
		return u
	}
	return u + "?" + url.Values{"filter": {filter}}.Encode()
}

// Sentence begins a sentence with a capital and ends it; one that begins with a name
// keeps it as it is.
func Sentence(text string, names ...string) string {
	if text == "" {
		return ""
	}
	word, _, _ := strings.Cut(text, " ")
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyz,;") == "" && !slices.Contains(names, word) {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	if strings.ContainsAny(text[len(text)-1:], ".!?") {
		return text
	}
	return text + "."
}

// first returns the first non-empty text.
func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
