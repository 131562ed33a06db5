package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/sample"
)

// attr returns an attribute of an element.
func attr(n *html.Node, key string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val, true
		}
	}
	return "", false
}

// find returns the elements that a test accepts.
func find(root *html.Node, accept func(*html.Node) bool) (out []*html.Node) {
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && accept(n) {
			out = append(out, n)
		}
	}
	return out
}

// elementByID returns the element with an id, nil if there is none.
func elementByID(root *html.Node, id string) *html.Node {
	for _, n := range find(root, func(n *html.Node) bool { v, _ := attr(n, "id"); return v == id }) {
		return n
	}
	return nil
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// formOf returns what a browser would send of the form of a sheet.
func formOf(t *testing.T, doc *html.Node) url.Values {
	t.Helper()
	forms := find(doc, func(n *html.Node) bool { c, _ := attr(n, "class"); return n.Data == "form" && c == "fields" })
	if len(forms) != 1 {
		t.Fatalf("%d forms in %.300s", len(forms), textOf(doc))
	}
	v := url.Values{}
	for _, n := range find(forms[0], func(*html.Node) bool { return true }) {
		name, _ := attr(n, "name")
		value, _ := attr(n, "value")
		_, checked := attr(n, "checked")
		kind, _ := attr(n, "type")
		switch {
		case name == "" || n.Data == "button":
		case n.Data == "textarea":
			v.Add(name, textContent(n))
		case n.Data == "select":
			for i, o := range find(n, func(o *html.Node) bool { return o.Data == "option" }) {
				if _, on := attr(o, "selected"); on || i == 0 {
					text, _ := attr(o, "value")
					v.Set(name, text)
				}
			}
		case kind == "checkbox" || kind == "radio":
			if checked {
				v.Add(name, value)
			}
		default:
			v.Add(name, value)
		}
	}
	return v
}

func textContent(n *html.Node) string {
	if n.FirstChild == nil {
		return ""
	}
	return n.FirstChild.Data
}

// sheet asks for a form.
func sheet(t *testing.T, srv *httptest.Server, path string) url.Values {
	t.Helper()
	return formOf(t, parsePage(t, srv.URL+path, http.StatusOK))
}

// post sends a form and returns the answer.
func post(t *testing.T, srv *httptest.Server, v url.Values, header ...string) (*http.Response, *html.Node) {
	t.Helper()
	resp, body := ask(t, http.MethodPost, srv.URL+doPath, v.Encode(), append(header, formType...)...)
	doc, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return resp, doc
}

// with returns values with some of them set to others.
func with(v url.Values, pairs ...string) url.Values {
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v
}

// ofOneObject are forms that are filled in and what is then to be seen.
var ofOneObject = map[string]struct {
	path  string
	fill  []string
	leads string
	check func(s *sample.Site) string // what is wrong
}{
	"an acknowledgement has its text, author and end": {
		"/do?command=acknowledge&object=web01!http",
		[]string{"comment", "on it", "author", "jo", "expires", "2026-03-01T15:30", "notify", "false"},
		"/services/web01/http?did=desk-1",
		func(s *sample.Site) string {
			st := s.State("web01!http").Status
			if st.Ack != object.AckSticky || st.Extra.AckAuthor != "jo" || st.Extra.AckText != "on it" || st.AckExpires.Std().Format("15:04") != "15:30" {
				return fmt.Sprintf("%+v", st)
			}
			return ""
		},
	},
	"a box that is not ticked counts": {
		"/do?command=acknowledge&object=web01!http",
		[]string{"comment", "on it", "author", "jo", "sticky", "false"},
		"/services/web01/http?did=desk-1",
		func(s *sample.Site) string {
			return unless(s.State("web01!http").Status.Ack == object.AckNormal, "it is sticky")
		},
	},
	"it can be taken back": {
		"/do?command=remove-acknowledgement&object=db01!replication",
		[]string{"author", "jo"},
		"/services/db01/replication?did=desk-1",
		func(s *sample.Site) string {
			return unless(s.State("db01!replication").Status.Ack == object.AckNone, "it is acknowledged")
		},
	},
	"a downtime begins now if nothing is said": {
		"/do?command=schedule-downtime&object=web01!http",
		[]string{"comment", "new disk", "author", "jo", "duration", "90"},
		"/services/web01/http?did=desk-1",
		func(s *sample.Site) string {
			for _, d := range s.State("web01!http").Status.Extra.Downtimes {
				return unless(d.Start == object.At(sample.Now) && d.End-d.Start == 90*60*1000, fmt.Sprintf("%+v", d))
			}
			return "none"
		},
	},
	"its times are in the zone of the form": {
		"/do?command=schedule-downtime&object=web01!http",
		[]string{"comment", "new disk", "author", "jo", "start", "2026-07-01T08:00", "end", "2026-07-01T09:30", "timezone", "Europe/Madrid"},
		"/services/web01/http?did=desk-1",
		func(s *sample.Site) string {
			d := s.State("web01!http").Status.Extra.Downtimes[0]
			return unless(d.Start.Std().UTC().Format("15:04") == "06:00" && d.End.Std().UTC().Format("15:04") == "07:30", fmt.Sprintf("%+v", d))
		},
	},
	"a flexible one has its length": {
		"/do?command=schedule-downtime&object=web01!http",
		[]string{"comment", "new disk", "author", "jo", "begins", "flexible", "flexible", "1h30m"},
		"/services/web01/http?did=desk-1",
		func(s *sample.Site) string {
			d := s.State("web01!http").Status.Extra.Downtimes[0]
			return unless(d.Duration == 90*60*1000 && d.Flexible(), fmt.Sprintf("%+v", d))
		},
	},
	"a downtime is cancelled by its id": {
		"/do?command=cancel-downtime&id=d-3&back=/downtimes",
		[]string{"author", "jo"},
		"/downtimes?did=desk-1",
		func(s *sample.Site) string {
			return unless(s.State("web03").Status.DowntimeDepth == 0, "it is in downtime")
		},
	},
	"one of many that a rule made is cancelled for its object": {
		"/do?command=cancel-downtime&object=web02!load&start=2026-03-04T02:00:00Z&back=/downtimes",
		[]string{"author", "jo"},
		"/downtimes?did=desk-1",
		func(s *sample.Site) string {
			d := s.State("web02!load").Status.Extra.Downtimes
			return unless(len(d) == 2 && len(s.Projection.Program().Rules) == 2, fmt.Sprintf("%+v", d))
		},
	},
	"a downtime for many is cancelled by its id": {
		"/do?command=cancel-downtime&id=r-1&back=/downtimes",
		[]string{"author", "jo"},
		"/downtimes?did=desk-1",
		func(s *sample.Site) string {
			_, ok := s.Projection.Program().Rules["r-1"]
			return unless(!ok, "the rule is there")
		},
	},
	"a comment keeps its lines": {
		"/do?command=add-comment&object=db01",
		[]string{"comment", "first\nsecond", "author", "jo"},
		"/hosts/db01?did=desk-1",
		func(s *sample.Site) string {
			c := s.State("db01").Status.Extra.Comments[0]
			return unless(c.Text == "first\nsecond" && c.Author == "jo" && c.Persistent, fmt.Sprintf("%+v", c))
		},
	},
	"one comment is deleted, the other one stays": {
		"/do?command=delete-comment&id=c-1&back=/comments",
		[]string{"author", "jo"},
		"/comments?did=desk-1",
		func(s *sample.Site) string {
			c := s.State("web01!http").Status.Extra.Comments
			return unless(len(c) == 1 && c[0].ID == "c-2", fmt.Sprintf("%+v", c))
		},
	},
	"a result needs no name": {
		"/do?command=submit-result&object=db01!backup",
		[]string{"state", "WARNING", "output", "slow", "long_output", "a\nb", "perfdata", "t=1"},
		"/services/db01/backup?did=desk-1",
		func(s *sample.Site) string {
			m := s.State("db01!backup").Measure
			return unless(m.Output == "slow" && m.Long == "a\nb" && m.Perfdata == "t=1" && m.State == object.Warning && m.Passive, fmt.Sprintf("%+v", m))
		},
	},
	"a switch is turned off": {
		"/do?command=disable&object=web01&what=notifications",
		[]string{"author", "jo"},
		"/hosts/web01?did=desk-1",
		func(s *sample.Site) string {
			st := s.State("web01").Status
			return unless(st.Off == object.SwitchNotifications && st.Extra.Settings[0].Author == "jo", fmt.Sprintf("%+v", st))
		},
	},
	"a setting is changed": {
		"/do?command=set&object=web01",
		[]string{"author", "jo", "setting", "interval", "value", "5m"},
		"/hosts/web01?did=desk-1",
		func(s *sample.Site) string {
			v, ok := s.State("web01").Status.Setting("interval")
			return unless(ok && v == "5m0s", v)
		},
	},
	"the whole program is switched": {
		"/do?command=disable&program=true&what=event_handlers&back=/settings",
		[]string{"author", "jo"},
		"/settings?did=desk-1",
		func(s *sample.Site) string {
			return unless(s.Projection.Program().Switches.Off.Has(object.ProgramEventHandlers), "it is on")
		},
	},
	"a contact is switched for one kind of object": {
		"/do?command=enable&contact=night&what=notifications&kind=service&back=/settings",
		[]string{"author", "jo"},
		"/settings?did=desk-1",
		func(s *sample.Site) string {
			return unless(!s.Projection.Program().Contacts["night"].ServiceOff, "it is off")
		},
	},
}

func TestFormsOfOneObjectDoWhatTheySay(t *testing.T) {
	for name, c := range ofOneObject {
		t.Run(name, func(t *testing.T) {
			s := sample.Shift()
			o, _ := manned(s)
			srv := serve(t, o)
			resp, doc := post(t, srv, with(sheet(t, srv, c.path), c.fill...))
			if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != c.leads {
				t.Fatalf("%s, leads to %q: %.600s", resp.Status, resp.Header.Get("Location"), textOf(elementByID(doc, "main")))
			}
			if wrong := c.check(s); wrong != "" {
				t.Error(wrong)
			}
			notice := elementByID(parsePage(t, srv.URL+c.leads, http.StatusOK), "notice")
			if notice == nil || !strings.HasPrefix(textOf(notice), "Done: ") {
				t.Errorf("the page does not say what was done: %v", notice)
			}
		})
	}
}

func unless(right bool, wrong string) string {
	if right {
		return ""
	}
	return wrong
}

func TestAWrongFormKeepsWhatWasTyped(t *testing.T) {
	ack, down := "/do?command=acknowledge&object=web01!http", "/do?command=schedule-downtime&object=web01!http"
	weekly := []string{"repeat", "weekly", "author", "jo", "comment", "patches", "day", "sunday"}
	for name, c := range map[string]struct {
		path  string
		fill  []string
		field string // that is complained about first
		text  string
	}{
		"a name is missing":                     {ack, []string{"comment", "I look"}, "author", "Write your name"},
		"a text is missing":                     {ack, []string{"author", "jo"}, "comment", "Write why"},
		"an end that has passed":                {ack, []string{"author", "jo", "comment", "x", "expires", "2026-03-01T11:00"}, "expires", "has passed"},
		"an end that is no time":                {ack, []string{"author", "jo", "comment", "x", "expires", "tomorrow"}, "expires", "is no date and time"},
		"a downtime that ends before it starts": {down, []string{"author", "jo", "comment", "x", "start", "2026-03-02T11:00", "end", "2026-03-02T10:00"}, "end", "2026-03-02 10:00 UTC is not after the beginning, 2026-03-02 11:00 UTC"},
		"a length that is none":                 {down, []string{"author", "jo", "comment", "x", "duration", "soon"}, "duration", "is no length"},
		"a length of nothing":                   {down, []string{"author", "jo", "comment", "x", "duration", "0"}, "duration", "above 0"},
		"a zone that nobody knows":              {down, []string{"author", "jo", "comment", "x", "timezone", "Mars/Base"}, "timezone", "no time zone is called Mars/Base"},
		"an hour that the clocks leave out":     {down, []string{"author", "jo", "comment", "x", "start", "2026-03-29T02:30", "timezone", "Europe/Madrid"}, "start", "does not exist in Europe/Madrid"},
		"a flexible downtime without a length":  {down, []string{"author", "jo", "comment", "x", "begins", "flexible", "flexible", ""}, "flexible", "how long it lasts"},
		"a trigger that is not there":           {down, []string{"author", "jo", "comment", "x", "trigger", "d-9"}, "trigger", "No object has a downtime with this id"},
		"no day was chosen":                     {down, []string{"repeat", "weekly", "author", "jo", "comment", "x"}, "day", "at least one day"},
		"a night without a length":              {down, append(weekly, "from", "04:00", "to", "04:00"), "to", "ends when it begins"},
		"a clock that has 25 hours":             {down, append(weekly, "from", "25:00"), "from", "time of day"},
		"a line that is no range":               {down, []string{"repeat", "weekly", "author", "jo", "comment", "x", "other", "caturday 1-2"}, "other", "caturday"},
		"a last day before the first":           {down, append(weekly, "first", "2026-04-02", "last", "2026-04-01"), "last", "before the first day"},
		"no switch was chosen":                  {"/do?command=disable&object=web01", []string{"author", "jo"}, "what", "Choose at least one"},
		"an interval that is none":              {"/do?command=set&object=web01", []string{"author", "jo", "setting", "interval", "value", "often"}, "value", "write a duration"},
	} {
		t.Run(name, func(t *testing.T) {
			o, d := manned(sample.Shift())
			srv := serve(t, o)
			sent := with(sheet(t, srv, c.path), c.fill...)
			resp, doc := post(t, srv, sent)
			if resp.StatusCode < 400 || resp.StatusCode >= 500 || d.n != 0 {
				t.Fatalf("%s after %d commands: %.500s", resp.Status, d.n, textOf(elementByID(doc, "main")))
			}
			wrong := elementByID(doc, "f-"+c.field)
			if wrong == nil {
				t.Fatalf("no field %s", c.field)
			}
			about, _ := attr(wrong, "aria-describedby")
			invalid, _ := attr(wrong, "aria-invalid")
			said := elementByID(doc, about)
			if invalid != "true" || said == nil || !strings.Contains(textOf(said), c.text) {
				t.Errorf("field %s: invalid is %q, described by %q: %.800s", c.field, invalid, about, textOf(elementByID(doc, "main")))
			}
			if focus := find(elementByID(doc, "sheet"), func(n *html.Node) bool { _, on := attr(n, "autofocus"); return on }); len(focus) != 1 {
				t.Errorf("%d elements want the focus", len(focus))
			}
			got := formOf(t, doc)
			for field, values := range sent {
				if !slices.Equal(got[field], values) {
					t.Errorf("field %s was %q, is %q", field, values, got[field])
				}
			}
		})
	}
}

func TestARefusalKeepsTheFormAndSaysWhy(t *testing.T) {
	s := sample.Shift()
	o, _ := manned(s)
	srv := serve(t, o)
	resp, doc := post(t, srv, with(sheet(t, srv, "/do?command=acknowledge&object=web04!http"), "author", "jo", "comment", "seen"))
	if text := textOf(elementByID(doc, "sheet")); resp.StatusCode != http.StatusBadRequest || !strings.Contains(text, "web04!http") || formOf(t, doc).Get("comment") != "seen" {
		t.Errorf("%s: %s", resp.Status, text)
	}
	o.Commands = &commands{err: ErrUnavailable}
	o.Registerer = nil
	srv = serve(t, o)
	resp, doc = post(t, srv, with(sheet(t, srv, "/do?command=add-comment&object=web04"), "author", "jo", "comment", "seen"))
	if text := textOf(elementByID(doc, "sheet")); resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(text, "ry again") || formOf(t, doc).Get("comment") != "seen" {
		t.Errorf("%s: %s", resp.Status, text)
	}
	o.Commands = &commands{err: errors.New("secret detail")}
	o.Registerer = nil
	srv = serve(t, o)
	resp, doc = post(t, srv, with(sheet(t, srv, "/do?command=add-comment&object=web04"), "author", "jo", "comment", "seen"))
	if text := textOf(doc); resp.StatusCode != http.StatusInternalServerError || strings.Contains(text, "secret") {
		t.Errorf("%s: %s", resp.Status, text)
	}
}
