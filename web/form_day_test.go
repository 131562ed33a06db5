package web

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/sample"
)

func TestPagesOfTheDaySayWhatPeopleDid(t *testing.T) {
	o, _ := manned(sample.Shift())
	srv := serve(t, o)
	for path, want := range map[string][]string{
		"/downtimes": {
			"Running 2", "Coming 1", "disk is being replaced", "new power supply", "flexible: 1 h from the first problem",
			"recurring group web-servers sunday 02:00-04:00 Europe/Madrid", "next: Sun 2026-03-08 02:00 to 04:00", "once sw1 with its services",
		},
		"/downtimes?filter=host=web03":        {"new power supply", "Running 1"},
		"/downtimes?filter=group=web-servers": {"made by r-1"},
		"/comments":                           {"1 to 2 of 2", "web01!http jo 2 min ago goes in 1 h the shop's team knows"},
		"/comments?filter=state=OK":           {"Nobody left a comment."},
		"/settings": {
			"Notifications off Turn on : Notifications by maria 15 min ago", "night whoever has the phone at night",
			"Objects that differ from the configuration 3", "web04!disk Check interval: 10m0s configured: 1m0s maria 3 h ago",
		},
		"/services/db01/replication":  {"acknowledged maria 48 min ago until it has recovered", "restored after the import"},
		"/services/web03/http":        {"Its host web03 is in downtime until 2026-03-01 12:40:00 UTC"},
		"/services/mail01/imap":       {"Behind mail01 , which is DOWN"},
		"/services?filter=host=web03": {"host in downtime"},
		"/services/web04/disk":        {"checks off", "notifications off", "Active checks off Back to on : Active checks by jo 1 h 30 min ago"},
		"/":                           {"Not shown:", "1 acknowledged", "1 in downtime", "1 being retried"},
		"/keys":                       {"a Acknowledge: the object of the page", "Esc close the form"},
		"/events":                     {"group web-servers: patches of the web servers", "contact night"},
	} {
		text := textOf(elementByID(parsePage(t, srv.URL+path, http.StatusOK), "main"))
		for _, w := range want {
			if !strings.Contains(spaced(text), spaced(w)) {
				t.Errorf("%s lacks %q: %s", path, w, text)
			}
		}
	}
	for _, path := range []string{"/downtimes?filter=stat%3D1", "/comments?filter=("} {
		resp, _ := ask(t, http.MethodGet, srv.URL+path, "")
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
}

// spaced leaves out what elements have between them.
func spaced(text string) string { return strings.Join(strings.Fields(text), "") }

func TestOnePressSetsASwitchBack(t *testing.T) {
	s := sample.Shift()
	o, d := manned(s)
	srv := serve(t, o)
	doc := parsePage(t, srv.URL+"/services/web04/disk", http.StatusOK)
	var press []url.Values
	for _, f := range find(doc, func(n *html.Node) bool { to, _ := attr(n, "action"); return n.Data == "form" && to == doPath }) {
		v := url.Values{}
		for _, in := range find(f, func(n *html.Node) bool { return n.Data == "input" }) {
			name, _ := attr(in, "name")
			value, _ := attr(in, "value")
			v.Add(name, value)
		}
		press = append(press, v)
	}
	if len(press) != 5 { // three settings, and the two of them that are switches
		t.Fatalf("%d buttons: %v", len(press), press)
	}
	resp, doc := post(t, srv, press[0])
	if text := textOf(elementByID(doc, "sheet")); resp.StatusCode != http.StatusBadRequest || d.n != 0 || !strings.Contains(text, "Write your name") || !strings.Contains(text, "Active checks") {
		t.Errorf("without a name: %s %s", resp.Status, text)
	}
	for _, v := range press[:3] {
		resp, doc = post(t, srv, v, "Cookie", nameCookie+"=jo")
		if resp.StatusCode == http.StatusSeeOther {
			continue
		}
		t.Errorf("%v: %s %.300s", v, resp.Status, textOf(doc))
	}
	if st := s.State("web04!disk").Status; st.Off != 0 || st.On != 0 || st.Extra != nil && len(st.Extra.Settings) != 0 {
		t.Errorf("not as configured: %+v %+v", st, st.Extra)
	}
}

func TestLengthsAreReadAsPeopleWriteThem(t *testing.T) {
	for text, want := range map[string]string{
		"90": "5400", "90m": "5400", "2h": "7200", "1h30m": "5400", "1 h 30 min": "5400", "1d": "86400", "1d12h": "129600", "1.5h": "5400",
		"": "", "soon": "", "-1h": "", "0": "", "1d soon": "", "xd": "", "1e9d": "",
	} {
		d := &draft{values: url.Values{"duration": {text}}, wrong: map[string]string{}}
		n, got := d.length("duration"), ""
		if n > 0 {
			got = seconds(n)
		}
		if got != want || (want == "" && text != "") != (d.wrong["duration"] != "") {
			t.Errorf("%q is %q, want %q; wrong is %q", text, got, want, d.wrong["duration"])
		}
	}
}

func TestOutcomesAreForgottenInTheirOrder(t *testing.T) {
	var o outcomes
	for _, id := range strings.Split(strings.Repeat("a b c ", mostOutcomes)+"first", " ") {
		o.put(id, &outcome{command: id})
	}
	for n := range mostOutcomes - 1 {
		o.put(strings.Repeat("x", n+1), &outcome{})
	}
	if o.get("first") == nil || o.get("a") != nil || len(o.byID) != mostOutcomes || len(o.order) != mostOutcomes {
		t.Errorf("%d are kept", len(o.byID))
	}
}

func TestSentencesKeepNamesAsTheyAre(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "end is missing": "End is missing.", "web01!http is OK": "web01!http is OK.", "no host; did you mean \"x\"?": "No host; did you mean \"x\"?", "done.": "done.",
	} {
		if got := sentence(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestAKindlessObjectIsNoReasonToFail(t *testing.T) {
	o, _ := manned(sample.New(&object.Object{ID: "a", Name: "a", Rule: &object.Rule{}}))
	srv := serve(t, o)
	for _, path := range []string{"/", "/hosts", "/hosts/a", "/downtimes", "/comments", "/settings", "/do?object=a", "/do?command=cancel-downtime&id=none", "/do?command=delete-comment&id=none"} {
		parsePage(t, srv.URL+path, http.StatusOK)
	}
}

func FuzzForms(f *testing.F) {
	f.Add("command=schedule-downtime&object=web01&repeat=weekly&day=sunday&from=22:00&to=02:00&timezone=Europe/Madrid&author=a&comment=b")
	f.Add("command=acknowledge&filter=problem&kind=service&expires=2026-03-01T12:30&author=a&comment=b")
	f.Add("command=acknowledge&expires=2026-01-01T0:00") // one digit less than is written back
	f.Add("command=cancel-downtime&id=d-3&start=2026-03-01T12:30:00Z")
	f.Add("command=set&object=web01&object=web02&setting=interval&value=")
	o, _ := manned(sample.Shift())
	o.Logger = slog.New(slog.DiscardHandler)
	h, err := New(o)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, step := range []string{"&step=preview", "&step=edit", ""} {
			r := httptest.NewRequest(http.MethodPost, "http://localhost"+doPath, strings.NewReader(body+step))
			r.Header.Set(formType[0], formType[1])
			r.RemoteAddr = "127.0.0.1:1"
			local, _ := net.ResolveTCPAddr("tcp", "127.0.0.1:2")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r.WithContext(contextWithAddr(r, local)))
			if w.Code >= 500 && w.Code != http.StatusServiceUnavailable {
				t.Errorf("%q: %d", body+step, w.Code)
			}
		}
	})
}
