package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"jaque.sh/jaque/web/query"
)

// decodeCommand reads the body of a command. What is wrong is said in words of
// the body, with its place.
func decodeCommand(data []byte) (request, error) {
	var q request
	if len(bytes.TrimSpace(data)) == 0 {
		return q, faultf(http.StatusBadRequest, "the body is empty; send a JSON object")
	}
	var raw json.RawMessage
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&raw); err != nil {
		return q, notJSON(data, err)
	}
	if kind := kindOf(raw); kind != "an object" {
		return q, faultf(http.StatusBadRequest, "the body is %s; send a JSON object", kind)
	}
	end := int(d.InputOffset())
	if rest := bytes.TrimSpace(data[end:]); len(rest) > 0 {
		return q, faultf(http.StatusBadRequest, "something follows the object %s; send one command at a time", place(data, len(data)-len(bytes.TrimLeft(data[end:], " \t\r\n"))))
	}
	return q, q.fill(data)
}

// fill reads the fields of an object that is known to be JSON.
func (q *request) fill(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if _, err := d.Token(); err != nil {
		return notJSON(data, err)
	}
	q.places = map[string]string{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return notJSON(data, err)
		}
		name, at := fmt.Sprint(key), int(d.InputOffset())
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return notJSON(data, err)
		}
		n := slices.IndexFunc(requestFields, func(f field) bool { return f.name == name })
		switch {
		case n < 0:
			return unknownField(name, place(data, at-1))
		case q.places[name] != "":
			return badField(name, "field %q is given again %s; write it once", name, place(data, at-1))
		}
		q.places[name] = place(data, int(d.InputOffset())-len(value))
		if f := &requestFields[n]; !f.set(q, value) {
			return badField(name, "%s is %s %s; write %s", name, f.mistaken(value), q.places[name], f.expected())
		}
		if kindOf(value) != "null" {
			q.given = append(q.given, name)
		}
	}
	return nil
}

// mistaken names a value that does not fit, a list where one is wanted by what
// is wrong in it.
func (f *field) mistaken(value json.RawMessage) string {
	kind := kindOf(value)
	if f.list != nil && kind == "a list" {
		return "a list of something else"
	}
	return kind
}

func unknownField(name, where string) error {
	names := fieldNames()
	f := badField(name, "no field is called %q (%s)", name, where)
	f.Known = names
	if f.Near = query.Closest(names, name); f.Near != "" {
		f.Detail += fmt.Sprintf("; did you mean %q?", f.Near)
	} else {
		f.Detail += "; write some of " + strings.Join(names, ", ")
	}
	return f
}

// notJSON is the fault for a body that is no JSON, with the place of the first
// character that is wrong.
func notJSON(data []byte, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) || syntax.Offset > int64(len(data)) || syntax.Offset < 1 || int(syntax.Offset) == len(data) && unfinished(err) {
		return faultf(http.StatusBadRequest, "the body ends %s, before its JSON is complete; send a whole object", place(data, len(bytes.TrimRight(data, " \t\r\n"))))
	}
	at := int(syntax.Offset) - 1
	r, _ := utf8.DecodeRune(data[at:])
	return faultf(http.StatusBadRequest, "the body is no JSON: %q is wrong %s; send a JSON object", r, place(data, at))
}

func unfinished(err error) bool { return strings.HasPrefix(err.Error(), "unexpected end") }

// place says where a byte of a body is, in lines and characters from 1.
func place(data []byte, at int) string {
	before := data[:min(max(at, 0), len(data))]
	line := bytes.LastIndexByte(before, '\n') + 1
	return fmt.Sprintf("at line %d, column %d", bytes.Count(before, []byte("\n"))+1, utf8.RuneCount(before[line:])+1)
}

// kindOf names what a JSON value is.
func kindOf(raw json.RawMessage) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "a number"
}
