package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxAliases bounds how many values the anchors of one file may be repeated
// into, so that a small file cannot fill the memory.
const maxAliases = 100_000

// yamlReader reads YAML into a tree with the place of every value.
type yamlReader struct {
	file     string
	problems Problems
	anchors  map[string]ast.Node
	repeated int // values read through aliases
}

// readYAML decodes a YAML inventory: a list of hosts with names, or a map from
// name to host.
func readYAML(file string, content []byte) *inventoryFile {
	r := &yamlReader{file: file, anchors: map[string]ast.Node{}}
	f, err := parser.ParseBytes(content, 0)
	if err != nil {
		r.syntax(err)
		return &inventoryFile{problems: r.problems}
	}
	var docs []ast.Node
	for _, doc := range f.Docs {
		if doc.Body != nil {
			docs = append(docs, doc.Body)
		}
	}
	switch {
	case len(docs) == 0:
		r.bad(Position{file, 1, 1}, "the file is empty; write a list or a map of hosts")
	// Which of two documents counts is a matter of taste among tools.
	case len(docs) > 1:
		r.bad(r.at(docs[1]), "a second document follows the first; keep one list or one map of hosts")
	default:
		root := r.value(docs[0], 0, false)
		if len(r.problems) == 0 {
			return hostsOf(root)
		}
	}
	return &inventoryFile{problems: r.problems}
}

// bad adds a problem of the file.
func (r *yamlReader) bad(pos Position, format string, args ...any) {
	r.problems = append(r.problems, Problem{Position: pos, Text: fmt.Sprintf(format, args...)})
}

// syntax reports what the parser could not read.
func (r *yamlReader) syntax(err error) {
	var ye yaml.Error
	if errors.As(err, &ye) {
		pos := Position{File: r.file}
		if tk := ye.GetToken(); tk != nil && tk.Position != nil {
			pos = Position{r.file, tk.Position.Line, tk.Position.Column}
		}
		r.bad(pos, "not YAML: %s", firstLine(ye.GetMessage()))
		return
	}
	r.bad(Position{File: r.file}, "not YAML: %s", firstLine(err.Error()))
}

// firstLine cuts off the excerpt of the file that the parser's texts carry.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// at is the place of a value; that of a map is its first name, not the ":" after it.
func (r *yamlReader) at(n ast.Node) Position {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return r.at(m.Values[0].Key)
	}
	if m, ok := n.(*ast.MappingValueNode); ok {
		return r.at(m.Key)
	}
	tk := n.GetToken()
	if tk == nil || tk.Position == nil {
		return Position{File: r.file}
	}
	return r.token(tk)
}

// token is the place of a token.
func (r *yamlReader) token(tk *token.Token) Position {
	return Position{r.file, tk.Position.Line, tk.Position.Column}
}

// value copies one value. In an alias every value counts against maxAliases.
func (r *yamlReader) value(n ast.Node, depth int, alias bool) *node {
	if n == nil {
		return &node{kind: kindNull, pos: Position{File: r.file}}
	}
	out := &node{pos: r.at(n)}
	// Only repeated values count: a large file is fine, a small one that grows
	// without bound through anchors is not.
	if alias {
		r.repeated++
	}
	if depth > maxDepth || r.repeated > maxAliases {
		// Once is enough: every further value of the same tree would say the same.
		if len(r.problems) == 0 {
			r.bad(out.pos, "nested too deeply or repeated too often by anchors; write the hosts out")
		}
		return out
	}
	switch v := n.(type) {
	case *ast.MappingNode:
		out.kind = kindMap
		r.fields(out, v.Values, depth, alias)
	case *ast.MappingValueNode:
		out.kind = kindMap
		r.fields(out, []*ast.MappingValueNode{v}, depth, alias)
	case *ast.SequenceNode:
		out.kind = kindList
		for _, item := range v.Values {
			out.items = append(out.items, r.value(item, depth+1, alias))
		}
	case *ast.AnchorNode:
		r.anchors[v.Name.String()] = v.Value
		return r.value(v.Value, depth+1, alias)
	case *ast.AliasNode:
		to, ok := r.anchors[v.Value.String()]
		if !ok {
			r.bad(out.pos, "no anchor is named %s before this", quote(v.Value.String()))
			return out
		}
		return r.value(to, depth+1, true)
	case *ast.TagNode:
		return r.value(v.Value, depth+1, alias)
	default:
		r.scalar(out, n)
	}
	return out
}

// scalar copies a value that holds no others.
func (r *yamlReader) scalar(out *node, n ast.Node) {
	switch v := n.(type) {
	case *ast.NullNode:
		out.kind = kindNull
	case *ast.BoolNode:
		out.kind, out.text = kindBool, strconv.FormatBool(v.Value)
	case *ast.IntegerNode:
		out.kind, out.text = kindNumber, fmt.Sprint(v.Value)
	case *ast.FloatNode:
		out.kind, out.text = kindNumber, strconv.FormatFloat(v.Value, 'g', -1, 64)
	case *ast.StringNode:
		out.kind, out.text = kindText, v.Value
	case *ast.LiteralNode:
		out.kind, out.text = kindText, v.Value.Value
	default:
		r.bad(out.pos, "this kind of value has no meaning here; write a text, a number, true or false")
	}
}

// fields copies the fields of a map; "<<" brings in those of another map.
func (r *yamlReader) fields(out *node, values []*ast.MappingValueNode, depth int, alias bool) {
	seen := make(map[string]Position, len(values))
	for _, mv := range values {
		pos := r.at(mv.Key)
		v := r.value(mv.Value, depth+1, alias)
		// What is merged in comes first and is overridden by every name of the map
		// itself, wherever the merge stands.
		if mv.Key.IsMergeKey() {
			out.fields = mergeFields(out.fields, v)
			continue
		}
		name := keyName(mv.Key)
		if first, twice := seen[name]; twice {
			r.bad(pos, "the name %s stands here and at %s; keep one", quote(name), first)
			continue
		}
		seen[name] = pos
		out.fields = mergeOver(out.fields, field{name: name, pos: pos, node: v})
	}
}

// keyName is the text of a key without quotes.
func keyName(key ast.MapKeyNode) string {
	if s, ok := key.(*ast.StringNode); ok {
		return s.Value
	}
	if tk := key.GetToken(); tk != nil {
		return tk.Value
	}
	return key.String()
}

// mergeFields adds the fields of a merged map, or of a list of them, that are
// not there yet.
func mergeFields(fields []field, merged *node) []field {
	for _, item := range merged.items {
		fields = mergeFields(fields, item)
	}
	have := &node{fields: fields}
	for _, f := range merged.fields {
		if have.get(f.name) == nil {
			have.fields = append(have.fields, f)
		}
	}
	return have.fields
}

// mergeOver adds a field and replaces one that a merged map brought in.
func mergeOver(fields []field, f field) []field {
	for i := range fields {
		if fields[i].name == f.name {
			fields[i] = f
			return fields
		}
	}
	return append(fields, f)
}
