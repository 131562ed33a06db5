package web

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/sample"
	"jaque.sh/jaque/web/view"
)

// longest is how long a test waits for what takes a moment: on a machine with much else
// to do a moment is long.
const longest = time.Minute

// browser starts a headless Chromium for the test.
func browser(t *testing.T) context.Context {
	t.Helper()
	const path = "/usr/bin/chromium"
	if _, err := os.Stat(path); err != nil {
		t.Logf("no browser at %s: this test needs Debian's package chromium", path)
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		return nil
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-gpu", true), chromedp.WSURLReadTimeout(2*longest))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

// console collects what a page complains about.
type console struct {
	mu    sync.Mutex
	lines []string
}

func (c *console) listen(t *testing.T, ctx context.Context) {
	t.Helper()
	err := chromedp.Listen(ctx, func(ev any) {
		c.mu.Lock()
		defer c.mu.Unlock()
		switch ev := ev.(type) {
		case *runtime.EventExceptionThrown:
			c.lines = append(c.lines, fmt.Sprintf("%+v", ev.ExceptionDetails))
		case *log.EventEntryAdded:
			// A page that answers 404 or 400 is noted by the browser itself.
			if !strings.Contains(ev.Entry.Text, "the server responded with a status of 4") {
				c.lines = append(c.lines, ev.Entry.Text+" "+ev.Entry.URL)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
}

func (c *console) check(t *testing.T, where string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.lines {
		t.Errorf("%s: console: %s", where, l)
	}
	c.lines = nil
}

var pages = map[string]string{
	"home": "/", "hosts": "/hosts", "services": "/services?sort=-state", "filtered": "/services?filter=stat%3D1",
	"host": "/hosts/web01", "service": "/services/web01/http", "hostile": view.URL(object.ServiceID("db01", sample.Hostile)),
	"events": "/events", "search": "/search?q=web", "engine": "/status", "missing": "/hosts/web1", "gallery": "/gallery",
	"disk": "/services/db01/disk", "down": "/hosts/mail01",
}

func TestEveryPageFitsEveryScreen(t *testing.T) {
	if testing.Short() {
		t.Log("a browser takes its time; -short leaves it out")
		return
	}
	ctx := browser(t)
	if ctx == nil {
		return
	}
	o := options(sample.Office())
	o.Debug = true
	calm := serve(t, o).URL
	troubled := serve(t, inTrouble(o)).URL
	addresses := map[string]string{"home-trouble": troubled + "/", "service-trouble": troubled + "/services/web01/http"}
	for name, path := range pages {
		addresses[name] = calm + path
	}
	var c console
	c.listen(t, ctx)
	shots := os.Getenv("JAQUE_SHOTS") // a folder to keep pictures in
	for name, address := range addresses {
		if err := chromedp.Do(ctx, chromedp.Navigate(address), chromedp.WaitReady(chromedp.CSS("#main"))); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if title := run(t, ctx, chromedp.Title()); !strings.Contains(title, "jaque") || strings.Contains(title, "broken") {
			t.Errorf("%s: title is %q", name, title)
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
				dark := run(t, ctx, chromedp.Evaluate[bool](`getComputedStyle(document.body).backgroundColor === "rgb(16, 22, 28)"`))
				if dark != (theme == "dark") {
					t.Errorf("%s: dark is %v", where, dark)
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

// inTrouble returns the options of a process that has much to complain about.
func inTrouble(o Options) Options {
	o.Registerer = nil
	status := o.Status
	o.Status = func() Status {
		st := status()
		st.Reload.OK, st.Reload.Problems = false, []string{"checks.cue:12:3: no plugin is called check_htpt", "hosts.csv:7: web01 is declared twice"}
		return st
	}
	o.Trouble = func() []string {
		return []string{"The event log is not being written: the oldest event waits for 12 s (no space left on device)."}
	}
	return o
}

// faint lists the texts of a page whose contrast to what lies behind them is
// below what WCAG AA asks for: 4.5, and 3 for large ones. Colours are painted
// to be read, because a browser writes them in many ways.
const faint = `(() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true})
  canvas.canvas.width = canvas.canvas.height = 1
  const parse = c => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1)
    return [...canvas.getImageData(0, 0, 1, 1).data]
  }
  const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] / 255 + b[i] * (1 - a[3] / 255)).concat(255)
  const behind = e => {
    const own = e ? parse(getComputedStyle(e).backgroundColor) : [255, 255, 255, 255]
    return own[3] === 255 ? own : over(own, behind(e.parentElement))
  }
  const light = c => {
    const [r, g, b] = c.slice(0, 3).map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    return .2126 * r + .7152 * g + .0722 * b
  }
  const out = new Set()
  const check = (e, style, text) => {
    const back = behind(e), [x, y] = [light(over(parse(style.color), back)), light(back)].sort((a, b) => a - b)
    const ratio = (y + .05) / (x + .05), size = parseFloat(style.fontSize)
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700)
    if (ratio < (large ? 3 : 4.5)) out.add(ratio.toFixed(2) + " " + e.tagName + "." + e.className + " " + text.trim().slice(0, 40))
  }
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement
    if (walk.currentNode.data.trim() && e.checkVisibility() && !e.closest("svg")) check(e, getComputedStyle(e), walk.currentNode.data)
  }
  for (const e of document.querySelectorAll("input[placeholder]")) check(e, getComputedStyle(e, "::placeholder"), e.placeholder)
  return [...out].join("\n")
})()`

// run returns the value of one action.
func run[T any](t *testing.T, ctx context.Context, a chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// media makes the browser prefer a theme.
func media(theme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: theme},
				{Name: "prefers-reduced-motion", Value: "reduce"}, // colours at rest
			},
		})
		return err
	})
}

func TestAChangeArrivesWithoutReload(t *testing.T) {
	if testing.Short() {
		t.Log("a browser takes its time; -short leaves it out")
		return
	}
	ctx := browser(t)
	if ctx == nil {
		return
	}
	site := sample.Office()
	var trouble atomic.Pointer[[]string]
	trouble.Store(new([]string))
	o := options(site)
	o.Trouble = func() []string { return *trouble.Load() }
	srv := serve(t, o)
	var c console
	c.listen(t, ctx)
	err := chromedp.Do(ctx, chromedp.Navigate(srv.URL+"/"), chromedp.WaitReady(chromedp.CSS("#live")))
	if err != nil {
		t.Fatal(err)
	}
	run(t, ctx, chromedp.Evaluate[bool](`window.sameDocument = true`))
	run(t, ctx, chromedp.Poll[bool](`document.body.dataset.connected === "yes"`, chromedp.WithPollingTimeout(longest)))
	trouble.Store(&[]string{"The log is full."})
	site.Result("web04!http", object.Critical, "gone for good", 0)
	run(t, ctx, chromedp.Poll[bool](`["gone for good", "The log is full."].every(t => document.body.innerText.includes(t)) && window.sameDocument`, chromedp.WithPollingTimeout(longest)))
	c.check(t, "live")
}

func TestPagesWorkWithoutScripts(t *testing.T) {
	if testing.Short() {
		t.Log("a browser takes its time; -short leaves it out")
		return
	}
	ctx := browser(t)
	if ctx == nil {
		return
	}
	o := options(sample.Office())
	asked := &commands{}
	o.Commands = asked
	srv := serve(t, o)
	link := chromedp.CSS(`td.name a[href="/services/web01/http"]`)
	run(t, ctx, chromedp.Title())
	if _, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	err := chromedp.Do(ctx,
		chromedp.Navigate(srv.URL+"/services"),
		chromedp.SendKeys(chromedp.CSS("#filter"), "unhandled web01\r"),
		chromedp.WaitReady(chromedp.CSS(`input[value="unhandled web01"]`)),
		chromedp.WaitReady(link),
	)
	if err != nil {
		t.Fatal(err)
	}
	at := run(t, ctx, chromedp.Location())
	err = chromedp.Do(ctx,
		chromedp.Click(link),
		chromedp.WaitReady(chromedp.CSS(".ask button")),
		chromedp.Click(chromedp.CSS(".ask button")),
		chromedp.WaitReady(chromedp.CSS(".notice")),
	)
	if err != nil {
		t.Fatal(err)
	}
	text := run(t, ctx, chromedp.TextContent(chromedp.CSS(".notice")))
	err = chromedp.Do(ctx,
		chromedp.Click(chromedp.CSS(".theme button")),
		chromedp.WaitReady(chromedp.CSS(`html[data-theme="light"]`)),
	)
	if err != nil {
		t.Fatal(err)
	}
	if u, err := url.Parse(at); err != nil || u.Query().Get("filter") != "unhandled web01" {
		t.Errorf("the filter is not in the address %s", at)
	}
	if len(asked.taken) != 1 || asked.taken[0] != "check web01!http" || !strings.Contains(text, "asked for") {
		t.Errorf("asked %v, notice %q", asked.taken, text)
	}
}
