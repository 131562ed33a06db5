package web

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/web/sample"
)

// slow is a desk whose first command waits.
type slow struct {
	*desk
	begun, free chan struct{}
	first       sync.Once
	ended       error // of the context of the first command
}

func (s *slow) Do(ctx context.Context, actions []operate.Action) (operate.Report, error) {
	s.first.Do(func() {
		close(s.begun)
		<-s.free
		s.ended = ctx.Err()
	})
	return s.desk.Do(ctx, actions)
}

func TestAFormThatIsSentTwiceIsCarriedOutOnce(t *testing.T) {
	for name, query := range map[string]string{
		"a comment": "command=add-comment&object=web01!http", "a downtime": "command=schedule-downtime&object=web01!http",
		"an acknowledgement": "command=acknowledge&object=web01!http",
	} {
		o, d := manned(sample.Shift())
		srv := serve(t, o)
		sent := with(sheet(t, srv, "/do?"+query), "author", "jo", "comment", "x")
		if sent.Get("once") == "" {
			t.Fatalf("%s: the form has no key", name)
		}
		resp, _ := post(t, srv, sent)
		again, _ := post(t, srv, sent)
		if resp.StatusCode != http.StatusSeeOther || again.StatusCode != http.StatusSeeOther || again.Header.Get("Location") != resp.Header.Get("Location") || d.n != 1 {
			t.Errorf("%s: %s, then %s to %s, %d commands", name, resp.Status, again.Status, again.Header.Get("Location"), d.n)
		}
		if post(t, srv, with(clone(sent), "comment", "y")); d.n != 2 {
			t.Errorf("%s: another text is another command: %d", name, d.n)
		}
		if post(t, srv, with(sheet(t, srv, "/do?"+query), "author", "jo", "comment", "x")); d.n != 3 {
			t.Errorf("%s: another form is another command: %d", name, d.n)
		}
	}
}

func TestASecondPressWaitsForTheFirst(t *testing.T) {
	o, d := manned(sample.Shift())
	late := &slow{desk: d, begun: make(chan struct{}), free: make(chan struct{})}
	o.Commands = late
	srv := serve(t, o)
	sent := with(sheet(t, srv, "/do?command=add-comment&object=web01!http"), "author", "jo", "comment", "x")
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL+doPath, strings.NewReader(sent.Encode()))
		r.Header.Set(formType[0], formType[1])
		if resp, err := http.DefaultTransport.RoundTrip(r); err == nil {
			_ = resp.Body.Close()
		}
	}()
	<-late.begun
	leave() // a browser drops the first press for the second one
	<-gone
	where := make(chan string)
	go func() {
		resp, _ := post(t, srv, sent)
		where <- resp.Header.Get("Location")
	}()
	close(late.free)
	if to := <-where; to != "/services/web01/http?did=desk-1" || d.n != 1 || late.ended != nil {
		t.Errorf("the second press leads to %q after %d commands, the first ended with %v", to, d.n, late.ended)
	}
}

func TestWhatWasRefusedMayBeSentAgain(t *testing.T) {
	o, d := manned(sample.Shift())
	d.fail = map[object.ID]error{"web01!http": ErrUnavailable}
	srv := serve(t, o)
	sent := with(sheet(t, srv, "/do?command=add-comment&object=web01!http"), "author", "jo", "comment", "x")
	if resp, _ := post(t, srv, sent); resp.StatusCode != http.StatusServiceUnavailable {
		t.Fatal(resp.Status)
	}
	d.fail = nil
	if resp, _ := post(t, srv, sent); resp.StatusCode != http.StatusSeeOther || d.n != 2 {
		t.Errorf("%s after %d", resp.Status, d.n)
	}
	d.fail = map[object.ID]error{"web01!http": ErrUnconfirmed}
	sent = with(sheet(t, srv, "/do?command=add-comment&object=web01!http"), "author", "jo", "comment", "y")
	_, doc := post(t, srv, sent)
	if post(t, srv, sent); d.n != 3 {
		t.Errorf("what may have been done was done again: %d", d.n)
	}
	if fresh := formOf(t, doc); fresh.Get("once") == sent.Get("once") || fresh.Get("comment") != "y" {
		t.Errorf("the form after it: %v", fresh)
	}
}

func TestTheAPIKeepsIdempotencyKeys(t *testing.T) {
	o, d := manned(sample.Shift())
	srv := serve(t, o)
	send := func(key, body string) (int, string) {
		resp, text := ask(t, http.MethodPost, srv.URL+root+"/commands", body, "Content-Type", "application/json", "Idempotency-Key", key)
		return resp.StatusCode, text
	}
	const body = `{"command":"add-comment","object":"web01","comment":"x"}`
	status, first := send("k1", body)
	again, second := send("k1", body)
	if status != 202 || again != 202 || first != second || d.n != 1 {
		t.Errorf("%d %s, then %d %s; %d commands", status, first, again, second, d.n)
	}
	if status, text := send("k1", strings.Replace(body, "x", "y", 1)); status != 422 || !strings.Contains(text, "came with another command") || d.n != 1 {
		t.Errorf("another body: %d %s", status, text)
	}
	if status, _ := send("k2", body); status != 202 || d.n != 2 {
		t.Errorf("another key: %d", status)
	}
	if status, _ := send(strings.Repeat("k", 256), body); status != 400 || d.n != 2 {
		t.Errorf("a key that is a page: %d", status)
	}
	if status, _ := send("k3", `{"command":"add-comment","object":"nowhere","comment":"x"}`); status != 404 {
		t.Errorf("what cannot be done: %d", status)
	}
	if status, _ := send("k1", strings.Replace(body, "}", `,"preview":true}`, 1)); status != 200 {
		t.Errorf("a preview: %d", status)
	}
}

func TestKeysAreForgottenInTheirOrder(t *testing.T) {
	var o onces
	run := func(text string) func() ([]byte, error) { return func() ([]byte, error) { return []byte(text), nil } }
	for n := range mostOnces + 5 {
		if _, err := o.do(t.Context(), strconv.Itoa(n), [32]byte{}, run("x")); err != nil {
			t.Fatal(err)
		}
	}
	if o.has("4") || !o.has("5") || len(o.order) != mostOnces || o.bytes != mostOnces {
		t.Errorf("%d are kept with %d bytes", len(o.order), o.bytes)
	}
	if _, err := o.do(t.Context(), "big", [32]byte{}, run(strings.Repeat("x", mostOnceBytes))); err != nil || !o.has("big") || len(o.order) != 1 {
		t.Errorf("%v, %d are kept", err, len(o.order))
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = o.do(t.Context(), "broken", [32]byte{}, func() ([]byte, error) { panic("broken") })
	}()
	if _, err := o.do(t.Context(), "broken", [32]byte{}, run("x")); asFault(err) == nil || asFault(err).Detail != unconfirmed {
		t.Errorf("after a panic: %v", err)
	}
}

func TestAReviewHoldsForWhatItShowed(t *testing.T) {
	s := sample.Shift()
	o, d := manned(s)
	srv := serve(t, o)
	_, doc := post(t, srv, with(sheet(t, srv, "/do?command=add-comment&filter=state=CRITICAL&kind=service"), "author", "jo", "comment", "x"))
	look := formOf(t, doc)
	s.Result("web01!http", object.OK, "fine", 0)
	resp, doc := post(t, srv, look)
	text := textOf(elementByID(doc, "sheet"))
	if resp.StatusCode != http.StatusConflict || d.n != 0 || !strings.Contains(text, "has changed since you looked: gone: web01!http. Look again.") {
		t.Errorf("%s %s", resp.Status, text)
	}
	if resp, _ := post(t, srv, formOf(t, doc)); resp.StatusCode != http.StatusSeeOther || d.n != 1 {
		t.Errorf("after another look: %s", resp.Status)
	}
	for _, shown := range []string{"", "nonsense", "1.00", look.Get("shown")[:2]} {
		if resp, _ := post(t, srv, with(clone(look), "shown", shown, "comment", "z")); resp.StatusCode == http.StatusSeeOther || d.n != 1 {
			t.Errorf("seal %q: %s", shown, resp.Status)
		}
	}
}

func TestTheButtonSaysWhetherALookComesFirst(t *testing.T) {
	o, d := manned(sample.Shift())
	srv := serve(t, o)
	for path, want := range map[string]string{
		"/do?command=schedule-downtime&object=web01!http": "Schedule downtime",
		"/do?command=acknowledge&object=web01!http":       "Acknowledge",
		"/do?command=add-comment&filter=id=web01!http":    "Continue",
		"/do?command=add-comment&group=web-servers":       "Continue",
		"/do?command=add-comment":                         "Continue",
	} {
		doc := parsePage(t, srv.URL+path, http.StatusOK)
		main := find(doc, func(n *html.Node) bool { c, _ := attr(n, "class"); return n.Data == "button" && c == "main" })
		if len(main) != 1 || textOf(main[0]) != want {
			t.Errorf("%s: %q", path, textOf(main[0]))
		}
	}
	sent := with(sheet(t, srv, "/do?command=add-comment&filter=id=web01!http"), "author", "jo", "comment", "x")
	if resp, doc := post(t, srv, sent); resp.StatusCode != http.StatusOK || d.n != 0 || !strings.Contains(textOf(doc), "It touches 1 object.") {
		t.Errorf("one object of a filter: %s", resp.Status)
	}
}
