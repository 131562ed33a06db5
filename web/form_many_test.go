package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/sample"
)

func TestManyObjectsAreLookedAtFirst(t *testing.T) {
	s := sample.Shift()
	o, d := manned(s)
	d.fail = map[object.ID]error{"web01!disk": errors.New("secret detail")}
	srv := serve(t, o)
	resp, doc := post(t, srv, with(sheet(t, srv, "/do?command=acknowledge&filter=problem&kind=service&back=/services"), "author", "jo", "comment", "all seen"))
	text := textOf(elementByID(doc, "sheet"))
	if resp.StatusCode != http.StatusOK || d.n != 0 || !strings.Contains(text, "Nothing has been done yet") || !strings.Contains(text, "It touches 9 objects") ||
		!strings.Contains(text, "web01!http") || !strings.Contains(text, "all seen") {
		t.Fatalf("%s after %d commands: %s", resp.Status, d.n, text)
	}
	look := formOf(t, doc)
	resp, doc = post(t, srv, with(clone(look), "step", "edit"))
	if again := formOf(t, doc); resp.StatusCode != http.StatusOK || again.Get("comment") != "all seen" || again.Get("filter") != "problem" {
		t.Errorf("going back: %s, %v", resp.Status, again)
	}
	resp, _ = post(t, srv, look)
	to := resp.Header.Get("Location")
	if resp.StatusCode != http.StatusSeeOther || to != "/done/desk-1" || d.n != 1 {
		t.Fatalf("%s to %q after %d commands", resp.Status, to, d.n)
	}
	text = textOf(elementByID(parsePage(t, srv.URL+to, http.StatusOK), "main"))
	for _, want := range []string{"DONE 8", "FAILED 1", "web01!disk", "Back to the list"} {
		if !strings.Contains(text, want) {
			t.Errorf("the outcome lacks %q: %s", want, text)
		}
	}
	if strings.Contains(text, "secret") || strings.Index(text, "web01!disk") > strings.Index(text, "web01!http") {
		t.Errorf("what failed is not first, or says too much: %s", text)
	}
	if s.State("web01!http").Status.Ack == object.AckNone {
		t.Error("nothing was acknowledged")
	}
	parsePage(t, srv.URL+"/done/none", http.StatusNotFound)
}

func clone(v url.Values) url.Values {
	out := url.Values{}
	for name, values := range v {
		out[name] = append([]string(nil), values...)
	}
	return out
}

func TestMoreThanFiftyObjectsNeedTheirNumber(t *testing.T) {
	o, d := manned(sample.Many(60))
	srv := serve(t, o)
	sent := with(sheet(t, srv, "/do?command=disable&filter=*&kind=service&back=/services"), "author", "jo", "what", "notifications")
	resp, doc := post(t, srv, sent)
	text := textOf(elementByID(doc, "sheet"))
	if resp.StatusCode != http.StatusOK || !strings.Contains(text, "It touches 60 objects") || !strings.Contains(text, "Write 60 to go on") || !strings.Contains(text, "and 10 more") {
		t.Fatalf("%s: %s", resp.Status, text)
	}
	look := formOf(t, doc)
	for confirm, want := range map[string]string{"": "Write the number of objects, 60.", "59": "It touches 60 objects, not 59."} {
		resp, doc = post(t, srv, with(clone(look), "confirm", confirm))
		if text := textOf(elementByID(doc, "sheet")); resp.StatusCode != http.StatusConflict || !strings.Contains(text, want) || d.n != 0 {
			t.Errorf("with %q: %s, %d commands: %s", confirm, resp.Status, d.n, text)
		}
	}
	if resp, _ = post(t, srv, with(look, "confirm", " 60 ")); resp.StatusCode != http.StatusSeeOther || d.n != 1 {
		t.Errorf("with the number: %s, %d commands", resp.Status, d.n)
	}
}

func TestRowsAreChosenOneByOneOrAllThatMatch(t *testing.T) {
	o, _ := manned(sample.Shift())
	srv := serve(t, o)
	doc := parsePage(t, srv.URL+"/services?filter=unhandled", http.StatusOK)
	boxes := find(doc, func(n *html.Node) bool { name, _ := attr(n, "name"); return name == "object" })
	if len(boxes) != 6 || elementByID(doc, "pick") == nil {
		t.Fatalf("%d boxes", len(boxes))
	}
	for _, b := range boxes {
		if form, _ := attr(b, "form"); form != "pick" {
			t.Errorf("a box is of form %q", form)
		}
	}
	two := sheet(t, srv, "/do?command=add-comment&kind=service&object=web01!http&object=web01!disk")
	if len(two["object"]) != 2 {
		t.Fatalf("the form is for %v", two["object"])
	}
	_, doc = post(t, srv, with(two, "author", "jo", "comment", "x"))
	if text := textOf(elementByID(doc, "sheet")); !strings.Contains(text, "It touches 2 objects") {
		t.Errorf("two rows: %s", text)
	}
	all := sheet(t, srv, "/do?command=add-comment&kind=service&filter=unhandled&object=web01!http")
	_, doc = post(t, srv, with(all, "author", "jo", "comment", "x"))
	if text := textOf(elementByID(doc, "sheet")); !strings.Contains(text, "It touches 6 objects") {
		t.Errorf("all that match: %s", text)
	}
	o.Commands, o.Registerer = nil, nil
	doc = parsePage(t, serve(t, o).URL+"/services", http.StatusOK)
	if elementByID(doc, "pick") != nil || len(find(doc, func(n *html.Node) bool { c, _ := attr(n, "class"); return c == "row-pick" })) != 0 {
		t.Error("rows can be chosen where nothing can be done")
	}
}

func TestARecurringDowntimeShowsItsTimesBeforeItIsSaved(t *testing.T) {
	s := sample.Shift()
	o, d := manned(s)
	srv := serve(t, o)
	sent := with(sheet(t, srv, "/do?command=schedule-downtime&object=web01&back=/downtimes"),
		"repeat", "weekly", "author", "jo", "comment", "patches", "day", "sunday", "from", "01:00", "to", "04:00", "timezone", "Europe/Madrid", "first", "2026-03-15")
	resp, doc := post(t, srv, with(clone(sent), "step", "preview"))
	preview := elementByID(doc, "preview")
	if text := textOf(preview); resp.StatusCode != http.StatusOK || d.n != 0 || !strings.Contains(text, "Sun 2026-03-15 01:00 to 04:00") || !strings.Contains(text, "and those that are added later") {
		t.Errorf("live preview: %s %s", resp.Status, text)
	}
	_, doc = post(t, srv, sent)
	rows := find(elementByID(doc, "sheet"), func(n *html.Node) bool { return n.Data == "tr" })
	night := find(elementByID(doc, "sheet"), func(n *html.Node) bool { c, _ := attr(n, "class"); return n.Data == "tr" && c == "dst" })
	if len(rows) != 12 || len(night) != 1 || !strings.Contains(textOf(night[0]), "Sun 2026-03-29 01:00 to 04:00") || !strings.Contains(textOf(night[0]), "2 h") || !strings.Contains(textOf(night[0]), "02:00 UTC") && !strings.Contains(textOf(night[0]), "00:00 to 02:00") {
		t.Errorf("%d rows, nights %d: %s", len(rows), len(night), textOf(elementByID(doc, "sheet")))
	}
	resp, _ = post(t, srv, formOf(t, doc))
	if resp.StatusCode != http.StatusSeeOther || len(s.Projection.Program().Rules) != 3 {
		t.Fatalf("saving: %s, rules %v", resp.Status, s.Projection.Program().Rules)
	}
	for _, r := range s.Projection.Program().Rules {
		if r.Text == "patches" && (r.Object != "web01" || !r.WithServices || len(r.Ranges) != 1 || r.Ranges[0] != "sunday 01:00-04:00" || r.Zone != "Europe/Madrid" || r.Start == 0) {
			t.Errorf("%+v", r)
		}
	}
}

func TestANightGoesOnIntoTheNextDay(t *testing.T) {
	s := sample.Shift()
	o, _ := manned(s)
	srv := serve(t, o)
	sent := with(sheet(t, srv, "/do?command=schedule-downtime"), "target", "group", "group", "web-servers",
		"repeat", "weekly", "author", "jo", "comment", "backup", "day", "saturday", "from", "22:00", "to", "02:00", "timezone", "UTC")
	_, doc := post(t, srv, sent)
	if text := textOf(elementByID(doc, "sheet")); !strings.Contains(text, "Sat 2026-03-07 22:00 to Sun 2026-03-08 02:00") || !strings.Contains(text, "4 h") {
		t.Errorf("the night is not one: %s", text)
	}
}

func TestEveryCommandHasItsForm(t *testing.T) {
	o, _ := manned(sample.Shift())
	srv := serve(t, o)
	menu := parsePage(t, srv.URL+"/do?object=web01!http", http.StatusOK)
	links := find(elementByID(menu, "sheet"), func(n *html.Node) bool { to, _ := attr(n, "href"); return strings.HasPrefix(to, "/do?command=") })
	if len(links) != len(commandNames()) {
		t.Errorf("the menu has %d commands of %d", len(links), len(commandNames()))
	}
	for _, l := range links {
		to, _ := attr(l, "href")
		doc := parsePage(t, srv.URL+to, http.StatusOK)
		v := formOf(t, doc)
		if v.Get("object") != "web01!http" || v.Get("command") == "" {
			t.Errorf("%s: %v", to, v)
		}
		for _, n := range find(elementByID(doc, "sheet"), func(n *html.Node) bool { return n.Data == "input" || n.Data == "textarea" || n.Data == "select" }) {
			id, _ := attr(n, "id")
			if kind, _ := attr(n, "type"); kind == "hidden" {
				continue
			}
			labelled := find(doc, func(l *html.Node) bool { to, _ := attr(l, "for"); return l.Data == "label" && to == id })
			if inside := n.Parent; len(labelled) != 1 && inside.Data != "label" {
				t.Errorf("%s: %s has no label", to, id)
			}
		}
	}
	parsePage(t, srv.URL+"/do?command=reboot", http.StatusNotFound)
}

func TestOnlyWhoMayWriteUsesForms(t *testing.T) {
	o, d := manned(sample.Shift())
	o.Token = "geheim"
	srv := serve(t, o)
	doc := parsePage(t, srv.URL+"/do?command=add-comment&object=web01", http.StatusOK)
	if text := textOf(elementByID(doc, "sheet")); !strings.Contains(text, "sign in to change anything") || strings.Contains(text, "Add the comment") {
		t.Errorf("a browser without the token is offered the button: %s", text)
	}
	sent := url.Values{"command": {"add-comment"}, "object": {"web01"}, "comment": {"x"}, "author": {"jo"}}
	if resp, _ := post(t, srv, sent); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: %s", resp.Status)
	}
	if resp, _ := post(t, srv, sent, "Sec-Fetch-Site", "cross-site"); resp.StatusCode != http.StatusForbidden {
		t.Errorf("from another site: %s", resp.Status)
	}
	signed := []string{"Cookie", cookie + "=" + (&site{Options: Options{Token: "geheim"}}).session()}
	resp, _ := post(t, srv, sent, signed...)
	if resp.StatusCode != http.StatusSeeOther || d.n != 1 || d.site.State("web01").Status.Extra.Comments[0].Author != "jo" {
		t.Errorf("signed in: %s, %d commands", resp.Status, d.n)
	}
	var name string
	for _, c := range resp.Cookies() {
		if c.Name == nameCookie {
			name = c.Value
		}
	}
	_, body := ask(t, http.MethodGet, srv.URL+"/do?command=add-comment&object=web01", "", "Cookie", signed[1]+"; "+nameCookie+"="+name)
	if !strings.Contains(body, `value="jo"`) {
		t.Errorf("the name is not kept: %q", name)
	}
}
