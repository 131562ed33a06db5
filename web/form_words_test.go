package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/sample"
	"jaque.sh/jaque/web/view"
	"jaque.sh/jaque/web/wire"
)

func TestWhoAcknowledgedBeforeIsSaid(t *testing.T) {
	o, _ := manned(sample.Shift())
	srv := serve(t, o)
	const want = "db01!replication is acknowledged by maria, 48 min ago: “"
	doc := parsePage(t, srv.URL+"/do?command=acknowledge&object=db01!replication", http.StatusOK)
	if text := textOf(elementByID(doc, "sheet")); !strings.Contains(text, want) || !strings.Contains(text, "This replaces it.") {
		t.Errorf("form: %s", text)
	}
	_, doc = post(t, srv, with(sheet(t, srv, "/do?command=acknowledge&filter=problem"), "author", "jo", "comment", "x", "persistent", "true", "notify", "false"))
	text := textOf(elementByID(doc, "sheet"))
	for _, w := range []string{want, "until the recovery, also when the state changes", "Tells the people in chargeno", "Kept as a comment afterwardsyes"} {
		if !strings.Contains(spaced(text), spaced(w)) {
			t.Errorf("review lacks %q: %s", w, text)
		}
	}
	doc = parsePage(t, srv.URL+"/do?command=acknowledge&object=web01!http", http.StatusOK)
	if text := textOf(elementByID(doc, "sheet")); strings.Contains(text, "is acknowledged") {
		t.Errorf("nobody acknowledged it: %s", text)
	}
}

func TestOneVanishedObjectDoesNotStopTheOthers(t *testing.T) {
	o, d := manned(sample.Shift())
	srv := serve(t, o)
	var a wire.Accepted
	_, body := ask(t, http.MethodPost, srv.URL+root+"/commands", `{"command":"add-comment","objects":["web01","web0x","web02"],"comment":"x"}`, "Content-Type", "application/json")
	decode(t, body, &a)
	if a.Total != 3 || a.Failed != 1 || a.Results[2].Object != "web0x" || a.Results[2].Outcome != "refused" || !strings.Contains(a.Results[2].Detail, `no host is called "web0x"`) {
		t.Errorf("%s", body)
	}
	a = wire.Accepted{}
	_, body = ask(t, http.MethodPost, srv.URL+root+"/commands", `{"command":"add-comment","objects":["web0x","web02"],"comment":"x"}`, "Content-Type", "application/json")
	if decode(t, body, &a); a.Total != 2 || a.Failed != 1 {
		t.Errorf("one is left: %s", body)
	}
	for _, target := range []string{`"object":"web0x"`, `"objects":["web0x"]`, `"objects":["web0x","web0y"]`} {
		if resp, _ := ask(t, http.MethodPost, srv.URL+root+"/commands", `{"command":"check-now",`+target+`}`, "Content-Type", "application/json"); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", target, resp.Status)
		}
	}
	n := d.n
	_, doc := post(t, srv, with(sheet(t, srv, "/do?command=add-comment&object=web01&object=web0x&object=web02"), "author", "jo", "comment", "x"))
	if text := textOf(elementByID(doc, "sheet")); !strings.Contains(text, "It touches 2 objects.") || !strings.Contains(text, "1 object is not there any more: web0x") {
		t.Errorf("review: %s", text)
	}
	resp, _ := post(t, srv, formOf(t, doc))
	if resp.StatusCode != http.StatusSeeOther || d.n != n+1 {
		t.Fatal(resp.Status)
	}
	text := textOf(parsePage(t, srv.URL+resp.Header.Get("Location"), http.StatusOK))
	if !strings.Contains(text, "web0x") || !strings.Contains(text, "REFUSED") {
		t.Errorf("outcome: %s", text)
	}
}

func TestWhatIsOverHasNoButton(t *testing.T) {
	s := sample.Shift()
	o, _ := manned(s)
	srv := serve(t, o)
	for path, want := range map[string]string{
		"/do?command=cancel-downtime&id=d-none": "This downtime is over, or was cancelled.",
		"/do?command=delete-comment&id=c-none":  "This comment is not there any more.",
	} {
		doc := parsePage(t, srv.URL+path, http.StatusOK)
		text := textOf(elementByID(doc, "sheet"))
		if n := find(elementByID(doc, "sheet"), func(n *html.Node) bool { return n.Data == "button" }); len(n) != 0 || !strings.Contains(text, want) {
			t.Errorf("%s: %d buttons, %s", path, len(n), text)
		}
	}
	var once, whole string
	for _, st := range s.Projection.Extras() {
		for _, x := range st.Status.Extra.Downtimes {
			if r, ok := s.Projection.Program().Rules[x.Rule]; ok && len(r.Ranges) > 0 {
				once, whole = x.ID, x.Rule
			}
		}
	}
	if once == "" {
		s.Result("web01", object.Up, "fine", 0, func(e *event.Event) {
			e.Status.Extra = &event.Extra{Downtimes: []event.Downtime{{ID: "r-1@1", Rule: "r-1", Author: "ops", Text: "patches", Start: object.At(sample.Now), End: object.At(sample.Now.Add(2 * time.Hour))}}}
		})
		once, whole = "r-1@1", "r-1"
	}
	text := textOf(elementByID(parsePage(t, srv.URL+"/do?command=cancel-downtime&id="+url.QueryEscape(once), http.StatusOK), "sheet"))
	if !strings.Contains(text, "Only the time ") || !strings.Contains(text, "Europe/Madrid") || !strings.Contains(text, "the recurring downtime for group web-servers goes on") {
		t.Errorf("one time: %s", text)
	}
	text = textOf(elementByID(parsePage(t, srv.URL+"/do?command=cancel-downtime&id="+whole, http.StatusOK), "sheet"))
	if !strings.Contains(text, "All of its times are cancelled: sunday 02:00-04:00") {
		t.Errorf("the rule: %s", text)
	}
}

func TestOnlyWhatIsWrongIsCalledWrong(t *testing.T) {
	o, _ := manned(sample.Shift())
	srv := serve(t, o)
	_, doc := post(t, srv, with(sheet(t, srv, "/do?command=schedule-downtime&object=web01!http"), "author", "jo", "comment", "x", "repeat", "weekly"))
	wrong := find(doc, func(n *html.Node) bool { id, _ := attr(n, "id"); return strings.HasSuffix(id, "-error") })
	if len(wrong) != 1 || !strings.Contains(textOf(wrong[0]), "Choose at least one day.") {
		t.Errorf("%d are wrong: %s", len(wrong), textOf(elementByID(doc, "sheet")))
	}
}

func TestEveryRouteReachesTheServicesOfHosts(t *testing.T) {
	s := sample.Shift()
	o, _ := manned(s)
	srv := serve(t, o)
	for _, path := range []string{"&object=web01", "&object=web01&object=web02", "&kind=host&filter=*", "&kind=host&filter=problem", "&kind=host&group=web-servers"} {
		if got := sheet(t, srv, "/do?command=schedule-downtime"+path).Get("scope"); got != "with-services" {
			t.Errorf("%s: scope %q", path, got)
		}
	}
	_, doc := post(t, srv, with(sheet(t, srv, "/do?command=schedule-downtime&kind=host&filter=*"), "author", "jo", "comment", "x"))
	if text := textOf(elementByID(doc, "sheet")); !strings.Contains(text, "and those that are added later") || !strings.Contains(text, "Foreverything") {
		t.Errorf("everything: %s", text)
	}
}

func TestNoticesSayWhatWasDone(t *testing.T) {
	o, _ := manned(sample.Shift())
	srv := serve(t, o)
	say := func(path string, fill ...string) string {
		t.Helper()
		resp, doc := post(t, srv, with(sheet(t, srv, path), append(fill, "author", "jo")...))
		if resp.StatusCode == http.StatusOK { // a look comes first
			resp, doc = post(t, srv, formOf(t, doc))
		}
		if resp.StatusCode != http.StatusSeeOther {
			t.Fatalf("%s: %s %s", path, resp.Status, textOf(elementByID(doc, "sheet")))
		}
		return textOf(elementByID(parsePage(t, srv.URL+resp.Header.Get("Location"), http.StatusOK), "notice"))
	}
	for _, c := range []struct{ path, want string }{
		{"/do?command=disable&object=web01!http&what=notifications", "Done: Notifications are off now for web01!http."},
		{"/do?command=disable&object=web01!http&what=notifications", "Nothing to change: Notifications are off already for web01!http."},
		{"/do?command=enable&object=web01!http&what=flap_detection", "Nothing to change: Flap detection is on already for web01!http."},
		{"/do?command=disable&program=true&what=perfdata", "Done: Performance data is off now for the whole program."},
		{"/do?command=disable&program=true&what=perfdata", "Nothing to change: Performance data is off already for the whole program."},
		{"/do?command=set&object=web01!http&setting=interval&value=5m", "Done: web01!http has Check interval 5m now."},
		{"/do?command=cancel-downtime&id=r-1", "Done: group web-servers has this downtime no longer."},
		{"/do?command=disable&contact=maria&what=notifications", "Done: Notifications about hosts and services are off now for contact maria."},
		{"/do?command=add-comment&object=web01!http&comment=x", "Done: web01!http has a new comment."},
	} {
		fill := []string{}
		if strings.Contains(c.path, "comment=x") {
			fill = []string{"comment", "x"}
		}
		if got := say(c.path, fill...); got != c.want {
			t.Errorf("%s: %q, want %q", c.path, got, c.want)
		}
	}
}

func TestErrorsUseTheWordsOfTheForm(t *testing.T) {
	o, d := manned(sample.Shift())
	srv := serve(t, o)
	const down = "/do?command=schedule-downtime&object=web01!http"
	for name, c := range map[string]struct {
		path string
		fill []string
		want string
	}{
		"an end before the beginning":  {down, []string{"start", "2026-03-02T11:00", "end", "2026-03-02T10:00"}, "2026-03-02 10:00 Europe/Berlin is not after the beginning, 2026-03-02 11:00 Europe/Berlin."},
		"an end that has passed":       {down, []string{"end", "2026-02-28T10:00"}, "2026-02-28 10:00 Europe/Berlin has passed."},
		"a length that has passed":     {down, []string{"start", "2026-02-28T10:00", "duration", "1h"}, "It would be over already, since 2026-02-28 11:00 Europe/Berlin."},
		"a length of ages":             {down, []string{"duration", "99999999d"}, "“99999999d” is more than 20 years."},
		"a length that no clock holds": {down, []string{"duration", "999999999999999999999999999w"}, "is more than 20 years. Write a shorter length."},
		"the far future":               {down, []string{"start", "2126-03-02T11:00"}, "is more than 20 years ahead."},
		"a trigger":                    {down, []string{"trigger", "nothing"}, "The page of downtimes has them."},
		"a last day that has passed":   {down, []string{"repeat", "weekly", "day", "monday", "last", "2026-02-01"}, "The last day has passed."},
		"nothing to cancel":            {"/do?command=cancel-downtime&object=mail01", nil, "The page of downtimes has them all."},
	} {
		_, doc := post(t, srv, with(sheet(t, srv, c.path), append(c.fill, "author", "jo", "comment", "x", "timezone", "Europe/Berlin")...))
		text := textOf(elementByID(doc, "sheet"))
		if !strings.Contains(text, strings.NewReplacer("“", `"`, "”", `"`).Replace(c.want)) || strings.Contains(text, "/api/") || strings.Contains(text, "seconds") {
			t.Errorf("%s: want %q: %s", name, c.want, text)
		}
	}
	if d.n != 0 {
		t.Errorf("%d commands", d.n)
	}
	for filter, want := range map[string]string{
		"*": "everything", "kind=host": "every host", "(problem) and kind=service": "every service that matches “problem”",
		`id="a" or id="b"`: "a, b", `(host="a") and kind=service`: "the services of a", `host="a" or host="b"`: "a, b with services",
		`(a) or (b) and kind=host`: "everything that matches “(a) or (b) and kind=host”", `id="a" or host="b"`: "everything that matches “id=\"a\" or host=\"b\"”",
	} {
		if got := view.RuleTarget(&event.DowntimeRule{Filter: filter}); got != want {
			t.Errorf("%s: %q, want %q", filter, got, want)
		}
	}
}

func TestLengthsInManySpellings(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1w": 7 * 24 * time.Hour, "2 hours": 2 * time.Hour, "1h 30": 90 * time.Minute, "1h30": 90 * time.Minute, "1 week 2 days": 9 * 24 * time.Hour,
		"90": 90 * time.Minute, "1.5h": 90 * time.Minute, "45 min": 45 * time.Minute, "30 Seconds": 30 * time.Second, "0": 0,
	} {
		if got, ok := readLength(text); !ok || got != want {
			t.Errorf("%q is %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "h", "1x", "1h 2h", "30m 1h", "1d 12", "-1h", "1,5h", "1..5h", "2 hours ago", "1e9d"} {
		if got, ok := readLength(text); ok && text != "" {
			t.Errorf("%q is %v", text, got)
		}
	}
	for text, want := range map[string]string{"2 hours": "2h", "1h 30": "1h30m", "1d": "24h", "90s": "90s", "300": "300", "often": "often", "": ""} {
		if got := asDuration(text); got != want {
			t.Errorf("%q is %q as a setting", text, got)
		}
	}
	for text, want := range map[string]string{"1 000": "1000", "10,000": "10000", "10\u202f000": "10000", "1\u2009000": "1000", " 51 ": "51", "1.000": "1000", "5x": "5x"} {
		if got := count(text); got != want {
			t.Errorf("%q is %q", text, got)
		}
	}
}

func TestWhoIsSignedOutIsToldWhereToSignIn(t *testing.T) {
	o, _ := manned(sample.Shift())
	o.Token = "geheim"
	srv := serve(t, o)
	sheet := elementByID(parsePage(t, srv.URL+"/do?command=acknowledge&object=web01!http", http.StatusOK), "sheet")
	link := find(sheet, func(n *html.Node) bool {
		to, _ := attr(n, "href")
		return strings.HasPrefix(to, "/sign-in?back=%2Fdo%3Fcommand%3Dacknowledge")
	})
	if fields := find(sheet, func(n *html.Node) bool { return n.Data == "form" }); len(link) != 1 || len(fields) != 0 || !strings.Contains(textOf(sheet), "sign in to change anything") {
		t.Errorf("%d links, %d forms: %s", len(link), len(fields), textOf(sheet))
	}
}

func TestAResultIsNotTakenForGranted(t *testing.T) {
	o, d := manned(sample.Shift())
	srv := serve(t, o)
	empty := with(sheet(t, srv, "/do?command=submit-result&object=web01!http"), "author", "jo")
	if empty.Get("state") != "" {
		t.Errorf("%q is chosen already", empty.Get("state"))
	}
	_, doc := post(t, srv, empty)
	text := textOf(elementByID(doc, "sheet"))
	if d.n != 0 || !strings.Contains(text, "Choose the state.") || !strings.Contains(text, "Write what was found") {
		t.Errorf("%d commands: %s", d.n, text)
	}
	if resp, _ := post(t, srv, with(empty, "state", "OK", "output", "looked myself")); resp.StatusCode != http.StatusSeeOther || d.n != 1 {
		t.Errorf("filled in: %s", resp.Status)
	}
}
