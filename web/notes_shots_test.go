package web

import (
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
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

// TestTheLogFollowsWhatHappens opens the reasons of a decision, lets another one
// happen, and finds both.
func TestTheLogFollowsWhatHappens(t *testing.T) {
	if testing.Short() {
		t.Log("a browser takes its time; -short leaves it out")
		return
	}
	ctx := browser(t)
	if ctx == nil {
		return
	}
	site := sample.Told()
	srv := serve(t, telling(site))
	var c console
	c.listen(t, ctx)
	err := chromedp.Do(ctx, chromedp.Navigate(srv.URL+"/notifications"), chromedp.WaitReady(chromedp.CSS(".notes details")))
	if err != nil {
		t.Fatal(err)
	}
	wait := func(what string) {
		t.Helper()
		run(t, ctx, chromedp.Poll[bool](what, chromedp.WithPollingTimeout(longest)))
	}
	wait(`document.body.dataset.connected === "yes"`)
	run(t, ctx, chromedp.Evaluate[bool](`(() => { const s = document.querySelector(".notes summary"); s.focus(); s.click(); window.opened = s.parentElement.id; return true })()`))
	wait(`document.getElementById(window.opened).open && document.querySelector(".gate.blocked").checkVisibility()`)
	site.Result("web02!http", object.Critical, "gone for good", 0)
	wait(`document.querySelector(".notes .whose").textContent === "web02!http" && document.getElementById(window.opened).open`)
	if run(t, ctx, chromedp.Evaluate[string](`document.activeElement.tagName`)) != "SUMMARY" {
		t.Error("the focus is lost with the change")
	}
	c.check(t, "live")
	if _, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []chromedp.Action[chromedp.Void]{
		chromedp.Navigate(srv.URL + "/notifications"),
		chromedp.WaitReady(chromedp.CSS(".notes summary")),
		chromedp.SendKeys(chromedp.CSS("#f-object"), "db01!replication\r"),
		chromedp.WaitReady(chromedp.CSS(`#f-object[value="db01!replication"]`)),
		chromedp.Click(chromedp.CSS(".notes summary")),
		chromedp.Click(chromedp.CSS(".note .more a")),
		chromedp.WaitReady(chromedp.CSS(".ruling")),
	} {
		err := chromedp.Do(ctx, step)
		// The page that an element was found on may have been replaced by the next one.
		for tries := 0; tries < 5 && err != nil && strings.Contains(err.Error(), "No node with given id"); tries++ {
			err = chromedp.Do(ctx, step)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if text := run(t, ctx, chromedp.TextContent(chromedp.CSS(".verdict"))); !strings.Contains(text, "acknowledged by maria") {
		t.Errorf("without scripts the explanation is %q", text)
	}
}
