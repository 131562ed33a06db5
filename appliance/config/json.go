package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
)

// maxDepth bounds how deep an inventory may be nested.
const maxDepth = 40

// jsonReader reads JSON into a tree with the place of every value.
type jsonReader struct {
	file    string
	content []byte
	dec     *json.Decoder
	lines   []int // offset of the start of every line
}

// jsonError is a problem at a place, on its way up.
type jsonError struct{ problem Problem }

// Error returns the problem as one line.
func (e *jsonError) Error() string { return e.problem.String() }

// readJSON decodes a JSON inventory: a list of hosts with names, or a map from
// name to host.
func readJSON(file string, content []byte) *inventoryFile {
	r := &jsonReader{file: file, content: content, dec: json.NewDecoder(bytes.NewReader(content)), lines: lineStarts(content)}
	// Numbers stay as they were written: large ones would lose digits, and the
	// shown value would not be the operator's.
	r.dec.UseNumber()
	root, err := r.value(0)
	if err == nil {
		// A second value is most likely one line of JSON Lines; reading the first
		// and dropping the others would lose hosts in silence.
		if _, more := r.dec.Token(); !errors.Is(more, io.EOF) {
			err = r.fail(r.next(), "a second value follows the first; keep one list or one map of hosts")
		}
	}
	if err != nil {
		return &inventoryFile{problems: Problems{r.problem(err)}}
	}
	return hostsOf(root)
}

// lineStarts lists the offsets at which lines begin.
func lineStarts(content []byte) []int {
	starts := []int{0}
	for i, c := range content {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// at turns an offset into a place. The column counts bytes, as CUE does.
func (r *jsonReader) at(offset int) Position {
	line := sort.SearchInts(r.lines, offset+1)
	return Position{r.file, line, offset - r.lines[line-1] + 1}
}

// next is the offset of the token that comes next.
func (r *jsonReader) next() int {
	i := int(r.dec.InputOffset())
	for i < len(r.content) && strings.IndexByte(" \t\r\n,:", r.content[i]) >= 0 {
		i++
	}
	return i
}

// fail makes an error about a place.
func (r *jsonReader) fail(offset int, format string, args ...any) error {
	return &jsonError{Problem{Position: r.at(offset), Text: fmt.Sprintf(format, args...)}}
}

// problem turns any error of the decoder into a problem with a place.
func (r *jsonReader) problem(err error) Problem {
	var own *jsonError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &own):
		return own.problem
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		if len(bytes.TrimSpace(r.content)) == 0 {
			return Problem{Position: r.at(0), Text: "the file is empty; write a list or a map of hosts"}
		}
		return Problem{Position: r.at(len(r.content)), Text: "the file ends in the middle of a value; close every { and ["}
	// The decoder counts the bytes it has read, the one that is wrong included.
	case errors.As(err, &syntax):
		offset := min(max(int(syntax.Offset)-1, 0), len(r.content))
		return Problem{Position: r.at(offset), Text: "not JSON: " + syntax.Error()}
	}
	return Problem{Position: r.at(r.next()), Text: "not JSON: " + err.Error()}
}

// value reads one value.
func (r *jsonReader) value(depth int) (*node, error) {
	start := r.next()
	// The decoder itself nests far deeper than a stack of goroutines should.
	if depth > maxDepth {
		return nil, r.fail(start, "nested deeper than %d levels; hosts are flat", maxDepth)
	}
	tok, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	n := &node{pos: r.at(start)}
	switch v := tok.(type) {
	case nil:
		n.kind = kindNull
	case bool:
		n.kind, n.text = kindBool, fmt.Sprint(v)
	case json.Number:
		n.kind, n.text = kindNumber, v.String()
	case string:
		n.kind, n.text = kindText, v
	case json.Delim:
		if v == '[' {
			return n, r.list(n, depth)
		}
		return n, r.object(n, depth)
	}
	return n, nil
}

// list reads the items of a list, whose bracket is already read.
func (r *jsonReader) list(n *node, depth int) error {
	n.kind = kindList
	for r.dec.More() {
		item, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	_, err := r.dec.Token()
	return err
}

// object reads the fields of an object, whose bracket is already read. A name that
// comes twice is refused: decoders differ in which of the two they take.
func (r *jsonReader) object(n *node, depth int) error {
	n.kind = kindMap
	seen := map[string]Position{}
	for r.dec.More() {
		start := r.next()
		tok, err := r.dec.Token()
		if err != nil {
			return err
		}
		name, ok := tok.(string)
		if !ok {
			return r.fail(start, "a name must be a text in quotes")
		}
		if first, twice := seen[name]; twice {
			return r.fail(start, "the name %s stands here and at %s; keep one", quote(name), first)
		}
		seen[name] = r.at(start)
		v, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		n.fields = append(n.fields, field{name: name, pos: r.at(start), node: v})
	}
	_, err := r.dec.Token()
	return err
}
