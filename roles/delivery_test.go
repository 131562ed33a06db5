package roles

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/channel"
)

// posted is what a webhook in a test has received.
type posted struct {
	path string
	channel.Payload
}

// receiver is a web server that takes messages; one whose path begins with /down
// does not, and /gone refuses them for good.
func receiver(t *testing.T) (url string, got chan posted) {
	t.Helper()
	got = make(chan posted, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := posted{path: r.URL.Path}
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &p.Payload)
		}
		if err != nil {
			t.Errorf("%s: %v in %s", r.URL.Path, err, body)
		}
		switch {
		case strings.HasPrefix(p.path, "/down"):
			w.WriteHeader(http.StatusServiceUnavailable)
		case strings.HasPrefix(p.path, "/gone"):
			w.WriteHeader(http.StatusNotFound)
		}
		got <- p
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

func wait(t *testing.T, got chan posted) posted {
	t.Helper()
	select {
	case p := <-got:
		return p
	case <-time.After(20 * time.Second):
		t.Fatal("nothing was posted within 20 s")
		return posted{}
	}
}

// paging is a site whose problems are told to a webhook.
const paging = `package site

hosts: web01: {address: "192.0.2.7", check: dummy: state: "UP"}
services: door: {on: {}, attempts: 1, check: passive: {}}
contacts: alice: webhook: %q
policies: [{notify: ["alice"], group: by: "none"}]
delivery: url: "http://jaque.test"
`

func (x *started) submit(state string) {
	x.t.Helper()
	body := fmt.Sprintf(`{"command":"submit-result","object":"web01!door","state":%q,"output":"it is %s"}`, state, state)
	if code, text := x.call(http.MethodPost, "/api/v1/commands", body); code != http.StatusAccepted {
		x.t.Fatalf("submit: %d %s", code, text)
	}
}

// From a result to the message, over a reload and a failure that the dashboard
// tells of.
func TestARoleThatDoesAllDeliversWhatItDecides(t *testing.T) {
	url, got := receiver(t)
	path := folder(t, fmt.Sprintf(paging, url+"/one"))
	x := startAll(t, path)
	x.until("/readyz", "ok")
	x.submit("CRITICAL")
	p := wait(t, got)
	if p.path != "/one" || p.Contact != "alice" || p.Kind != "PROBLEM" || p.Repeat || p.Items[0].Output != "it is CRITICAL" ||
		!strings.HasPrefix(p.URL, "http://jaque.test") {
		t.Fatalf("posted %+v", p)
	}
	x.until("/metrics", `jaque_notify_outcomes_total{channel="webhook",outcome="delivered"} 1`)
	x.until("/metrics", "jaque_notify_open 0")

	if err := os.WriteFile(path, []byte(fmt.Sprintf(paging, url+"/down")), 0o600); err != nil {
		t.Fatal(err)
	}
	x.reload <- struct{}{}
	x.until("/api/v1/status", `"last_reload_successful":true`)
	for p.path != "/down" {
		code, text := x.call(http.MethodPost, "/api/v1/notify/test", `{"contact":"alice"}`)
		if code != http.StatusOK {
			t.Fatalf("test: %d %s", code, text)
		}
		if p = wait(t, got); !p.Test || strings.Contains(text, `"delivered":true`) != (p.path == "/one") {
			t.Fatalf("%s was answered, posted %+v", text, p)
		}
	}
	x.submit("OK")
	if p = wait(t, got); p.path != "/down" || p.Kind != "RECOVERY" {
		t.Fatalf("posted %+v", p)
	}
	x.until("/", "1 notification waits over webhook since")
	x.until("/metrics", "jaque_notify_open 1")
	if err := x.stop(); err != nil {
		t.Fatal(err)
	}
}

// A problem of which nothing arrived has no end that could be told.
func TestNoRecoveryOfAProblemThatWasRefused(t *testing.T) {
	url, got := receiver(t)
	x := startAll(t, folder(t, fmt.Sprintf(paging, url+"/gone")))
	x.until("/readyz", "ok")
	x.submit("CRITICAL")
	if p := wait(t, got); p.path != "/gone" || p.Kind != "PROBLEM" {
		t.Fatalf("posted %+v", p)
	}
	x.until("/metrics", "jaque_engine_notifications_missed_total 1")
	x.until("/api/v1/events?kind=notification.missed", "web01!door")
	x.submit("OK")
	x.until("/api/v1/services/web01/door", `"state":"OK"`)
	if code, text := x.call(http.MethodGet, "/api/v1/notifications?kind=RECOVERY&outcome=sent", ""); code != http.StatusOK || strings.Contains(text, "RECOVERY") {
		t.Errorf("%d %s", code, text)
	}
	if err := x.stop(); err != nil {
		t.Fatal(err)
	}
	if len(got) > 0 {
		t.Errorf("posted %+v", <-got)
	}
}

// The address outside hears of complete rounds alone.
func TestTheAddressOfTheCanaryIsNotTested(t *testing.T) {
	url, got := receiver(t)
	x := startAll(t, folder(t, "package site\ndelivery: canary: {every: \"1h\", url: \""+url+"/ping\"}\n"))
	x.until("/readyz", "ok")
	code, text := x.call(http.MethodPost, "/api/v1/notify/test", `{"contact":"canary"}`)
	if code != http.StatusBadRequest || !strings.Contains(text, "complete rounds of the canary alone") {
		t.Errorf("%d %s", code, text)
	}
	code, text = x.call(http.MethodPost, "/api/v1/commands", `{"command":"submit-result","object":"jaque!canary","state":"OK","output":"fine"}`)
	if code == http.StatusAccepted || !strings.Contains(text, "a submitted result proves nothing") {
		t.Errorf("%d %s", code, text)
	}
	if err := x.stop(); err != nil {
		t.Fatal(err)
	}
	if len(got) > 0 {
		t.Errorf("posted %+v", <-got)
	}
}
