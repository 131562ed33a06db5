package web

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/explain"
	"jaque.sh/jaque/web/sample"
)

func TestNamesThatAreNowhereAreNotAnEmptyList(t *testing.T) {
	srv := serve(t, options(sample.Told()))
	for query, want := range map[string]string{
		"/notifications?contact=mariah":            `"did_you_mean":"maria"`,
		"/notifications?object=web01!htp":          `"did_you_mean":"web01!http"`,
		"/notifications?channel=emial":             `"did_you_mean":"email"`,
		"/notifications?contact=zz&outcome=failed": `no contact is called`,
		"/notifications/open?contact=mariah":       `"did_you_mean":"maria"`,
		"/notifications/open?object=web01!htp":     `"did_you_mean":"web01!http"`,
		"/notifications/open?channel=emial":        `"did_you_mean":"email"`,
	} {
		resp, body := ask(t, http.MethodGet, srv.URL+root+query, "")
		if resp.StatusCode != http.StatusNotFound || !strings.Contains(body, want) {
			t.Errorf("%s: %s %s", query, resp.Status, body)
		}
	}
	if resp, body := ask(t, http.MethodGet, srv.URL+root+"/notifications?state=bad", ""); resp.StatusCode != http.StatusBadRequest || !strings.Contains(body, "write one of OK, WARNING") {
		t.Errorf("a state that there is not: %s %s", resp.Status, body)
	}
	if resp, body := ask(t, http.MethodGet, srv.URL+root+"/notifications?state=down", ""); resp.StatusCode != http.StatusOK || !strings.Contains(body, `"DOWN"`) || strings.Contains(body, `"CRITICAL"`) {
		t.Errorf("narrowed to DOWN: %s %s", resp.Status, body)
	}
	for _, query := range []string{"object=web01", "contact=maria&kind=custom", "channel=email&object=web01", "contact=maria&since=2020-01-01T00:00:00Z&until=2020-01-02T00:00:00Z"} {
		if resp, body := ask(t, http.MethodGet, srv.URL+root+"/notifications?"+query, ""); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s %s", query, resp.Status, body)
		}
	}
}

// Who was told once and is no contact any more can be asked about.
func TestWhatIsOnlyOnTheLogCanBeAskedFor(t *testing.T) {
	s := sample.Told()
	contacts := maps.Clone(s.Set().Contacts)
	delete(contacts, "maria")
	s.Set().Contacts = contacts
	srv := serve(t, options(s))
	if all := logOf(t, srv.URL, "contact", "maria"); len(all) == 0 {
		t.Error("nothing of maria")
	}
	if resp, body := ask(t, http.MethodGet, srv.URL+root+"/notifications?contact=maria&kind=custom", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("%s %s", resp.Status, body)
	}
}

func TestTheCanarysRoundsAreListedWhereTheyAreAskedFor(t *testing.T) {
	round := explain.Record{Object: "canary!round", Kind: notify.Heartbeat}
	for name, c := range map[string]struct {
		kind   notify.Kind
		object object.ID
		want   bool
	}{
		"among everything": {"", "", false}, "by their kind": {notify.Heartbeat, "", true}, "by their object": {"", "canary!round", true}, "of another kind": {notify.Problem, "canary!round", false},
	} {
		q := &noteQuery{kind: c.kind}
		q.Object = c.object
		if r := round; q.selects(&r) != c.want {
			t.Errorf("%s: want %v", name, c.want)
		}
	}
}
