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

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/query"
)

// commandFields are the fields of a command in the order in which they are told.
var commandFields = []string{"command", "object", "state", "output", "long_output", "perfdata"}

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
	var seen []string
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
		switch {
		case !slices.Contains(commandFields, name):
			return unknownField(name, place(data, at-1))
		case slices.Contains(seen, name):
			return faultf(http.StatusBadRequest, "field %q is given again %s; write it once", name, place(data, at-1))
		}
		seen = append(seen, name)
		if err := q.set(name, value); err != nil {
			return faultf(http.StatusBadRequest, "%v %s; write a string", err, place(data, int(d.InputOffset())-len(value)))
		}
	}
	return nil
}

// set takes one field. null is the same as a field that is left out.
func (q *request) set(name string, value json.RawMessage) error {
	kind := kindOf(value)
	if name == "state" {
		if kind != "null" {
			q.State = value
		}
		return nil
	}
	if kind != "a string" && kind != "null" {
		return fmt.Errorf("%s is %s", name, kind)
	}
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return fmt.Errorf("%s is no text", name)
	}
	switch name {
	case "command":
		q.Command = text
	case "object":
		q.Object = object.ID(text)
	case "output":
		q.Output = text
	case "long_output":
		q.Long = text
	case "perfdata":
		q.Perfdata = text
	}
	return nil
}

func unknownField(name, where string) error {
	f := faultf(http.StatusBadRequest, "no field is called %q (%s); write some of %s", name, where, strings.Join(commandFields, ", "))
	f.Known = commandFields
	if near := query.Closest(commandFields, name); near != "" {
		f.Near = near
		f.Detail += fmt.Sprintf("; did you mean %q?", near)
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
