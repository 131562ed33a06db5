package channel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
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

// generic returns a payload as templates see it.
func generic(p *Payload) (any, error) {
	seen := struct {
		*Payload
		First PayloadItem `json:"first"`
	}{p, PayloadItem{Labels: p.spare, Steps: []string{}, Others: []string{}}}
	if len(p.Items) > 0 {
		seen.First = p.Items[0]
	}
	text, err := json.Marshal(seen)
	if err != nil {
		return nil, err
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber() // a float64 would be written 1e+06
	var v any
	if err := in.Decode(&v); err != nil {
		return nil, err
	}
	return whole(v), nil
}

// whole makes integers of numbers: the payload has no others.
func whole(v any) any {
	switch v := v.(type) {
	case json.Number:
		n, _ := v.Int64()
		return n
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	case map[string]any:
		for k := range v {
			if k == "labels" {
				v[k] = texts(v[k])
				continue
			}
			v[k] = whole(v[k])
		}
	}
	return v
}

// texts makes labels of which a missing one is "".
func texts(v any) map[string]string {
	out := map[string]string{}
	labels, _ := v.(map[string]any)
	for name, value := range labels {
		out[name], _ = value.(string)
	}
	return out
}

// plain takes what only programmers know out of an error of text/template.
func plain(err error) error {
	return errors.New(strings.TrimPrefix(err.Error(), "template: "))
}

// samples are payloads with everything and with as little as there can be.
func samples(labels map[string]string) []*Payload {
	since := "2026-03-01T08:00:00Z"
	one := PayloadItem{
		Object: "web1!http", Host: "web1", Service: "http", Alias: "Shop", Address: "192.0.2.10", Kind: "PROBLEM", Number: 1,
		State: "CRITICAL", StateType: "hard", Was: "OK", Output: `"quoted" & <b>`, LongOutput: "first\nsecond", Perfdata: "time=1s",
		Time: since, Since: &since, Labels: labels, Author: "ann", Comment: "on it", Policy: "shop",
		Steps: []string{"second line"}, Others: []string{"bob"}, URL: "https://jaque.example/services/web1/http",
	}
	full := &Payload{
		Version: PayloadVersion, ID: "m1", Thread: "t1", Kind: "PROBLEM", Contact: "ann", Alias: "Ann", Channel: "webhook", Repeat: true,
		Time: since, Root: "switch1", URL: "https://jaque.example", Subject: "web1: http is CRITICAL", Text: "a\nb", Short: "a",
		Count: 2, Items: []PayloadItem{one, {Object: "web1", Host: "web1", Labels: labels, Steps: []string{}, Others: []string{}}},
	}
	return []*Payload{full, {Version: PayloadVersion, Kind: "TEST", Test: true, Contact: "ann", Items: []PayloadItem{}, spare: labels}}
}
