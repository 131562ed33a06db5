package channel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"

	"jaque.sh/jaque/appliance/rule/near"
)

// Body is the operator's template of what a webhook is sent. It sees the Payload
// under the names of its JSON, such as {{.subject}} and {{range .items}}, and writes
// a value with {{json .subject}}. Any goroutine may use it.
type Body struct{ template *template.Template }

// What one template may do: bytes of output, and rounds of loops. A template that
// is called costs as much as some rounds, because it needs stack.
const (
	maxBody    = 4 << 20
	maxRounds  = 200_000
	callRounds = 100
)

// errTooMuch is what a template gets that does not end.
var errTooMuch = errors.New("the template of the body does not end: it loops or calls itself")

// CompileBody compiles a template and tries it with samples, so that a name that
// does not exist is found before there is anything to tell.
func CompileBody(text string) (*Body, error) {
	t, err := template.New("body").Option("missingkey=zero").Funcs(functions(nil)).Parse(text)
	if err != nil {
		return nil, plain(err)
	}
	for _, each := range t.Templates() {
		if each.Tree != nil {
			count(each.Root, callRounds)
		}
	}
	// What a sample cannot have is a mistake; what an object has not is "".
	strict := &Body{template.Must(t.Clone()).Option("missingkey=error")}
	for _, p := range samples(labelNames(text)) {
		_, err := strict.Render(p)
		switch {
		case err != nil && p.Test && !errors.Is(err, errTooMuch):
			return nil, fmt.Errorf("%w (tried with a test message, which has no items: write {{range .items}} or .first)", err)
		case err != nil:
			return nil, err
		}
	}
	return &Body{t}, nil
}

// namesLabel finds the labels that a template names: every object could have them.
var namesLabel = regexp.MustCompile(`labels\.([\p{L}_][\p{L}\p{Nd}_]*)`)

func labelNames(text string) map[string]string {
	names := map[string]string{"env": "prod"}
	for _, found := range namesLabel.FindAllStringSubmatch(text, -1) {
		names[found[1]] = "value"
	}
	return names
}

// Render returns what is sent for a payload.
func (b *Body) Render(p *Payload) ([]byte, error) {
	data, err := generic(p)
	if err != nil {
		return nil, err
	}
	t, err := b.template.Clone()
	if err != nil {
		return nil, plain(err)
	}
	rounds := 0
	var out bounded
	if err := t.Funcs(functions(&rounds)).Execute(&out, data); err != nil {
		if errors.Is(err, errTooMuch) {
			return nil, errTooMuch
		}
		return nil, plain(err)
	}
	return out.Bytes(), nil
}

// functions are what templates can call beside what text/template brings.
func functions(rounds *int) template.FuncMap {
	return template.FuncMap{
		"json": func(v any) (string, error) {
			text, err := json.Marshal(v)
			return string(text), err
		},
		"join": func(between string, list []any) string {
			words := make([]string, len(list))
			for i, v := range list {
				words[i] = fmt.Sprint(v)
			}
			return strings.Join(words, between)
		},
		"upper": strings.ToUpper,
		"lower": strings.ToLower,
		counter: func(n int) (string, error) {
			if *rounds += n; *rounds > maxRounds {
				return "", errTooMuch
			}
			return "", nil
		},
	}
}

// counter is the function that count puts into templates.
const counter = "_round"

// count makes every loop below a list count its rounds, and the list itself n.
func count(list *parse.ListNode, n int) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		switch node := node.(type) {
		case *parse.RangeNode:
			count(node.List, 1)
			count(node.ElseList, 0)
		case *parse.IfNode:
			count(node.List, 0)
			count(node.ElseList, 0)
		case *parse.WithNode:
			count(node.List, 0)
			count(node.ElseList, 0)
		}
	}
	if n > 0 {
		list.Nodes = append([]parse.Node{counting(n)}, list.Nodes...)
	}
}

// counting returns {{_round n}}.
func counting(n int) parse.Node {
	trees, err := parse.Parse("count", "{{"+counter+" "+strconv.Itoa(n)+"}}", "", "", functions(nil))
	if err != nil {
		panic("a constant template does not parse: " + err.Error())
	}
	return trees["count"].Root.Nodes[0]
}

// bounded is an output that ends.
type bounded struct{ bytes.Buffer }

// Write refuses what would be too much.
func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxBody {
		return 0, errTooMuch
	}
	return b.Buffer.Write(p)
}

// atPlace is how text/template says where something is wrong.
var atPlace = regexp.MustCompile(`^template: [^:]*:(\d+)(?::\d+)?: (?:executing "[^"]*" at <(.*?)>: )?(.*)$`)

// noEntry is how it says that a name does not exist.
var noEntry = regexp.MustCompile(`^map has no entry for key "(.*)"$`)

// plain says what text/template found wrong as a person would.
func plain(err error) error {
	found := atPlace.FindStringSubmatch(strings.ReplaceAll(err.Error(), "\n", " "))
	if found == nil {
		return err
	}
	line, at, what := found[1], found[2], found[3]
	if at != "" {
		at += ": "
	}
	if name := noEntry.FindStringSubmatch(what); name != nil {
		what = "there is no " + name[1] + didYouMean(name[1])
	}
	return errors.New("line " + line + ": " + at + what)
}

// didYouMean offers the name of a field that is written much like another, "" if
// none is.
func didYouMean(name string) string {
	best, distance := "", 3
	for _, t := range []reflect.Type{reflect.TypeFor[Payload](), reflect.TypeFor[PayloadItem]()} {
		for i := range t.NumField() {
			field := t.Field(i).Tag.Get("json")
			if d := near.Distance(name, field, 2); field != "" && d < distance {
				best, distance = field, d
			}
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}
