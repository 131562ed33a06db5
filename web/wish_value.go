package web

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"jaque.sh/jaque/appliance/core/object"
)

const (
	longestComment = 4 << 10 // bytes
	longestAuthor  = 256     // bytes
	// farthest is how far ahead anything may be planned. What is later was not
	// meant, or a time in other units.
	farthest     = 20 * 366 * 24 * time.Hour
	writeSeconds = "a number of seconds"
	unsigned     = "api" // the author of what nobody signed
)

// author returns who asks.
func (w *wisher) author() (string, error) {
	name := strings.TrimSpace(w.q.Author)
	switch {
	case w.q.Author == "":
		return unsigned, nil
	case name == "":
		return "", badField("author", "author is blank; write a name, or leave it out")
	case len(name) > longestAuthor:
		return "", badField("author", "author has %d bytes; write at most %d", len(name), longestAuthor)
	case strings.ContainsFunc(name, unicode.IsControl):
		return "", badField("author", "author holds a line break or another control character; write a name on one line")
	}
	return name, nil
}

// comment returns the text that goes with a command.
func (w *wisher) comment() (string, error) {
	text := strings.TrimSpace(w.q.Comment)
	switch {
	case text == "":
		return "", badField("comment", "comment is missing; write why, for those who read it later")
	case len(text) > longestComment:
		return "", badField("comment", "comment has %d bytes (%d characters); write at most %d bytes", len(text), utf8.RuneCountInString(text), longestComment)
	}
	return text, nil
}

// signed returns author and comment of a command that needs both.
func (w *wisher) signed() (author, comment string, err error) {
	if author, err = w.author(); err != nil {
		return "", "", err
	}
	comment, err = w.comment()
	return author, comment, err
}

// instant reads a time of the request; 0 = not given.
func (w *wisher) instant(field, text string) (object.Time, error) {
	if text == "" {
		return 0, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	switch {
	case err != nil:
		return 0, badField(field, "%s is %q%s", field, short(text), insteadOf(text))
	case t.UnixMilli() <= 0:
		return 0, badField(field, "%s is %q; write a time after 1970-01-01T00:00:00Z", field, text)
	case t.Sub(w.now.Std()) > farthest:
		return 0, badField(field, "%s is %q, more than 20 years ahead; write an earlier time", field, text)
	}
	return object.At(t), nil
}

// insteadOf says what to write instead of a text that is no time: the time that
// was meant, if that can be told.
func insteadOf(text string) string {
	if _, err := strconv.ParseFloat(text, 64); err == nil && strings.Trim(text, "-.0123456789") == "" {
		seconds, _ := strconv.ParseFloat(inSeconds(text), 64) // it is a number
		t := time.UnixMilli(int64(seconds * 1000)).UTC().Format(time.RFC3339Nano)
		return ", a number since 1970; write it as a time, which would be " + t
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return ", which has no time zone; write " + t.Format(time.RFC3339Nano) + " if it is UTC"
		}
	}
	return "; write " + writeTime
}

// later reads a time that must not have passed; 0 = not given.
func (w *wisher) later(field, text string) (object.Time, error) {
	t, err := w.instant(field, text)
	if err == nil && t != 0 && t <= w.now {
		return 0, badField(field, "%s is %q, which has passed; write a time that comes", field, text)
	}
	return t, err
}

// length reads seconds as milliseconds; 0 = not given. Forms may also write
// units, as in 1h30m.
func (w *wisher) length(field string, number json.Number) (object.Time, error) {
	text := string(number)
	if text == "" {
		return 0, nil
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if strings.Trim(text, "+-.eE0123456789") != "" {
		var d time.Duration
		d, err = time.ParseDuration(text)
		seconds = d.Seconds()
	}
	switch {
	case seconds > farthest.Seconds():
		return 0, badField(field, "%s is %s, more than 20 years; write fewer seconds", field, short(text))
	case err != nil:
		return 0, badField(field, "%s is %q; write %s", field, short(text), writeSeconds)
	case seconds < 0.001:
		return 0, badField(field, "%s is %s; write a number of seconds above 0", field, short(text))
	}
	return object.Time(seconds * 1000), nil
}

// confirmed reads the number that a command is confirmed with, -1 = none.
func (q *request) confirmed() (int, error) {
	if q.Confirm == "" {
		return -1, nil
	}
	n, err := strconv.Atoi(string(q.Confirm))
	if err != nil || n < 0 {
		return 0, badField("confirm", "confirm is %s; write the number of objects, as the preview counts them", short(string(q.Confirm)))
	}
	return n, nil
}

// stateOf reads the state of a submitted result.
func (q *request) stateOf(k object.Kind) (object.State, error) {
	names := []string{"OK", "WARNING", "CRITICAL", "UNKNOWN"}
	if k == object.Host {
		names = []string{"UP", "DOWN", "UNREACHABLE"}
	}
	var name string
	var code int
	switch {
	case json.Unmarshal(q.State, &name) == nil:
		if state, err := object.ParseState(k, strings.ToUpper(name)); err == nil {
			return state, nil
		}
	case json.Unmarshal(q.State, &code) == nil && code >= 0 && code < len(names):
		return object.State(code), nil
	}
	f := badField("state", "state is %s; write one of %s", orMissing(q.State), strings.Join(names, ", "))
	f.Known = names
	return 0, f
}

func orMissing(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "missing"
	}
	return short(string(raw))
}
