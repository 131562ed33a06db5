package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/sample"
)

func TestWhatWasNeverCheckedSaysWhenItWillBe(t *testing.T) {
	const every = 10 * time.Hour // the next place on the grid lies ahead
	rule := func(kind object.CheckKind, interval time.Duration) *object.Rule {
		r := &object.Rule{Active: true, Attempts: 2, Interval: interval, Initial: object.Critical, Check: object.Check{Kind: kind}}
		if kind == object.CheckPassive {
			r.Passive, r.Freshness = true, time.Hour
		}
		return r
	}
	h := &object.Object{ID: object.HostID("h"), Name: "h", Rule: &object.Rule{Active: true, Attempts: 1, Check: object.Check{Kind: object.CheckTCP}}}
	service := func(name string, r *object.Rule) *object.Object {
		return &object.Object{ID: object.ServiceID("h", name), Name: name, Host: h, Rule: r}
	}
	site := sample.New(h, service("tcp", rule(object.CheckTCP, every)), service("once", rule(object.CheckTCP, 0)),
		service("passive", rule(object.CheckPassive, 0)), service("none", rule(object.CheckNone, every)), service("done", rule(object.CheckTCP, every)))
	site.Result("h!done", object.OK, "fine", 0)
	o := options(site)
	started := object.At(o.Status().Started)
	srv := serve(t, o)
	stamp := func(at object.Time) string { return at.Std().Format("2006-01-02T15:04:05.000Z") }
	for path, want := range map[string]string{
		"/services/h/tcp":     stamp(fold.NextSlot("h!tcp", every, started)),
		"/services/h/once":    stamp(started),
		"/services/h/passive": "",
		"/services/h/none":    "",
		"/hosts/h":            "", // without an interval a host is checked on demand
		"/services/h/done":    stamp(object.At(sample.Now.Add(time.Minute))),
	} {
		var item struct {
			State   string
			Attempt int
			Next    string `json:"next_check"`
		}
		_, body := ask(t, http.MethodGet, srv.URL+root+path, "")
		if err := json.Unmarshal([]byte(body), &item); err != nil || item.Next != want {
			t.Errorf("%s: next check %q, want %q; %v", path, item.Next, want, err)
		}
		if done := path == "/services/h/done"; (item.State != "PENDING") != done || (item.Attempt != 0) != done {
			t.Errorf("%s: %+v", path, item)
		}
		_, page := ask(t, http.MethodGet, srv.URL+path, "")
		if strings.Contains(page, "attempt 2 of 2") || (want != "" && !strings.Contains(page, want[:19]+"Z")) {
			t.Errorf("%s: the page says another attempt or next check", path)
		}
	}
}

// A process that only shows what engines do does not know since when they count.
func TestWhatWasNeverCheckedIsNotDueInThePastElsewhere(t *testing.T) {
	rule := &object.Rule{Active: true, Attempts: 1, Check: object.Check{Kind: object.CheckTCP}}
	h := &object.Object{ID: "h", Name: "h", Rule: rule}
	o := options(sample.New(h, &object.Object{ID: "h!once", Name: "once", Host: h, Rule: rule}))
	o.Commands, o.Submit = nil, &elsewhere{}
	_, body := ask(t, http.MethodGet, serve(t, o).URL+root+"/services/h/once", "")
	if want := `"next_check":"` + sample.Now.UTC().Format("2006-01-02T15:04:05.000Z") + `"`; !strings.Contains(body, want) {
		t.Errorf("%s, want %s", body, want)
	}
}
