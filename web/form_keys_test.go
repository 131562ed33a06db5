package web

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/sample"
)

// hands work a page by keyboard alone.
type hands struct {
	t   *testing.T
	ctx context.Context
}

func (h hands) press(keys string) {
	h.t.Helper()
	run(h.t, h.ctx, chromedp.KeyEvent(keys))
}

// focus says in one line what has the focus.
func (h hands) focus() string {
	h.t.Helper()
	return run(h.t, h.ctx, chromedp.Evaluate[string](`(() => {
		const a = document.activeElement ?? document.body
		return [a.tagName, a.id, a.name ?? "", (a.value ?? "").slice(0, 60), a.tagName === "BODY" ? "" : a.textContent.trim().slice(0, 40)].join("|")
	})()`))
}

// tabTo presses Tab until the focus line has a text.
func (h hands) tabTo(text string) {
	h.t.Helper()
	var seen []string
	for range 80 {
		h.press(kb.Tab)
		at := h.focus()
		if strings.Contains(at, text) {
			return
		}
		seen = append(seen, at)
	}
	h.t.Fatalf("Tab never reaches %q: %s", text, strings.Join(seen, "\n"))
}

// wait waits until an expression is true.
func (h hands) wait(expression string) {
	h.t.Helper()
	deadline := time.Now().Add(longest)
	for {
		// While the browser changes the page it answers with an error.
		fits, err := chromedp.Run(h.ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		if err == nil && fits {
			return
		}
		if time.Now().After(deadline) || h.ctx.Err() != nil {
			h.t.Fatalf("never true: %s; %v; focus on %s; page: %.600s", expression, err, h.focus(), run(h.t, h.ctx, chromedp.Evaluate[string](`(document.getElementById("main")?.innerText ?? "")`)))
		}
		<-time.After(20 * time.Millisecond)
	}
}

func (h hands) open(url string) {
	h.t.Helper()
	if err := chromedp.Do(h.ctx, chromedp.Navigate(url), chromedp.WaitReady(chromedp.CSS("#main"))); err != nil {
		h.t.Fatal(err)
	}
}

func TestFormsInDialogsByKeyboard(t *testing.T) {
	if testing.Short() {
		t.Log("a browser takes its time; -short leaves it out")
		return
	}
	ctx := browser(t)
	if ctx == nil {
		return
	}
	s := sample.Shift()
	o, d := manned(s)
	srv := serve(t, o)
	var c console
	c.listen(t, ctx)
	h := hands{t, ctx}
	h.open(srv.URL + "/services/web01/http")
	h.wait(`document.body?.classList.contains("scripted")`)
	run(t, ctx, chromedp.Evaluate[bool](`window.sameDocument = true`))

	h.press("d")
	h.wait(`document.querySelector("dialog")?.open && document.activeElement?.id === "f-comment"`)
	for range 40 {
		h.press(kb.Tab)
		if !run(t, ctx, chromedp.Evaluate[bool](`document.activeElement === document.body || document.querySelector("dialog").contains(document.activeElement)`)) {
			t.Fatalf("the focus left the dialog: %s", h.focus())
		}
	}
	h.press(kb.Escape)
	h.wait(`!document.querySelector("dialog")?.open`)
	if at := h.focus(); !strings.Contains(at, "Schedule downtime") {
		t.Errorf("after Esc the focus is on %s", at)
	}

	h.press("c")
	h.wait(`document.activeElement?.id === "f-comment"`)
	h.tabTo("f-author")
	h.press("jo" + kb.Enter)
	h.wait(`document.activeElement?.id === "f-comment" && document.activeElement?.getAttribute("aria-invalid") === "true"`)
	h.press("the letters a, d, c, ? and / are letters here")
	h.tabTo("f-author")
	if at := h.focus(); !strings.Contains(at, "|jo|") {
		t.Errorf("the name was not kept: %s", at)
	}
	if d.n != 0 || !run(t, ctx, chromedp.Evaluate[bool](`window.sameDocument === true`)) {
		t.Errorf("the page was left, or %d commands were sent", d.n)
	}
	h.press(kb.Enter)
	h.wait(`window.sameDocument !== true && document.body?.classList.contains("scripted") && document.getElementById("notice") === document.activeElement`)
	comments := s.State("web01!http").Status.Extra.Comments
	if last := comments[len(comments)-1]; last.Author != "jo" || last.Text != "the letters a, d, c, ? and / are letters here" {
		t.Errorf("comments: %+v", comments)
	}

	h.press("?")
	h.wait(`document.querySelector("dialog")?.open && document.querySelector("dialog")?.innerText.includes("go to the search box")`)
	h.press(kb.Escape)
	h.wait(`!document.querySelector("dialog")?.open`)
	c.check(t, "an object")
	manyByKeyboard(h, srv.URL, s)
	c.check(t, "a list")
}

// manyByKeyboard chooses rows of a list and acknowledges them.
func manyByKeyboard(h hands, base string, s *sample.Site) {
	h.t.Helper()
	h.open(base + "/services?filter=unhandled&sort=host")
	h.wait(`document.body?.classList.contains("scripted")`)
	h.tabTo("web01!http")
	h.press(" ")
	h.press(kb.Tab + kb.Tab)
	h.wait(`document.getElementById("picked").textContent === "1 chosen"`)
	s.Result("web04!http", object.Critical, "a change arrives meanwhile", 0)
	h.wait(`document.getElementById("live").innerText.includes("a change arrives meanwhile")`)
	h.wait(`document.querySelectorAll(".row-pick:checked").length === 1`)
	h.tabTo("filter|unhandled")
	h.press(" ")
	h.tabTo("acknowledge|Acknowledge")
	h.press(kb.Enter)
	h.wait(`document.querySelector("dialog")?.open && document.activeElement?.id === "f-comment"`)
	h.press("all of them")
	h.wait(`document.querySelector("dialog #preview").innerText.includes("It touches 7 objects")`)
	h.tabTo("f-author")
	h.press(kb.Enter)
	h.wait(`document.querySelector("dialog")?.innerText.includes("Nothing has been done yet")`)
	h.wait(`document.activeElement?.id === "sheet-title"`)
	h.tabTo("Acknowledge for 7 objects")
	h.press(kb.Enter)
	h.wait(`location.pathname.startsWith("/done/") && document.body?.innerText.includes("web04!http")`)
	if st := s.State("web04!http").Status; st.Ack == object.AckNone || st.Extra.AckAuthor != "jo" {
		h.t.Errorf("not acknowledged: %+v", st)
	}
}

func TestFormsWithoutScriptsByKeyboard(t *testing.T) {
	if testing.Short() {
		t.Log("a browser takes its time; -short leaves it out")
		return
	}
	ctx := browser(t)
	if ctx == nil {
		return
	}
	s := sample.Shift()
	o, _ := manned(s)
	srv := serve(t, o)
	run(t, ctx, chromedp.Title())
	if _, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	h := hands{t, ctx}
	h.open(srv.URL + "/services/web01/http")
	h.tabTo("Schedule downtime")
	h.press(kb.Enter)
	h.wait(`location.pathname === "/do" && document.activeElement?.id === "f-comment"`)
	h.press("new disk")
	h.tabTo("f-author")
	h.press("jo" + kb.Enter)
	h.wait(`location.pathname === "/services/web01/http" && document.activeElement?.id === "notice"`)
	if x := s.State("web01!http").Status.Extra; len(x.Downtimes) != 1 || x.Downtimes[0].Author != "jo" {
		t.Errorf("downtimes: %+v", x.Downtimes)
	}

	h.open(srv.URL + "/services?filter=problem")
	h.tabTo("web01!disk")
	h.press(" ")
	h.tabTo("web01!http")
	h.press(" ")
	h.tabTo("add-comment|Comment")
	h.press(kb.Enter)
	h.wait(`location.pathname === "/do" && document.activeElement?.id === "f-comment"`)
	h.tabTo("f-author")
	h.press(kb.Enter)
	h.wait(`document.activeElement?.id === "f-comment" && document.activeElement?.getAttribute("aria-invalid") === "true"`)
	h.press("two of them")
	h.tabTo("Continue")
	h.press(kb.Enter)
	h.wait(`document.body?.innerText.includes("It touches 2 objects") && document.activeElement?.id === "sheet-title"`)
	h.tabTo("Add the comment for 2 objects")
	h.press(kb.Enter)
	h.wait(`location.pathname.startsWith("/done/")`)
	for _, id := range []object.ID{"web01!disk", "web01!http"} {
		x := s.State(id).Status.Extra
		if n := len(x.Comments); n == 0 || x.Comments[n-1].Text != "two of them" || x.Comments[n-1].Author != "jo" {
			t.Errorf("%s: %s", id, fmt.Sprintf("%+v", x))
		}
	}
}
