package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/sample"
)

// gate stands in front of the handler and lets a test hold requests back, cut
// their answers or answer something else.
type gate struct {
	inner http.Handler
	mu    sync.Mutex
	held  map[string]chan struct{} // method and path, with what lets them go on
	odd   map[string]http.HandlerFunc
	came  map[string]int
	down  atomic.Bool // nothing is answered
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	what := r.Method + " " + r.URL.Path
	g.mu.Lock()
	g.came[what]++
	held, odd := g.held[what], g.odd[what]
	g.mu.Unlock()
	if g.down.Load() {
		panic(http.ErrAbortHandler)
	}
	if held != nil {
		select {
		case <-held:
		case <-r.Context().Done():
			return
		}
	}
	if odd != nil {
		odd(w, r)
		return
	}
	g.inner.ServeHTTP(w, r)
}

// hold keeps requests waiting until the function that it returns is called.
func (g *gate) hold(what string) func() {
	c := make(chan struct{})
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held[what] = c
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.held, what)
		close(c)
	}
}

// answer gives requests another answer, nil = their own again.
func (g *gate) answer(what string, f http.HandlerFunc) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.odd[what] = f
}

func (g *gate) count(what string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.came[what]
}

// stop breaks every connection and answers nothing until start.
func (g *gate) stop(srv *httptest.Server) {
	g.down.Store(true)
	srv.CloseClientConnections()
}

// desktop is a browser in front of an installation behind a gate.
func desktop(t *testing.T) (hands, *gate, *httptest.Server, *sample.Site, *desk) {
	t.Helper()
	s := sample.Shift()
	o, d := manned(s)
	h, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{inner: h, held: map[string]chan struct{}{}, odd: map[string]http.HandlerFunc{}, came: map[string]int{}}
	srv := httptest.NewServer(g)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return hands{t, browser(t)}, g, srv, s, d
}

// show opens a page and waits until its script runs.
func (h hands) show(url string) {
	h.t.Helper()
	h.open(url)
	h.wait(`document.body?.classList.contains("scripted")`)
	run(h.t, h.ctx, chromedp.Evaluate[bool](`window.sameDocument = true`))
}

// do runs a line of script on the page.
func (h hands) do(script string) {
	h.t.Helper()
	run(h.t, h.ctx, chromedp.Evaluate[bool](`(() => {`+script+`; return true})()`))
}

// inDialog is what a dialog says.
const inDialog = `(document.querySelector("dialog")?.innerText ?? "")`

// inBrowsers are what goes wrong between a browser and the process.
var inBrowsers = map[string]func(h hands, g *gate, srv *httptest.Server, s *sample.Site, d *desk){
	"a form is sent once however often Enter is pressed": func(h hands, g *gate, srv *httptest.Server, s *sample.Site, d *desk) {
		for _, path := range []string{"/services/web01/http", "/do?command=add-comment&object=web01!http"} {
			before := len(s.State("web01!http").Status.Extra.Comments)
			posts := g.count("POST /do")
			h.show(srv.URL + path)
			if !strings.HasPrefix(path, "/do") {
				h.press("c")
			}
			h.wait(`document.activeElement?.id === "f-comment"`)
			h.do(`document.activeElement.value = "once"; const a = document.getElementById("f-author"); a.value = "jo"; a.focus()`)
			goOn := g.hold("POST /do")
			h.press(kb.Enter + kb.Enter + kb.Enter)
			h.wait(`document.querySelector("form.fields button.main").disabled && document.querySelector("form.fields button.main").textContent === "Sending…" && document.querySelector("form.fields").ariaBusy === "true"`)
			h.do(`document.querySelector("form.fields button.main").click(); document.querySelector("form.fields").requestSubmit()`)
			goOn()
			h.wait(`window.sameDocument !== true && document.getElementById("notice")`)
			after := len(s.State("web01!http").Status.Extra.Comments)
			if n := g.count("POST /do") - posts; n != 1 || after != before+1 {
				h.t.Errorf("%s: sent %d times, %d comments more", path, n, after-before)
			}
		}
		h.show(srv.URL + "/services/web01/http")
		goOn := g.hold("POST /services/web01/http/check")
		h.press("rrr")
		h.wait(`document.querySelector(".ask button").disabled`)
		s.Result("web01!disk", object.Critical, "a change arrives meanwhile", 0)
		h.press("r")
		goOn()
		h.wait(`window.sameDocument !== true && document.getElementById("notice")`)
		if n := g.count("POST /services/web01/http/check"); n != 1 {
			h.t.Errorf("%d checks were asked for", n)
		}
	},
	"who looks at the top of a page sees that it may be old": func(h hands, g *gate, srv *httptest.Server, _ *sample.Site, _ *desk) {
		for _, path := range []string{"/settings", "/do?command=add-comment&object=web01"} {
			h.show(srv.URL + path)
			if path == "/settings" {
				h.wait(`document.body.dataset.connected === "yes"`)
			} else {
				h.do(`document.getElementById("f-comment").value = "still here"`)
			}
			g.stop(srv)
			if path != "/settings" {
				h.do(`document.querySelector("form.fields button.main").click()`)
				h.wait(`document.querySelector("#sheet .unanswered")?.innerText.includes("it may have been done; look before you send it again")`)
				h.do(`document.querySelector("form.fields button.main").click()`)
			}
			h.wait(`document.querySelector("#lost[role=status]").innerText.match(/^No connection since .*:.* What you see may be old[.]$/)`)
			h.do(`window.scrollTo(0, 1e6)`)
			h.wait(`(() => { const r = document.querySelector("#lost .banner").getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight })()`)
			g.down.Store(false)
			h.wait(`document.getElementById("lost").innerText === "" && !document.querySelector(".unanswered")`)
			h.wait(`window.sameDocument === true && (document.getElementById("f-comment")?.value ?? "still here") === "still here"`)
		}
		h.show(srv.URL + "/hosts")
		g.answer("GET /hosts", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "gone for lunch", http.StatusBadGateway) })
		srv.CloseClientConnections()
		h.wait(`document.getElementById("lost").innerText.includes("(502)")`)
		g.answer("GET /hosts", nil)
		h.wait(`document.getElementById("lost").innerText === ""`)
	},
	"a form that cannot be opened leaves the page": func(h hands, g *gate, srv *httptest.Server, _ *sample.Site, _ *desk) {
		h.show(srv.URL + "/services/web01/http")
		h.wait(`document.body.dataset.connected === "yes"`)
		g.stop(srv)
		h.press("c")
		h.wait(`!document.querySelector("dialog").open && document.getElementById("lost").innerText.includes("No connection")`)
		if at := h.focus(); !strings.Contains(at, "Comment") {
			h.t.Errorf("the focus is on %s", at)
		}
		h.wait(`window.sameDocument === true`)
		g.down.Store(false)
		h.wait(`document.getElementById("lost").innerText === ""`)
		h.press("c")
		h.wait(`document.activeElement?.id === "f-comment"`)
	},
	"what was written stays whatever is answered": func(h hands, g *gate, srv *httptest.Server, _ *sample.Site, _ *desk) {
		h.show(srv.URL + "/services/web01/http")
		h.press("c")
		h.wait(`document.activeElement?.id === "f-comment"`)
		h.press("a long story")
		h.do(`document.getElementById("f-author").value = "jo"`)
		page := func(status int) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				w.WriteHeader(status)
				_, _ = w.Write([]byte(`<main id="main"><section class="verdict"><h1>` + http.StatusText(status) + `</h1><p>the detail of it</p></section></main>`))
			}
		}
		for status, want := range map[int]string{
			401: "Sign in in a new tab", 403: "Forbidden: the detail of it.", 413: "the detail of it", 500: "the detail of it", 503: "Service Unavailable",
		} {
			g.answer("POST /do", page(status))
			h.do(`document.querySelector("dialog button.main").click()`)
			h.wait(inDialog + `.includes("` + want + `") && document.getElementById("f-comment")?.value === "a long story" && !document.querySelector("dialog button.main").disabled`)
			h.wait(`document.querySelectorAll("dialog .complaint[role=alert]").length === 1`)
		}
		g.answer("POST /do", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "proxy", http.StatusBadGateway) })
		h.do(`document.querySelector("dialog button.main").click()`)
		h.wait(inDialog + `.includes("502 Bad Gateway")`)
		g.answer("POST /do", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		h.do(`document.querySelector("dialog button.main").click()`)
		h.wait(inDialog + `.includes("No answer: it may have been done; look before you send it again.")`)
		h.wait(`document.getElementById("f-comment").value === "a long story" && window.sameDocument === true`)

		// Esc keeps it too; Cancel throws it away.
		h.do(`document.getElementById("f-comment").focus()`)
		h.press(kb.Escape)
		h.wait(`!document.querySelector("dialog").open`)
		h.do(`document.querySelector("[data-key=c]").click()`)
		h.wait(`document.getElementById("f-comment")?.value === "a long story" && ` + inDialog + `.includes("What you wrote before is still here")`)
		h.do(`document.querySelector("dialog a[data-close]").click()`)
		h.wait(`!document.querySelector("dialog").open`)
		h.press("c")
		h.wait(`document.activeElement?.id === "f-comment" && document.activeElement.value === ""`)
	},
	"what is typed before the form has come does nothing": func(h hands, g *gate, srv *httptest.Server, _ *sample.Site, d *desk) {
		h.show(srv.URL + "/services/web01/http")
		goOn := g.hold("GET /do")
		h.press("c")
		h.wait(`document.querySelector("dialog").open && ` + inDialog + `.includes("Loading")`)
		h.press("a dark room? r c d" + kb.Enter + "d")
		goOn()
		h.wait(`document.activeElement?.id === "f-comment"`)
		h.press("ddd")
		h.wait(`document.activeElement.value === "ddd" && document.querySelector("dialog h1").textContent.includes("omment")`)
		if gets, checks := g.count("GET /do"), g.count("POST /services/web01/http/check"); gets != 1 || checks != 0 || d.n != 0 {
			h.t.Errorf("%d forms opened, %d checks, %d commands", gets, checks, d.n)
		}
		h.do(`document.querySelector("dialog a[data-close]").click()`)
		h.wait(`!document.querySelector("dialog").open`)

		// A form that was given up does not come back later.
		goOn = g.hold("GET /do")
		h.press("a")
		h.wait(inDialog + `.includes("Loading")`)
		h.press(kb.Escape)
		h.wait(`!document.querySelector("dialog").open`)
		h.press("d")
		h.wait(inDialog + `.includes("Loading")`)
		goOn()
		h.wait(`document.activeElement?.id === "f-comment" && document.querySelector("dialog [name=command]").value === "schedule-downtime"`)
	},
	"an object that was taken out is marked": func(h hands, g *gate, srv *httptest.Server, s *sample.Site, _ *desk) {
		h.show(srv.URL + "/services/web01/http")
		h.wait(`document.body.dataset.connected === "yes"`)
		g.answer("GET /services/web01/http", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such thing", http.StatusNotFound) })
		s.Result("web01!http", object.Critical, "the last one", 0)
		h.wait(`document.body.classList.contains("gone") && document.getElementById("main").innerText.startsWith("This is not configured any more.")`)
		h.wait(`!document.querySelector("#main [data-key], #main a[data-sheet], #main button:enabled") && document.title.startsWith("Not configured")`)
		h.press("c")
		h.wait(`!document.querySelector("dialog").open`)
		g.answer("GET /services/web01/http", nil)
		s.Result("web01!http", object.OK, "here again", 0)
		h.wait(`window.sameDocument !== true && document.body && !document.body.classList.contains("gone")`)
	},
	"the bar says what is chosen": func(h hands, _ *gate, srv *httptest.Server, _ *sample.Site, _ *desk) {
		h.show(srv.URL + "/services?filter=problem")
		picked := `document.getElementById("picked")?.textContent`
		h.press("a")
		h.wait(picked + ` === "Choose rows first." && !document.querySelector("dialog").open`)
		h.do(`document.querySelector(".row-pick").click()`)
		h.wait(picked + ` === "1 chosen"`)
		h.do(`document.querySelector("#pick [name=filter]").click()`)
		h.wait(picked + `.endsWith("that match: chosen")`)
		h.do(`document.querySelector("#pick [name=filter]").click(); setTimeout(() => location.assign("/hosts"))`)
		h.wait(`location.pathname === "/hosts" && document.body?.classList.contains("scripted")`)
		h.do(`setTimeout(() => history.back())`)
		h.wait(`location.pathname === "/services" && document.body?.classList.contains("scripted") && ` + picked + ` === "1 chosen"`)
	},
	"nothing with the focus hides behind buttons": func(h hands, _ *gate, srv *httptest.Server, _ *sample.Site, _ *desk) {
		if err := chromedp.Do(h.ctx, chromedp.EmulateViewport(360, 640)); err != nil {
			h.t.Fatal(err)
		}
		const hidden = `(() => {
			const a = document.activeElement, r = a.getBoundingClientRect(), bar = a.closest("dialog")?.querySelector(".buttons") ?? document.querySelector(".pick")
			if (a === document.body || !bar || bar.contains(a) || !r.height) return ""
			const b = bar.getBoundingClientRect()
			return getComputedStyle(bar).position === "sticky" && Math.min(r.bottom, r.top + 30) > b.top + 1 && r.top < b.bottom ? a.id + a.textContent : ""
		})()`
		through := func(what string) {
			for range 45 {
				h.press(kb.Tab)
				if name := run(h.t, h.ctx, chromedp.Evaluate[string](hidden)); name != "" {
					h.t.Errorf("%s: %s is hidden", what, name)
				}
			}
		}
		h.show(srv.URL + "/services/web01/http")
		h.press("d")
		h.wait(`document.activeElement?.id === "f-comment"`)
		through("a form")
		h.show(srv.URL + "/services?filter=problem")
		h.do(`document.querySelector(".row-pick").click()`)
		through("a list")
		h.show(srv.URL + "/do?command=acknowledge&filter=problem&kind=service")
		h.do(`document.getElementById("f-comment").value = "x"; document.getElementById("f-author").value = "jo"; document.querySelector("button.main").click()`)
		h.wait(`document.activeElement?.id === "sheet-title" && document.body?.innerText.includes("Nothing has been done yet") && window.scrollY === 0`)
	},
}

func TestBrowsersLoseNothing(t *testing.T) {
	if testing.Short() {
		t.Log("a browser takes its time; -short leaves it out")
		return
	}
	for name, try := range inBrowsers {
		t.Run(name, func(t *testing.T) {
			h, g, srv, s, d := desktop(t)
			if h.ctx == nil {
				return
			}
			run(t, h.ctx, chromedp.Title())
			try(h, g, srv, s, d)
		})
	}
}
