package web

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/sample"
)

// TestAPhoneShowsTheAnswerAtOnce looks with four warnings at the pages that somebody
// opens at night, on a phone and on a desk.
func TestAPhoneShowsTheAnswerAtOnce(t *testing.T) {
	if testing.Short() {
		t.Log("a browser takes its time; -short leaves it out")
		return
	}
	ctx := browser(t)
	if ctx == nil {
		return
	}
	s := hushed()
	s.Result("web03!http", object.Critical, strings.Repeat("x", 64<<10), 0)
	for n := range 300 {
		name := fmt.Sprintf("crew%03d", n)
		s.Set().Contacts[name] = &object.Contact{Name: name}
	}
	o := telling(s)
	o.Trouble = func() []string {
		return []string{"The event log is not being written: the oldest event waits for 12 s.", "No engine is the leader.", "The clock was set back by 3 s."}
	}
	srv := serve(t, o)
	for name, c := range map[string]struct {
		path, what string // an element that is to be in sight
		most       int64  // where it begins on the phone, in pixels
		desk       int64  // and on a desk, 0 = anywhere
	}{
		"home":     {"/", "#live h1", 200, 300},
		"problem":  {"/services/web02/http", "h1", 250, 300},
		"log":      {"/notifications", ".notes > li, .strip", 400, 700},
		"contacts": {"/contacts", "h1", 250, 300},
		"long":     {"/services/web03/http", ".who-told h2", 1500, 1000},
	} {
		for _, size := range [][2]int64{{360, 740}, {1280, 900}} {
			err := chromedp.Do(ctx, chromedp.EmulateViewport(size[0], size[1]), chromedp.Navigate(srv.URL+c.path), chromedp.WaitReady(chromedp.CSS("#main")))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			top := run(t, ctx, chromedp.Evaluate[float64](`document.querySelector("`+c.what+`").getBoundingClientRect().top`))
			tall := run(t, ctx, chromedp.Evaluate[float64](`document.documentElement.scrollHeight`))
			wide := run(t, ctx, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`))
			seen := run(t, ctx, chromedp.Evaluate[bool](`(() => { const a = document.querySelector("#nav .here")?.getBoundingClientRect(); return !a || a.left >= 0 && a.right <= innerWidth })()`))
			most := map[int64]int64{360: c.most, 1280: c.desk}[size[0]]
			if top > float64(most) || wide > size[0] || tall > 12_000 || !seen {
				t.Errorf("%s at %d: %s begins at %.0f, want at most %d; the page is %d wide and %.0f tall; the entry of the navigation is in sight: %v", name, size[0], c.what, top, most, wide, tall, seen)
			}
			if shots := os.Getenv("JAQUE_SHOTS"); shots != "" {
				if err := os.WriteFile(filepath.Join(shots, fmt.Sprintf("fold-%s-%d.png", name, size[0])), run(t, ctx, chromedp.FullScreenshot(100)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	name := strings.Repeat("w", 200)
	far := serve(t, telling(sample.New(&object.Object{ID: object.ID(name), Name: name, Alias: name, Rule: s.Set().Objects[0].Rule, Zone: "default"})))
	for _, path := range []string{"/explain?object=" + name, "/hosts/" + name, "/notifications?object=" + name, "/do?command=add-comment&object=" + name} {
		for _, width := range []int64{360, 1280} {
			err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 740), chromedp.Navigate(far.URL+path), chromedp.WaitReady(chromedp.CSS("#main")))
			if err != nil {
				t.Fatal(err)
			}
			if n := run(t, ctx, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); n > width {
				t.Errorf("%.20s at %d: %d pixels wide", path, width, n)
			}
		}
	}
	// The rest of the warnings is one touch away, and without scripts too.
	if _, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	err := chromedp.Do(ctx, chromedp.EmulateViewport(360, 740), chromedp.Navigate(srv.URL+"/"), chromedp.Click(chromedp.CSS(".banner-line")), chromedp.Click(chromedp.CSS("#banners .banner a")), chromedp.WaitReady(chromedp.CSS("#main")))
	if err != nil {
		t.Fatal(err)
	}
}

func TestNamesOfAnyLengthAndManyContactsFit(t *testing.T) {
	s := sample.Told()
	long := strings.Repeat("w", 200)
	for n := range 300 {
		name := fmt.Sprintf("crew%03d", n)
		s.Set().Contacts[name] = &object.Contact{Name: name}
	}
	srv := serve(t, telling(s))
	for path, want := range map[string]string{
		"/contacts": "1 to 30 of 305 contacts", "/contacts?page=11": "301 to 305 of 305 contacts", "/contacts?page=x": "1 to 30 of", "/contacts?name=crew29": "crew299",
	} {
		if _, body := ask(t, http.MethodGet, srv.URL+path, ""); !strings.Contains(body, want) {
			t.Errorf("%s does not say %q", path, want)
		}
	}
	if resp, _ := ask(t, http.MethodGet, srv.URL+"/explain?object="+long, ""); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a host that is none: %s", resp.Status)
	}
}
