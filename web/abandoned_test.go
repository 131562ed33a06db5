package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/web/sample"
)

// hushed returns the office after the messages of a problem that is still there
// were given up.
func hushed() *sample.Site {
	s := sample.Told()
	s.Result("web02!http", object.Critical, "gone for good", 20*time.Minute)
	list, _ := s.History(context.Background(), journal.Query{Object: "web02!http", Kinds: noteKinds(), Limit: 10})
	for _, r := range list[0].Requests() {
		s.Outcome(r, event.NotificationAbandoned, 10*time.Minute, map[string]string{event.FactAttempts: "1", event.FactReason: "not delivered within 10 min"})
	}
	return s
}

func TestWhatWasGivenUpIsSaidOnEveryPage(t *testing.T) {
	srv := serve(t, telling(hushed()))
	for _, path := range everyPage {
		resp, body := ask(t, http.MethodGet, srv.URL+path, "")
		if !strings.Contains(body, "that nobody took note of") || !strings.Contains(body, `href="/notifications?outcome=abandoned"`) {
			t.Errorf("%s, %s: it does not say that people were not reached", path, resp.Status)
		}
	}
	for path, want := range map[string][]string{
		"/notifications":        {"notifications were given up since"},
		"/contacts?name=maria":  {"<b>given up</b>", "not delivered within 10 min"},
		"/services/web02/http":  {"given up"},
		"/notifications?kind=x": {"that nobody took note of"},
	} {
		_, body := ask(t, http.MethodGet, srv.URL+path, "")
		for _, text := range want {
			if !strings.Contains(body, text) {
				t.Errorf("%s does not say %q", path, text)
			}
		}
	}
}

func TestNothingIsSaidOfWhatWasGivenUpOnceSomebodyTookNote(t *testing.T) {
	s := hushed()
	for _, o := range s.Set().Objects {
		s.Result(o.ID, object.OK, "fine again", 0)
	}
	_, body := ask(t, http.MethodGet, serve(t, telling(s)).URL+"/hosts", "")
	if strings.Contains(body, "that nobody took note of") {
		t.Error("problems that are over still have a banner")
	}
}

// counting is a log that counts how often it is read.
type counting struct {
	Log
	reads int
	err   error
}

func (c *counting) History(ctx context.Context, q journal.Query) ([]event.Event, error) {
	c.reads++
	if c.err != nil {
		return nil, c.err
	}
	return c.Log.History(ctx, q)
}

func TestTheLogIsNotReadForEveryBanner(t *testing.T) {
	s := hushed()
	log := &counting{Log: s}
	o := telling(s)
	o.History = log
	srv := serve(t, o)
	for range 5 {
		ask(t, http.MethodGet, srv.URL+"/hosts", "")
	}
	if log.reads != 1 {
		t.Errorf("five pages read the log %d times", log.reads)
	}
}

// damaged is a log that gives nothing of what it holds.
type damaged struct{ Log }

func (damaged) History(context.Context, journal.Query) ([]event.Event, error) { return nil, nil }

func TestAnUnreadableLogDoesNotLookEmpty(t *testing.T) {
	s := sample.Told()
	for name, c := range map[string]struct {
		log  Log
		want map[string]string // by path
	}{
		"it answers with an error": {&counting{Log: s, err: errors.New("no quorum")}, map[string]string{
			"/notifications": "The event log cannot be read", "/contacts": "The event log cannot be read", "/status": "The event log cannot be read",
			"/services/web01/http": "who was told is not known",
		}},
		"it gives nothing": {damaged{s}, map[string]string{"/notifications": "The event log cannot be read"}},
	} {
		o := telling(s)
		o.History = c.log
		srv := serve(t, o)
		for path, want := range c.want {
			if resp, body := ask(t, http.MethodGet, srv.URL+path, ""); !strings.Contains(body, want) || path == "/notifications" && resp.StatusCode != http.StatusServiceUnavailable {
				t.Errorf("%s: %s, %s, does not say %q", name, path, resp.Status, want)
			}
		}
	}
}

func TestAnObjectThatNobodyHearsOfSaysSo(t *testing.T) {
	s := sample.Told()
	for _, id := range []object.ID{"web02", "web02!http"} {
		s.Set().Get(id).Notify = nil
	}
	srv := serve(t, telling(s))
	for path, want := range map[string]string{
		"/hosts/web02":         "Nobody is ever told of this host: no policy is for it.",
		"/services/web02/http": "Nobody is ever told of this service: no policy is for it.",
	} {
		if _, body := ask(t, http.MethodGet, srv.URL+path, ""); !strings.Contains(body, want) || !strings.Contains(body, `href="/explain?object=web02`) {
			t.Errorf("%s does not say %q with a link that explains it", path, want)
		}
	}
	for _, id := range []string{"web02", "web02!http"} {
		if resp, _ := ask(t, http.MethodGet, srv.URL+"/explain?object="+id, ""); resp.StatusCode != http.StatusOK {
			t.Errorf("explaining %s: %s", id, resp.Status)
		}
	}
}

func TestAFormSaysWhichNotificationsOfAContactItSwitches(t *testing.T) {
	srv := serve(t, telling(sample.Told()))
	for query, want := range map[string]string{
		"&kind=host":    "contact maria: Notifications about hosts",
		"&kind=service": "contact maria: Notifications about services",
		"":              "contact maria: Notifications about hosts and services",
	} {
		if _, body := ask(t, http.MethodGet, srv.URL+"/do?command=disable&contact=maria&what=notifications"+query, ""); !strings.Contains(body, want+"<") {
			t.Errorf("%q: the form does not say %q", query, want)
		}
	}
}

func TestWhatLeftTheConfigurationLeadsToItsLog(t *testing.T) {
	s := sample.Told()
	s.Append(event.Event{
		Kind: event.NotificationSuppressed, Object: "old!s", Time: object.At(sample.Now.Add(-time.Minute)), Notes: []event.Note{{Kind: "PROBLEM"}},
	})
	srv := serve(t, telling(s))
	for path, want := range map[string]string{"/notifications": `href="/notifications?object=old%21s"`, "/events": `href="/events?object=old%21s"`} {
		if _, body := ask(t, http.MethodGet, srv.URL+path, ""); !strings.Contains(body, want) || strings.Contains(body, "/services/old/s") || strings.Contains(body, "/explain?object=old") {
			t.Errorf("%s: it leads to a page that is not there", path)
		}
	}
}

func TestTheLogIsNarrowedInAnyCase(t *testing.T) {
	srv := serve(t, telling(sample.Told()))
	for _, q := range [][2]string{{"kind=recovery", "kind=RECOVERY"}, {"state=down", "state=DOWN"}, {"outcome=WAITING", "outcome=waiting"}, {"kind=Custom", "kind=CUSTOM"}} {
		got, _ := rows(t, srv.URL+"/notifications?"+q[0])
		want, _ := rows(t, srv.URL+"/notifications?"+q[1])
		if strings.Join(got, ", ") != strings.Join(want, ", ") {
			t.Errorf("%s: %v, want %v", q[0], got, want)
		}
	}
}
