package web

import (
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/sample"
)

// told are the pages about who is told what, as people see them.
var told = map[string]string{
	"notes": "/notifications", "notes-filtered": "/notifications?outcome=abandoned&contact=maria", "notes-nobody": "/notifications?outcome=suppressed",
	"notes-wrong": "/notifications?kind=PROBLM", "notes-empty": "/notifications?contact=nobody", "contacts": "/contacts", "told-engine": "/status",
	"explain-ask": "/explain", "explain-told": "/explain?object=web01!http", "explain-ack": "/explain?object=db01!replication", "explain-one": "/explain?object=web01!http&contact=boss",
	"explain-well": "/explain?object=web02&kind=PROBLEM", "explain-past": "/explain?object=mail01!imap&at=2026-03-01T11:56:00Z", "explain-wrong": "/explain?object=web1",
	"explain-hostile": "/explain?object=" + url.QueryEscape(string(object.ServiceID("db01", sample.Hostile))),
	"told-service":    "/services/web01/http", "told-ack": "/services/db01/replication", "told-well": "/hosts/web02",
}

// TestEveryPageAboutTellingFitsEveryScreen looks at the pages of notifications.
func TestEveryPageAboutTellingFitsEveryScreen(t *testing.T) {
	if testing.Short() {
		t.Log("a browser takes its time; -short leaves it out")
		return
	}
	ctx := browser(t)
	if ctx == nil {
		return
	}
	srv := serve(t, telling(sample.Told()))
	var c console
	c.listen(t, ctx)
	for name, path := range told {
		if !strings.Contains(name, os.Getenv("JAQUE_ONLY")) {
			continue
		}
		if err := chromedp.Do(ctx, chromedp.Navigate(srv.URL+path), chromedp.WaitReady(chromedp.CSS("#main"))); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		lookAt(t, ctx, name)
		c.check(t, name)
	}
}
