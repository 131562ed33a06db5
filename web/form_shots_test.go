package web

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

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
	o, _ := manned(sample.Shift())
	srv := serve(t, o)
	var c console
	c.listen(t, ctx)
	shots := os.Getenv("JAQUE_SHOTS")
	for name, path := range sheets {
		if only := os.Getenv("JAQUE_ONLY"); only != "" && !strings.Contains(name, only) {
			continue
		}
		if err := chromedp.Do(ctx, chromedp.Navigate(srv.URL+path), chromedp.WaitReady(chromedp.CSS("#main"))); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, width := range []int64{1280, 360} {
			for _, theme := range []string{"light", "dark"} {
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
		c.check(t, name)
	}
}
