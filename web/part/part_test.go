package part

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/sample"
	"jaque.sh/jaque/web/view"
)

// outline renders a part and returns its structure on one line: elements with
// the attributes that matter, and text. Shapes are left out.
func outline(t interface{ Fatal(...any) }, c templ.Component) string {
	r, w := io.Pipe()
	go func() { _ = w.CloseWithError(c.Render(context.Background(), w)) }()
	nodes, err := html.ParseFragment(r, &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, n := range nodes {
		write(&b, n)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func write(b *strings.Builder, n *html.Node) {
	if n.Type == html.TextNode {
		b.WriteString(n.Data)
		return
	}
	if n.Data == "path" || n.Data == "circle" {
		return
	}
	fmt.Fprintf(b, " <%s", n.Data)
	for _, a := range n.Attr {
		if slices.Contains([]string{"class", "href", "datetime", "role", "aria-sort", "x", "width", "action", "disabled", "title"}, a.Key) {
			fmt.Fprintf(b, " %s=%q", a.Key, a.Val)
		}
	}
	b.WriteString("> ")
	for c := range n.ChildNodes() {
		write(b, c)
	}
	fmt.Fprintf(b, " </%s> ", n.Data)
}

func TestPartsHaveTheirStructure(t *testing.T) {
	when := view.NewWhen(object.At(sample.Now.Add(-90e9)), sample.Now)
	crit := view.Badge{Name: "CRITICAL", Tone: "crit"}
	row := view.Row{
		Badge: crit, Host: "a", HostURL: "/hosts/a", Name: "x", URL: "/services/a/x", Output: "refused",
		Since: when, Checked: view.NewWhen(0, sample.Now), Attempt: "2/3", Marks: []string{"flapping"}, Help: "https://wiki.example/x",
	}
	const (
		svg     = `<svg class="glyph"> </svg>`
		badge   = `<span class="badge crit"> ` + svg + ` CRITICAL </span>`
		since   = `<time datetime="2026-03-01T11:58:30Z" title="2026-03-01 11:58:30 UTC"> 1 min </time>`
		problem = `<li> <span class="sign"> ` + badge + ` </span> <span class="name"> %s<a href="/services/a/x"> x </a> </span> <span class="tell"> <span class="output"> refused ` +
			`<a class="help" href="https://wiki.example/x"> What to do </a> </span> <span class="chip"> flapping </span> </span> ` +
			`<span class="since"> <span class="hide"> since </span> ` + since +
			` <span class="dim attempt" title="attempt"> <span class="hide"> attempt </span> 2/3 </span> </span> </li>`
	)
	for name, c := range map[string]struct {
		part templ.Component
		want string
	}{
		"a state is a shape and a word":          {Badge(crit), badge},
		"a soft state says so to those who hear": {Badge(view.Badge{Name: "WARNING", Tone: "warn", Soft: true}), `<span class="badge warn soft"> ` + svg + ` WARNING <span class="hide"> (soft) </span> </span>`},
		"an instant has the exact time behind":   {When(when), since},
		"an instant with its direction":          {Moment(when), strings.Replace(since, "1 min", "1 min ago", 1)},
		"never is a word":                        {When(view.NewWhen(0, sample.Now)), `<span class="dim"> never </span>`},
		"no marks are nothing":                   {Marks(nil), ``},
		"a problem among those of its host":      {Problem(row, false), fmt.Sprintf(problem, "")},
		"a problem elsewhere names its host":     {Problem(row, true), fmt.Sprintf(problem, `<a class="of" href="/hosts/a"> a </a> `)},
		"an empty short list is nothing":         {Mini("Services", nil, false), ``},
		"a short list counts":                    {Mini("Services", []view.Row{row}, false), `<section class="card mini"> <h2> Services <span class="dim"> 1 </span> </h2> <ul class="problems"> ` + fmt.Sprintf(problem, "") + ` </ul> </section>`},
		"nothing says why":                       {Empty("No hosts."), `<p class="empty"> No hosts. </p>`},
		"a complaint is read out":                {Complaint("no field"), `<p class="complaint" role="alert"> ` + svg + ` <span> no field </span> </p>`},
		"a verdict has one headline":             {Verdict("crit", "2 problems", "on a"), `<section class="verdict crit"> <div class="board"> </div> <div> <h1> 2 problems </h1> <p> on a </p> </div> </section>`},
		"facts are pairs": {
			Facts([]view.Fact{{Label: "Zone", Value: "dmz"}, {Label: "role", Value: "web", URL: "/hosts?a"}, {Label: "Last", When: when}}),
			`<dl class="facts"> <div> <dt> Zone </dt> <dd> dmz </dd> </div> <div> <dt> role </dt> <dd> <a href="/hosts?a"> web </a> </dd> </div> ` +
				`<div> <dt> Last </dt> <dd> ` + strings.Replace(since, "1 min", "1 min ago", 1) + ` </dd> </div> </dl>`,
		},
		"a help link to a script is defused": {Help(view.Row{Help: "javascript:alert(1)", Attempt: "1/1"}), `<a class="help" href="about:invalid#TemplFailedSanitizationURL"> What to do </a>`},
		"no help where nothing is wrong":     {Help(view.Row{Help: "https://wiki.example"}), ``},
	} {
		if got := outline(t, c.part); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, c.want)
		}
	}
}

func TestTablesSayHowTheyAreSorted(t *testing.T) {
	heads := []view.Head{{Label: "State", URL: "/a", Order: "descending"}, {Label: "Host", URL: "/b", Order: "ascending"}, {Label: "Since", URL: "/c"}, {Label: "Output"}}
	got := outline(t, Table(heads, nil, false))
	want := `<table class="list"> <thead> <tr> <th class="" aria-sort="descending"> <a href="/a"> State ↓ </a> </th> ` +
		`<th class="" aria-sort="ascending"> <a href="/b"> Host ↑ </a> </th> <th class="" aria-sort="none"> <a href="/c"> Since </a> </th> ` +
		`<th class="" aria-sort="none"> Output </th> </tr> </thead> <tbody> </tbody> </table>`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestTablesOfHostsHaveNoServices(t *testing.T) {
	row := view.Row{Badge: view.Badge{Name: "UP", Tone: "ok"}, Host: "a", HostURL: "/hosts/a", Name: "x", URL: "/services/a/x", Since: view.When{Text: "never"}, Checked: view.When{Text: "never"}}
	hosts, services := outline(t, Table(nil, []view.Row{row}, true)), outline(t, Table(nil, []view.Row{row}, false))
	if strings.Contains(hosts, "/services/") || strings.Count(hosts, "<td") != 5 {
		t.Errorf("hosts: %s", hosts)
	}
	if !strings.Contains(services, `<a href="/services/a/x"> x </a>`) || strings.Count(services, "<td") != 6 {
		t.Errorf("services: %s", services)
	}
}

func TestEveryToneHasAShapeOfItsOwn(t *testing.T) {
	shapes := map[string]string{}
	for _, tone := range []string{"ok", "warn", "crit", "unknown", "pending"} {
		var b strings.Builder
		if err := Glyph(tone).Render(context.Background(), &b); err != nil {
			t.Fatal(err)
		}
		if other, taken := shapes[b.String()]; taken {
			t.Errorf("%s looks like %s", tone, other)
		}
		shapes[b.String()] = tone
	}
}

func TestBarsOfPerfdataShowTheirThresholds(t *testing.T) {
	got := outline(t, Perf(view.NewPerf("load=5;4;8;0 n=3")))
	for _, want := range []string{
		`<rect x="0" width="500" class="t-warn">`, `<rect x="400" width="4" class="tick">`, `<rect x="800" width="4" class="tick">`,
		`<span> warn 4 </span> <span> crit 8 </span>`, `<th> n </th> <td class="figure"> 3 </td> <td class="gauge"> </td> <td class="dim bounds"> </td>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nlacks %s", got, want)
		}
	}
}

func TestAButtonThatCannotBeUsedSaysWhy(t *testing.T) {
	if got := outline(t, Ask(view.Form{Action: "/hosts/a/check", Label: "Check now"})); !strings.Contains(got, `action="/hosts/a/check"`) || strings.Contains(got, "disabled") {
		t.Errorf("it can be used: %s", got)
	}
	got := outline(t, Ask(view.Form{Action: "/hosts/a/check", Label: "Check now", Why: "this process only reads"}))
	if !strings.Contains(got, "disabled") || !strings.Contains(got, "this process only reads") {
		t.Errorf("it cannot: %s", got)
	}
}

// Whatever an object is called and a check writes, a part shows it as text: no
// element and no attribute comes from it.
func TestTextsNeverBecomeMarkup(t *testing.T) {
	piece := rapid.SampledFrom([]string{"<b>", "</td>", `"`, "'", "&amp;", "<script>", "-->", "]]>", "a", " ", "<", ">", "&", "onload=x", "{{", "javascript:"})
	shape := func(t *rapid.T, text string) string {
		row := view.Row{Badge: view.Badge{Name: text, Tone: "ok"}, Host: text, Name: text + "n", HostURL: "/h", URL: "/s", Alias: text, Output: text, Marks: []string{text}, Attempt: "1/1"}
		line := view.Line{Object: text, What: text, Text: text, Was: text, Kind: text, URL: "/o"}
		var b strings.Builder
		for _, c := range []templ.Component{
			Problem(row, true), Table([]view.Head{{Label: text}}, []view.Row{row}, false), Group(view.Group{Host: row, Down: true, Rows: []view.Row{row}}),
			Facts([]view.Fact{{Label: text, Value: text}}), Lines([]view.Line{line}, true), Perf([]view.Perf{{Label: text, Value: text, Warn: text, Crit: text}}),
			Empty(text), Complaint(text), Verdict("ok", text, text), Frame(view.Chrome{Title: text, Here: text, Search: text, Status: text, Version: text}),
		} {
			b.WriteString(elements(t, c))
		}
		return b.String()
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 1, 6).Draw(t, "text"), "")
		if got, want := shape(t, text), shape(t, "x"); got != want {
			t.Fatalf("%q changes the structure:\ngot  %s\nwant %s", text, got, want)
		}
	})
}

// elements returns the names of the elements of a part and of their attributes.
func elements(t interface{ Fatal(...any) }, c templ.Component) string {
	var page, out strings.Builder
	if err := c.Render(context.Background(), &page); err != nil {
		t.Fatal(err)
	}
	z := html.NewTokenizer(strings.NewReader(page.String()))
	for z.Next() != html.ErrorToken {
		if token := z.Token(); token.Type == html.StartTagToken {
			out.WriteString("<" + token.Data)
			for _, a := range token.Attr {
				out.WriteString(" " + a.Key)
			}
			out.WriteString(">")
		}
	}
	return out.String()
}
