package message_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"jaque.sh/jaque/appliance/rule/message"
)

// browser starts a headless Chromium, nil where there is none and nobody insists.
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
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()), chromedp.Flag("disable-gpu", true))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

// theme makes the browser prefer light or dark.
func theme(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
		})
		return err
	})
}

// measure reads what a browser makes of a mail: how wide it is, whether scripts or
// pictures got in, and the texts that are too faint: below a contrast of 4.5 to
// the nearest background.
const measure = `(() => {
  const parse = c => c.match(/[\d.]+/g).map(Number)
  const light = ([r, g, b]) => {
    const f = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4
    return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b)
  }
  const wrong = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim(), e = walker.currentNode.parentElement
    if (text.replace(/\u00a0/g, "") === "" || e.getClientRects().length === 0) continue
    let at = e, bg
    while (at && (bg = parse(getComputedStyle(at).backgroundColor)).length === 4 && bg[3] === 0) at = at.parentElement
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(bg)].sort((x, y) => y - x)
    if ((a + 0.05) / (b + 0.05) < 4.5) wrong.push("faint: " + text)
  }
  if (document.documentElement.scrollWidth > window.innerWidth) wrong.push("too wide: " + document.documentElement.scrollWidth)
  for (const e of document.querySelectorAll("script,img,iframe,form,link,object,embed")) wrong.push("element " + e.tagName)
  for (const e of document.querySelectorAll("*")) for (const a of e.attributes) if (a.name.startsWith("on")) wrong.push("attribute " + a.name)
  for (const e of document.querySelectorAll("a")) if (!e.href.startsWith("https://jaque.example.org/")) wrong.push("link to " + e.href)
  return wrong.join("\n")
})()`

// Every mail can be read on a phone and on a desk, by day and by night, and holds
// nothing that runs or loads, whatever plugins say. JAQUE_SHOTS names a folder to
// keep pictures in.
func TestMailsLookRightInABrowser(t *testing.T) {
	if testing.Short() {
		t.Log("a browser takes its time; -short leaves it out")
		return
	}
	ctx := browser(t)
	if ctx == nil {
		return
	}
	all := cases()
	for i, text := range hostile {
		m := spoiled(text)
		m.Items = append(m.Items, cases()["mixed"].Items...)
		all[fmt.Sprintf("hostile-%d", i)] = m
	}
	var page string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, page) }))
	t.Cleanup(server.Close)
	shots := os.Getenv("JAQUE_SHOTS")
	for name, m := range all {
		r, err := message.Render(m, nil)
		if err != nil {
			t.Fatal(err)
		}
		page = r.HTML
		if err := chromedp.Do(ctx, chromedp.Navigate(server.URL)); err != nil {
			t.Fatal(err)
		}
		for _, width := range []int64{600, 360} {
			for _, scheme := range []string{"light", "dark"} {
				where := fmt.Sprintf("mail-%s-%d-%s", name, width, scheme)
				if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 500), theme(scheme)); err != nil {
					t.Fatal(err)
				}
				wrong, err := chromedp.Run(ctx, chromedp.Evaluate[string](measure))
				if err != nil || wrong != "" {
					t.Errorf("%s: %s %v", where, wrong, err)
				}
				if shots != "" && !strings.HasPrefix(name, "hostile") {
					keep(t, ctx, filepath.Join(shots, where+".png"))
				}
			}
		}
	}
	t.Logf("mails: %d", len(all))
}

func keep(t *testing.T, ctx context.Context, path string) {
	t.Helper()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(path, png, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
