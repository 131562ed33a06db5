package config

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// csvTable is one CSV file of hosts: a header that names fields, a host a row.
type csvTable struct {
	file    string
	columns []csvColumn
	out     *inventoryFile
}

// csvColumn is what the header says about one column.
type csvColumn struct {
	name   string // field of a host, or of its labels or vars
	parent string // "labels", "vars" or ""
	pos    Position
}

// The columns that hold several values, separated by ";", and those that hold
// numbers or switches. All others are texts.
var (
	csvLists   = map[string]bool{"groups": true, "parents": true, "flap_ignore": true}
	csvNumbers = map[string]bool{"attempts": true, "flap_low": true, "flap_high": true}
	csvFlags   = map[string]bool{
		"volatile": true, "active": true, "passive": true, "flap_detection": true, "check_freshness": true,
		"notifications": true, "event_handlers": true, "perfdata": true, "obsess": true,
	}
	// csvNotHere are fields of a host that do not fit a table.
	csvNotHere = map[string]bool{"labels": true, "vars": true, "check": true, "services": true}
)

// readCSV decodes a CSV inventory. An empty cell is an absent field, a line
// that starts with "#" is a comment. A separator of ";" or tab is recognised
// by the header.
func readCSV(file string, content []byte) *inventoryFile {
	t := &csvTable{file: file, out: &inventoryFile{}}
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	r := csv.NewReader(bytes.NewReader(content))
	r.Comment, r.FieldsPerRecord, r.ReuseRecord = '#', -1, true
	r.Comma = csvSeparator(content)
	header := true
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.broken(err)
			break
		}
		if header {
			t.header(r, row)
			header = false
			if len(t.out.problems) > 0 {
				break
			}
			continue
		}
		t.row(r, row)
	}
	if header && len(t.out.problems) == 0 {
		t.bad(Position{File: file, Line: 1, Column: 1}, "", `no header; write a first line such as "name,address,label.role"`)
	}
	return t.out
}

// csvSeparator guesses the separator from the first line that is no comment.
func csvSeparator(content []byte) rune {
	for line := range bytes.Lines(content) {
		if len(bytes.TrimSpace(line)) == 0 || line[0] == '#' {
			continue
		}
		// The comma goes first: a table with commas may hold lists with semicolons,
		// but the names of columns hold neither.
		for _, sep := range []byte{',', ';', '\t'} {
			if bytes.IndexByte(line, sep) >= 0 {
				return rune(sep)
			}
		}
		break
	}
	return ','
}

// bad adds a problem of the table.
func (t *csvTable) bad(pos Position, path, format string, args ...any) {
	t.out.problems = append(t.out.problems, Problem{pos, path, fmt.Sprintf(format, args...)})
}

// broken reports what the CSV reader could not read; the rest of the file is lost
// with it, because nobody knows where the next row starts.
func (t *csvTable) broken(err error) {
	t.out.lost = true
	var pe *csv.ParseError
	if !errors.As(err, &pe) {
		t.bad(Position{File: t.file}, "", "%s", err)
		return
	}
	pos := Position{t.file, pe.Line, pe.Column}
	if errors.Is(pe.Err, csv.ErrBareQuote) || errors.Is(pe.Err, csv.ErrQuote) {
		t.bad(pos, "", `a quote stands where none may; put the whole cell in quotes and double those inside: "say ""hi"""`)
		return
	}
	t.bad(pos, "", "not a CSV table: %s", pe.Err)
}

// header reads the names of the columns.
func (t *csvTable) header(r *csv.Reader, row []string) {
	seen := map[string]bool{}
	for i, cell := range row {
		line, column := r.FieldPos(i)
		pos := Position{t.file, line, column}
		name := strings.TrimSpace(cell)
		c := csvColumn{name: strings.Clone(name), pos: pos}
		if rest, ok := strings.CutPrefix(name, "label."); ok {
			c.name, c.parent = strings.Clone(rest), "labels"
		} else if rest, ok := strings.CutPrefix(name, "var."); ok {
			c.name, c.parent = strings.Clone(rest), "vars"
		}
		switch {
		case c.name == "":
			t.bad(pos, "", "column %d has no name; write one, or label.NAME or var.NAME", i+1)
		case seen[name]:
			t.bad(pos, "", "two columns are named %s; remove one", quote(name))
		// Known fields that are sets cannot stand in one cell; as unknown columns
		// they would get advice that leads nowhere.
		case c.parent == "" && csvNotHere[name]:
			t.bad(pos, "", "a column cannot hold %s; write label.NAME or var.NAME columns, or a JSON or YAML inventory", name)
		}
		seen[name] = true
		t.columns = append(t.columns, c)
	}
	if !seen["name"] && len(t.out.problems) == 0 {
		t.bad(Position{t.file, t.columns[0].pos.Line, 1}, "", `no column is named "name"; write a header such as "name,address,label.role"`)
	}
}

// row turns one line into a host.
func (t *csvTable) row(r *csv.Reader, row []string) {
	line, column := r.FieldPos(0)
	host := &node{kind: kindMap, pos: Position{t.file, line, column}, fields: make([]field, 0, len(t.columns))}
	if len(row) > len(t.columns) {
		at, col := r.FieldPos(len(t.columns))
		t.bad(Position{t.file, at, col}, "", "%d cells in a table of %d columns; quote a cell that contains the separator", len(row), len(t.columns))
		return
	}
	var labels, vars *node
	for i, cell := range row {
		cell = strings.TrimSpace(cell)
		// An empty cell says nothing, unlike an empty text in JSON: a table has a
		// cell for every column whether it applies or not.
		if cell == "" {
			continue
		}
		line, column := r.FieldPos(i)
		c, pos := t.columns[i], Position{t.file, line, column}
		into := host
		switch c.parent {
		case "labels":
			into = child(&labels, pos)
		case "vars":
			into = child(&vars, pos)
		}
		into.fields = append(into.fields, field{name: c.name, pos: c.pos, node: csvCell(c, cell, pos)})
	}
	if labels != nil {
		host.fields = append(host.fields, field{name: "labels", pos: labels.pos, node: labels})
	}
	if vars != nil {
		host.fields = append(host.fields, field{name: "vars", pos: vars.pos, node: vars})
	}
	t.out.add(host.get("name"), host.pos, host, true)
}

// child returns the map that labels or variables of a row go to.
func child(n **node, pos Position) *node {
	if *n == nil {
		*n = &node{kind: kindMap, pos: pos}
	}
	return *n
}

// csvCell gives a cell the type of its column.
func csvCell(c csvColumn, cell string, pos Position) *node {
	n := &node{kind: kindText, text: cell, pos: pos}
	switch {
	// Labels and variables are texts, however much they look like numbers.
	case c.parent != "":
	case csvLists[c.name]:
		n.kind, n.text = kindList, ""
		for _, part := range strings.Split(cell, ";") {
			if part = strings.TrimSpace(part); part != "" {
				n.items = append(n.items, &node{kind: kindText, text: part, pos: pos})
			}
		}
	case csvNumbers[c.name]:
		if _, err := strconv.ParseFloat(cell, 64); err == nil {
			n.kind = kindNumber
		}
	case csvFlags[c.name]:
		if cell == "true" || cell == "false" {
			n.kind = kindBool
		}
	}
	return n
}
