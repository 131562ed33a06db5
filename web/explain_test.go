package web

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/web/sample"
	"jaque.sh/jaque/web/wire"
)

func explainOf(t *testing.T, base string, pairs ...string) wire.Explanation {
	t.Helper()
	var e wire.Explanation
	get(t, base+root+"/explain?"+queryOf(pairs...), &e)
	return e
}

func queryOf(pairs ...string) string {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return q.Encode()
}

func TestAnExplanationSaysWhatWasDecidedAndWhatBecameOfIt(t *testing.T) {
	srv := serve(t, options(sample.Told()))
	e := explainOf(t, srv.URL, "object", "web01!http")
	if e.Condition == "" || e.Decision.Verdict == "" || len(e.Decision.Gates) < 10 || len(e.Decision.Contacts) < 3 {
		t.Fatalf("%+v", e)
	}
	if e.Decision.Send == (e.Decision.If != "") {
		t.Errorf("send %v, %q", e.Decision.Send, e.Decision.If)
	}
	sent := slices.IndexFunc(e.Recorded, func(n wire.Notification) bool { return n.Send })
	if sent < 0 || len(e.Recorded[sent].Deliveries) == 0 || e.Recorded[sent].Object != "web01!http" {
		t.Fatalf("recorded %+v", e.Recorded)
	}
	for _, d := range e.Recorded[sent].Deliveries {
		if d.Status == "unknown" || d.Contact == "" || d.Channel == "" {
			t.Errorf("delivery %+v", d)
		}
	}
	one := explainOf(t, srv.URL, "object", "web01!http", "contact", "boss")
	if len(one.Decision.Contacts) != 1 || one.Decision.Contacts[0].Name != "boss" {
		t.Errorf("asked about one contact: %+v", one.Decision.Contacts)
	}
}

func TestAnExplanationOfThePastIsAboutTheStateThen(t *testing.T) {
	srv := serve(t, options(sample.Told()))
	at := sample.Now.Add(-26*time.Hour - 30*time.Minute).Format(time.RFC3339)
	now := explainOf(t, srv.URL, "object", "rack7!disk05")
	then := explainOf(t, srv.URL, "object", "rack7!disk05", "at", at)
	if !then.Past || now.Past || !strings.HasPrefix(then.Condition, "CRITICAL") {
		t.Errorf("then %q (past %v), now %q", then.Condition, then.Past, now.Condition)
	}
	if !strings.Contains(then.Condition, "its host is DOWN") {
		t.Errorf("the host was down: %q", then.Condition)
	}
	if !slices.ContainsFunc(then.Caveats, func(c string) bool { return strings.Contains(c, "as it is now") }) {
		t.Errorf("caveats %q", then.Caveats)
	}
	early := explainOf(t, srv.URL, "object", "rack7!disk05", "at", "2020-01-01T00:00:00Z")
	if !strings.HasPrefix(early.Condition, "PENDING") || len(early.Recorded) != 0 || len(early.Caveats) < 2 {
		t.Errorf("before everything: %q, %q", early.Condition, early.Caveats)
	}
	later := explainOf(t, srv.URL, "object", "rack7!disk05", "at", sample.Now.Add(time.Hour).Format(time.RFC3339))
	if !later.Future || len(later.Caveats) == 0 {
		t.Errorf("in an hour: %+v", later.Caveats)
	}
}

func TestAnExplanationOfWhatIsNotThereSaysWhatMayBeMeant(t *testing.T) {
	srv := serve(t, options(sample.Told()))
	for query, want := range map[string]struct {
		status int
		text   string
	}{
		"":                                  {400, "object is missing"},
		"object=web01!htp":                  {404, `"did_you_mean":"web01!http"`},
		"object=web01&contact=mariah":       {404, `"did_you_mean":"maria"`},
		"object=web01&kind=problm":          {400, `"known":["PROBLEM",`},
		"object=web01&at=yesterday":         {400, "write a time as in"},
		"object=web01&at=1900-01-01T00:00Z": {400, "write a time as in"},
		"object=web01&at=-5":                {400, "after 1970"},
		"object=web01&who=x":                {400, "no parameter is called"},
	} {
		resp, body := ask(t, http.MethodGet, srv.URL+root+"/explain?"+query, "")
		if resp.StatusCode != want.status || !strings.Contains(body, want.text) {
			t.Errorf("%s: %s %s", query, resp.Status, body)
		}
	}
	if e := explainOf(t, srv.URL, "object", "web01", "kind", "custom"); e.Decision.Kind != "CUSTOM" {
		t.Errorf("a kind in small letters is %s", e.Decision.Kind)
	}
}

// broken is a log that cannot be read.
type broken struct{ *sample.Site }

func (broken) History(context.Context, journal.Query) ([]event.Event, error) { return nil, errBroken }

func TestAnExplanationWithoutALogSaysSo(t *testing.T) {
	o := options(sample.Told())
	o.History = nil
	srv := serve(t, o)
	if e := explainOf(t, srv.URL, "object", "web01!http"); len(e.Recorded) != 0 || len(e.Caveats) != 1 {
		t.Errorf("%+v", e.Caveats)
	}
	resp, body := ask(t, http.MethodGet, srv.URL+root+"/explain?object=web01&at=2026-01-01T00:00:00Z", "")
	if resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("%s %s", resp.Status, body)
	}
	o = options(sample.Told())
	o.History = broken{sample.Told()}
	srv = serve(t, o)
	for _, at := range []string{"", "&at=2026-01-01T00:00:00Z"} {
		resp, body := ask(t, http.MethodGet, srv.URL+root+"/explain?object=web01"+at, "")
		if resp.StatusCode != http.StatusInternalServerError || strings.Contains(body, errBroken.Error()) {
			t.Errorf("%s %s", resp.Status, body)
		}
	}
}

// logPage is a page of the notification log.
type logPage struct {
	Items []wire.Notification `json:"items"`
	Next  string              `json:"next"`
}

func logOf(t *testing.T, base string, pairs ...string) (all []wire.Notification) {
	t.Helper()
	for next := ""; ; {
		var page logPage
		get(t, base+root+"/notifications?"+queryOf(append(pairs, "cursor", next)...), &page)
		all = append(all, page.Items...)
		if page.Next == "" || page.Next == next {
			return all
		}
		next = page.Next
	}
}

func TestTheNotificationLogIsPagedAndFiltered(t *testing.T) {
	srv := serve(t, options(sample.Told()))
	whole := logOf(t, srv.URL, "limit", "1000")
	paged := logOf(t, srv.URL, "limit", "7")
	if len(whole) < 20 || len(paged) != len(whole) {
		t.Fatalf("whole %d, in pages %d", len(whole), len(paged))
	}
	for i := range whole {
		if whole[i].Seq != paged[i].Seq || i > 0 && whole[i].Time > whole[i-1].Time {
			t.Fatalf("item %d: %d and %d", i, whole[i].Seq, paged[i].Seq)
		}
	}
	for name, c := range map[string]struct {
		pairs []string
		fits  func(*wire.Notification) bool
	}{
		"of an object":         {[]string{"object", "web01!http"}, func(n *wire.Notification) bool { return n.Object == "web01!http" }},
		"of a kind":            {[]string{"kind", "recovery"}, func(n *wire.Notification) bool { return n.Kind == "RECOVERY" }},
		"that nobody was told": {[]string{"outcome", "suppressed"}, func(n *wire.Notification) bool { return !n.Send && len(n.Deliveries) == 0 }},
		"that was sent":        {[]string{"outcome", "sent"}, func(n *wire.Notification) bool { return n.Send }},
		"that was given up": {[]string{"outcome", "abandoned"}, func(n *wire.Notification) bool {
			return slices.ContainsFunc(n.Deliveries, func(d wire.NoteDelivery) bool { return d.Status == "abandoned" && d.Reason != "" })
		}},
		"over a channel": {[]string{"channel", "telegram"}, func(n *wire.Notification) bool {
			return slices.ContainsFunc(n.Deliveries, func(d wire.NoteDelivery) bool { return d.Channel == "telegram" })
		}},
		"to a contact": {[]string{"contact", "maria"}, func(n *wire.Notification) bool {
			return len(n.Contacts) == 1 && n.Contacts[0].Name == "maria" && !slices.ContainsFunc(n.Deliveries, func(d wire.NoteDelivery) bool { return d.Contact != "maria" })
		}},
		"of a time": {[]string{"since", sample.Now.Add(-2 * time.Hour).Format(time.RFC3339), "until", sample.Now.Format(time.RFC3339)}, func(n *wire.Notification) bool {
			return time.Duration(sample.Now.UnixMilli()-int64(n.Time))*time.Millisecond <= 2*time.Hour
		}},
	} {
		some := logOf(t, srv.URL, c.pairs...)
		if len(some) == 0 || len(some) >= len(whole) && name != "to a contact" {
			t.Errorf("%s: %d of %d", name, len(some), len(whole))
		}
		for i := range some {
			if !c.fits(&some[i]) {
				t.Errorf("%s: %+v", name, some[i])
			}
		}
	}
}

func TestTheNotificationLogRefusesWhatItDoesNotKnow(t *testing.T) {
	srv := serve(t, options(sample.Told()))
	for query, want := range map[string]string{
		"outcome=lost":    `write one of sent, suppressed, delivered`,
		"kind=PAGE":       `no kind of notification is called`,
		"since=yesterday": `write a time as in`,
		"since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z": `swap them`,
		"limit=0":  `from 1 to 1000`,
		"cursor=x": `start again without it`,
		"color=x":  `no parameter is called`,
	} {
		resp, body := ask(t, http.MethodGet, srv.URL+root+"/notifications?"+query, "")
		if resp.StatusCode != http.StatusBadRequest || !strings.Contains(body, want) {
			t.Errorf("%s: %s %s", query, resp.Status, body)
		}
	}
}

func TestOpenMessagesAreListed(t *testing.T) {
	s := sample.Told()
	srv := serve(t, options(s))
	var all, telegram struct {
		Items []wire.OpenRequest `json:"items"`
		Total int                `json:"total"`
	}
	get(t, srv.URL+root+"/notifications/open", &all)
	get(t, srv.URL+root+"/notifications/open?limit=1&channel=webhook", &telegram)
	if len(all.Items) != len(s.Projection.OpenRequests()) || all.Total == 0 || all.Items[0].Request == "" || all.Items[0].Object == "" {
		t.Errorf("open %+v", all)
	}
	for _, r := range telegram.Items {
		if r.Channel != "webhook" || len(telegram.Items) > 1 {
			t.Errorf("%+v", telegram)
		}
	}
}

func TestContactsAreListedWithoutTheirAddresses(t *testing.T) {
	srv := serve(t, options(sample.Told()))
	_, body := ask(t, http.MethodGet, srv.URL+root+"/contacts", "")
	var list struct {
		Items []wire.ContactEntry `json:"items"`
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(body, "@") || len(list.Items) != 5 {
		t.Fatalf("%s", body)
	}
	maria := list.Items[slices.IndexFunc(list.Items, func(c wire.ContactEntry) bool { return c.Name == "maria" })]
	if !slices.Equal(maria.Channels, []string{"email", "telegram"}) || !slices.Equal(maria.Groups, []string{"everybody", "shop"}) || !maria.Hosts || !maria.Services {
		t.Errorf("%+v", maria)
	}
	duty := 0
	for _, c := range list.Items {
		duty += len(c.OnCall)
	}
	if duty != 1 {
		t.Errorf("%d are on call", duty)
	}
}

func TestATestMessageSaysWhatBecameOfIt(t *testing.T) {
	o := options(sample.Told())
	var got []string
	o.TestNotify = func(_ context.Context, contact, channel string) ([]TestOutcome, error) {
		got = append(got, contact+" "+channel)
		if channel != "" {
			return []TestOutcome{{Channel: channel, Took: 1500 * time.Millisecond}}, nil
		}
		return []TestOutcome{{Channel: "email"}, {Channel: "telegram", Err: errBroken}}, nil
	}
	srv := serve(t, o)
	for name, c := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"over one channel":        {`{"contact":"maria","channel":"email"}`, 200, `{"contact":"maria","delivered":true,"outcomes":[{"channel":"email","delivered":true,"reason":"","seconds":1.5}]}`},
		"one of several fails":    {`{"contact":"maria"}`, 200, `"delivered":false,"outcomes":[{"channel":"email","delivered":true`},
		"a contact that is not":   {`{"contact":"mari"}`, 404, `"did_you_mean":"maria"`},
		"a channel that is not":   {`{"contact":"maria","channel":"fax"}`, 404, `write one of email, telegram`},
		"nobody":                  {`{}`, 400, `contact is missing`},
		"a field that is not":     {`{"contact":"maria","to":"x"}`, 400, `the fields contact and channel`},
		"something behind":        {`{"contact":"maria"}{}`, 400, `the fields contact and channel`},
		"no JSON":                 {`contact`, 400, `the fields contact and channel`},
		"far too much":            {`{"contact":"` + strings.Repeat("x", 70_000) + `"}`, 413, `more than 65536 bytes`},
		"a parameter in the path": {``, 400, ``},
	} {
		resp, body := ask(t, http.MethodPost, srv.URL+root+"/notify/test", c.body)
		if resp.StatusCode != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: %s %s", name, resp.Status, body)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, []string{"maria ", "maria email"}) {
		t.Errorf("sent %q", got)
	}
	o.TestNotify, o.Token = nil, "secret"
	srv = serve(t, o)
	if resp, _ := ask(t, http.MethodPost, srv.URL+root+"/notify/test", `{"contact":"maria"}`); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: %s", resp.Status)
	}
	if resp, body := ask(t, http.MethodPost, srv.URL+root+"/notify/test", `{"contact":"maria"}`, "Authorization", "Bearer secret"); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("where nothing is sent: %s %s", resp.Status, body)
	}
}
