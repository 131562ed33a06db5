package web

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/sample"
)

// sheets are the forms of commands and the pages about them, one of each kind.
var sheets = map[string]string{
	"day-home": "/", "day-services": "/services?filter=problem&sort=-state", "day-service": "/services/web01/http", "day-ack": "/services/db01/replication",
	"day-downtime": "/services/web02/load", "day-settings-of": "/services/web04/disk", "day-host-down": "/services/web03/http", "day-root": "/services/mail01/imap",
	"downtimes": "/downtimes", "comments": "/comments", "settings": "/settings", "keys": "/keys",
	"sheet-acknowledge": "/do?command=acknowledge&object=web01!http", "sheet-downtime": "/do?command=schedule-downtime&object=web01",
	"sheet-downtime-any": "/do?command=schedule-downtime", "sheet-comment": "/do?command=add-comment&object=web01!http",
	"sheet-result": "/do?command=submit-result&object=db01!backup", "sheet-remove": "/do?command=remove-acknowledgement&object=db01!replication",
	"sheet-cancel": "/do?command=cancel-downtime&id=d-3", "sheet-off": "/do?command=disable&program=true&what=notifications",
	"sheet-menu": "/do?object=web01!http", "sheet-set": "/do?command=set&object=web01!http", "sheet-many": "/do?command=disable&filter=*&kind=service",
	"sheet-check": "/do?command=check-now&filter=unhandled", "sheet-wrong": "/do?command=acknowledge&object=web1",
}

// scenes are what pages show after somebody did something on them.
var scenes = map[string]struct{ path, do, wait string }{
	"scene-picked": {"/services?filter=problem", `document.querySelectorAll(".row-pick").forEach((b, i) => i < 2 && b.click())`, `document.getElementById("picked").textContent`},
	"scene-dialog": {"/services/web01/http", `document.querySelector("[data-key=a]").click()`, `document.querySelector("dialog").open`},
	"scene-wrong":  {"/do?command=add-comment&object=web01!http", `document.querySelector("button.main").click()`, `document.querySelector("[aria-invalid]")`},
	"scene-weekly": {
		"/do?command=schedule-downtime&object=web01",
		`document.getElementById("repeat-weekly").click(); document.getElementById("day-sunday").click();
		document.getElementById("f-from").value = "01:00"; document.getElementById("f-timezone").value = "Europe/Madrid"; document.getElementById("f-first").value = "2026-03-15";
		document.getElementById("f-timezone").dispatchEvent(new Event("input", {bubbles: true}))`,
		`document.querySelector("#preview .dst")`,
	},
	"scene-review": {
		"/do?command=acknowledge&filter=problem&kind=service",
		`document.getElementById("f-comment").value = "the import runs again"; document.getElementById("f-author").value = "jo"; document.querySelector("button.main").click()`,
		`document.body?.innerText.includes("Nothing has been done yet")`,
	},
	"scene-times": {
		"/do?command=schedule-downtime&object=web01",
		`document.getElementById("repeat-weekly").click(); document.getElementById("day-sunday").click(); document.getElementById("f-from").value = "01:00";
		document.getElementById("f-timezone").value = "Europe/Madrid"; document.getElementById("f-first").value = "2026-03-15"; document.getElementById("f-comment").value = "patches";
		document.getElementById("f-author").value = "jo"; document.querySelector("button.main").click()`,
		`document.body?.innerText.includes("Nothing has been done yet")`,
	},
	"scene-notice": {
		"/do?command=add-comment&object=web04",
		`document.getElementById("f-comment").value = "the fan is loud"; document.getElementById("f-author").value = "jo"; document.querySelector("button.main").click()`,
		`document.getElementById("notice")`,
	},
	"scene-lost": {
		"/services/web01/http",
		`window.fetch = () => Promise.reject(new TypeError("cut")); document.dispatchEvent(new Event("visibilitychange")); document.querySelector(".ask button").click()`,
		`document.querySelector("#lost .banner") && document.querySelector("#told .banner")`,
	},
	"scene-gone": {
		"/services/web01/http",
		`let n = 0; window.fetch = async () => { if (n++ < 2) throw new TypeError("cut"); return new Response("", {status: 404}) }; document.querySelector(".ask button").click()`,
		`document.querySelector(".gone")`,
	},
	"scene-unanswered": {
		"/services/web01/http",
		`document.querySelector("[data-key=d]").click(); window.say = setInterval(() => { if (!document.querySelector("dialog .main")) return; clearInterval(window.say); window.fetch = () => Promise.reject(new TypeError("cut")); document.querySelector("dialog .main").click() }, 20)`,
		`document.querySelector("dialog .unanswered")`,
	},
	"scene-sending": {
		"/services/web01/http",
		`document.querySelector("[data-key=c]").click(); window.say = setInterval(() => { if (!document.querySelector("dialog .main")) return; clearInterval(window.say); window.fetch = () => new Promise(() => {}); document.querySelector("dialog .main").click() }, 20)`,
		`document.querySelector("dialog .main")?.textContent === "Sending…"`,
	},
	"scene-loading": {"/services/web01/http", `window.fetch = () => new Promise(() => {}); document.querySelector("[data-key=c]").click()`, `document.querySelector("dialog .waiting")`},
	"scene-none":    {"/services?filter=problem", `document.querySelector("#pick button").click()`, `document.querySelector("#picked.missing")`},
	"scene-done":    {"/done/desk-1", ``, `document.body?.innerText.includes("Back to the list")`},
}

// TestEveryFormFitsEveryScreen looks at the pages of commands as people see them.
func TestEveryFormFitsEveryScreen(t *testing.T) {
	if testing.Short() {
		t.Log("a browser takes its time; -short leaves it out")
		return
	}
	ctx := browser(t)
	if ctx == nil {
		return
	}
	o, d := manned(sample.Shift())
	d.fail = map[object.ID]error{"mail01!queue": context.DeadlineExceeded, "db01!disk": ErrUnavailable, "web01!disk": &fold.Refusal{Text: "web01!disk has recovered meanwhile"}}
	srv := serve(t, o)
	_, look := post(t, srv, url.Values{"command": {"acknowledge"}, "filter": {"problem"}, "kind": {"service"}, "author": {"jo"}, "comment": {"x"}, "back": {"/services"}})
	if resp, _ := post(t, srv, formOf(t, look)); resp.Header.Get("Location") != "/done/desk-1" {
		t.Fatalf("no outcome to look at: %s", resp.Status)
	}
	var c console
	c.listen(t, ctx)
	wanted := func(name string) bool { return strings.Contains(name, os.Getenv("JAQUE_ONLY")) }
	for name, path := range sheets {
		if !wanted(name) {
			continue
		}
		if err := chromedp.Do(ctx, chromedp.Navigate(srv.URL+path), chromedp.WaitReady(chromedp.CSS("#main"))); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		lookAt(t, ctx, name)
		c.check(t, name)
	}
	for name, scene := range scenes {
		if !wanted(name) {
			continue
		}
		h := hands{t, ctx}
		h.open(srv.URL + scene.path)
		h.wait(`document.body?.classList.contains("scripted")`)
		if scene.do != "" {
			run(t, ctx, chromedp.Evaluate[bool]("("+"() => {"+scene.do+"; return true})()"))
		}
		h.wait(scene.wait)
		lookAt(t, ctx, name)
		c.check(t, name)
	}
}

// lookAt looks at what a page shows on screens of two sizes in both themes.
func lookAt(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	shots := os.Getenv("JAQUE_SHOTS") // a folder to keep pictures in
	for _, width := range []int64{1280, 360} {
		for _, theme := range []string{"light", "dark"} {
			if shots == "" && (width == 360) != (theme == "dark") {
				continue // half of them find what is too wide or too faint
			}
			where := fmt.Sprintf("%s-%d-%s", name, width, theme)
			if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900), media(theme)); err != nil {
				t.Fatalf("%s: %v", where, err)
			}
			if n := run(t, ctx, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); n > width {
				t.Errorf("%s: %d pixels wide", where, n)
			}
			for _, line := range strings.Split(run(t, ctx, chromedp.Evaluate[string](faint)), "\n") {
				if line != "" {
					t.Errorf("%s: cannot be read well: %s", where, line)
				}
			}
			if shots == "" {
				continue
			}
			png := run(t, ctx, chromedp.FullScreenshot(100))
			if err := os.WriteFile(filepath.Join(shots, where+".png"), png, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
