package web

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/operate"
)

// request is one command as a body or a form gives it. Texts, times and lengths
// stay as they were written until wish reads them; nil and "" are not given.
type request struct {
	Command string

	// The target: exactly one of these. Scope widens Object and Objects, Kind
	// narrows Group and Filter.
	Object  object.ID
	Objects []string
	Group   string
	Filter  string
	Program *bool
	Contact string
	Kind    string
	Scope   string

	Author  string
	Comment string
	Preview *bool
	Confirm json.Number

	Sticky, Notify, Persistent   *bool
	Forced, Broadcast, Increment *bool

	Expires, Start, End, At, Time string      // RFC 3339
	Duration, Flexible            json.Number // seconds
	Ranges                        []string
	Timezone                      string
	Trigger, ID                   string

	What           []string
	Setting        string
	Value          *string
	State          json.RawMessage // submit-result: name or plugin exit code
	Output         string
	Long, Perfdata string

	given  []string          // names of the fields in the order they came in
	places map[string]string // where in the body each of them is

	content [sha256.Size]byte // of the body
	missing []operate.Result  // named objects that are not there, as refused
}

// field is one field of a request: where it is kept. Exactly one of the
// functions is set and says what the field is.
type field struct {
	name   string
	write  string // what to write if it is something else; "" = by its type
	text   func(*request) *string
	list   func(*request) *[]string
	flag   func(*request) **bool
	number func(*request) *json.Number
	state  bool // a text or a number
	value  bool // a text or a number, which may be empty
}

const writeTime = "a time as in 2026-01-31T08:00:00Z"

// fields are the fields of a command in the order in which they are told;
// constant.
var requestFields = []field{
	{name: "command", text: func(q *request) *string { return &q.Command }},
	{name: "object", text: func(q *request) *string { return (*string)(&q.Object) }},
	{name: "objects", list: func(q *request) *[]string { return &q.Objects }},
	{name: "group", text: func(q *request) *string { return &q.Group }},
	{name: "filter", text: func(q *request) *string { return &q.Filter }},
	{name: "program", flag: func(q *request) **bool { return &q.Program }},
	{name: "contact", text: func(q *request) *string { return &q.Contact }},
	{name: "kind", text: func(q *request) *string { return &q.Kind }},
	{name: "scope", text: func(q *request) *string { return &q.Scope }},
	{name: "author", text: func(q *request) *string { return &q.Author }},
	{name: "comment", text: func(q *request) *string { return &q.Comment }},
	{name: "preview", flag: func(q *request) **bool { return &q.Preview }},
	{name: "confirm", number: func(q *request) *json.Number { return &q.Confirm }},
	{name: "sticky", flag: func(q *request) **bool { return &q.Sticky }},
	{name: "notify", flag: func(q *request) **bool { return &q.Notify }},
	{name: "persistent", flag: func(q *request) **bool { return &q.Persistent }},
	{name: "expires", write: writeTime, text: func(q *request) *string { return &q.Expires }},
	{name: "start", write: writeTime, text: func(q *request) *string { return &q.Start }},
	{name: "end", write: writeTime, text: func(q *request) *string { return &q.End }},
	{name: "duration", write: writeSeconds, number: func(q *request) *json.Number { return &q.Duration }},
	{name: "flexible", write: writeSeconds, number: func(q *request) *json.Number { return &q.Flexible }},
	{name: "trigger", text: func(q *request) *string { return &q.Trigger }},
	{name: "ranges", list: func(q *request) *[]string { return &q.Ranges }},
	{name: "timezone", text: func(q *request) *string { return &q.Timezone }},
	{name: "id", text: func(q *request) *string { return &q.ID }},
	{name: "what", list: func(q *request) *[]string { return &q.What }},
	{name: "setting", text: func(q *request) *string { return &q.Setting }},
	{name: "value", value: true},
	{name: "at", write: writeTime, text: func(q *request) *string { return &q.At }},
	{name: "forced", flag: func(q *request) **bool { return &q.Forced }},
	{name: "broadcast", flag: func(q *request) **bool { return &q.Broadcast }},
	{name: "increment", flag: func(q *request) **bool { return &q.Increment }},
	{name: "state", state: true},
	{name: "output", text: func(q *request) *string { return &q.Output }},
	{name: "long_output", text: func(q *request) *string { return &q.Long }},
	{name: "perfdata", text: func(q *request) *string { return &q.Perfdata }},
	{name: "time", write: writeTime, text: func(q *request) *string { return &q.Time }},
}

func fieldNames() []string {
	names := make([]string, len(requestFields))
	for i, f := range requestFields {
		names[i] = f.name
	}
	return names
}

// expected says what belongs into a field.
func (f *field) expected() string {
	switch {
	case f.write != "":
		return f.write
	case f.list != nil:
		return "a list of strings"
	case f.flag != nil:
		return "true or false"
	case f.number != nil:
		return "a number"
	}
	return "a string"
}

// set takes one field of a body and tells whether its type fits. null is the
// same as a field that is left out.
func (f *field) set(q *request, value json.RawMessage) bool {
	kind := kindOf(value)
	switch {
	case kind == "null":
		return true
	case f.state:
		q.State = value
		return true
	case f.value && kind == "a number":
		text := string(value)
		q.Value = &text
		return true
	case f.value:
		q.Value = new(string)
		return kind == "a string" && json.Unmarshal(value, q.Value) == nil
	case f.list != nil && kind == "a string":
		*f.list(q) = make([]string, 1)
		return json.Unmarshal(value, &(*f.list(q))[0]) == nil
	case f.list != nil:
		return kind == "a list" && json.Unmarshal(value, f.list(q)) == nil
	case f.flag != nil:
		return kind == "true or false" && json.Unmarshal(value, f.flag(q)) == nil
	case f.number != nil:
		*f.number(q) = json.Number(value)
		return kind == "a number"
	}
	return kind == "a string" && json.Unmarshal(value, f.text(q)) == nil
}

// requestFromForm reads a command from the values of a form; names are those of
// the body. Of several values of one name the last counts, so that a hidden
// "false" can stand before a checkbox; lists take all of them and every line.
// An empty value is one that is not given, except in value. Times without a
// zone are UTC. Names of no field are left to the caller.
func requestFromForm(v url.Values) (request, error) {
	var q request
	for i := range requestFields {
		f := &requestFields[i]
		values, ok := v[f.name]
		if !ok || len(values) == 0 {
			continue
		}
		last := strings.ToValidUTF8(values[len(values)-1], "\ufffd")
		if last == "" && !f.value && f.list == nil {
			continue
		}
		if !f.fromForm(&q, values, last) {
			return q, badField(f.name, "%s is %q; write %s", f.name, last, f.expected())
		}
		if f.list == nil || len(*f.list(&q)) > 0 {
			q.given = append(q.given, f.name)
		}
	}
	return q, nil
}

func (f *field) fromForm(q *request, values []string, last string) bool {
	switch {
	case f.state:
		q.State = json.RawMessage(last)
		if strings.Trim(last, "0123456789") != "" {
			q.State, _ = json.Marshal(last) // a text has JSON
		}
	case f.value:
		q.Value = &last
	case f.list != nil:
		for _, text := range values {
			for line := range strings.Lines(strings.ToValidUTF8(text, "\ufffd")) {
				if line = strings.TrimSpace(line); line != "" {
					*f.list(q) = append(*f.list(q), line)
				}
			}
		}
	case f.flag != nil:
		yes := slices.Contains([]string{"true", "on", "1"}, last)
		*f.flag(q) = &yes
		return yes || slices.Contains([]string{"false", "off", "0"}, last)
	case f.number != nil:
		*f.number(q) = json.Number(strings.TrimSpace(last))
	default:
		*f.text(q) = last
		if f.write == writeTime {
			*f.text(q) = zoned(last)
		}
	}
	return true
}

// zoned adds the zone that the input for dates of a browser leaves out: UTC, in
// which the dashboard shows times.
func zoned(text string) string {
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.Format(time.RFC3339Nano)
		}
	}
	return text
}

// is tells whether a flag is set, fallback if it was not given.
func is(flag *bool, fallback bool) bool {
	if flag == nil {
		return fallback
	}
	return *flag
}

// badField is the fault for a field whose value cannot be used.
func badField(name, format string, args ...any) *fault {
	f := faultf(http.StatusBadRequest, format, args...)
	f.Field = name
	return f
}

// placed adds to a fault about a field where in the body that field is.
func (q *request) placed(err error) error {
	f := asFault(err)
	if f == nil || f.Field == "" || q.places[f.Field] == "" {
		return err
	}
	with := *f
	with.Detail = fmt.Sprintf("%s (%s)", f.Detail, q.places[f.Field])
	return &with
}
