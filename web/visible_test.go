package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/sample"
)

func TestControlCharactersOfPluginsAreSeenInPages(t *testing.T) {
	site := small()
	const output, long, perf = "a\x00b\x1b[31m", "one\r\ttab\ntwo\x7f", "x\x01=5"
	site.Result("a!x", object.Critical, output, 0, sample.Text(long, perf))
	srv := serve(t, options(site))
	for _, path := range []string{"/", "/services", "/services/a/x", "/events", "/search?q=state%3DCRITICAL", "/search?q=%00"} {
		resp, body := ask(t, http.MethodGet, srv.URL+path, "")
		if i := strings.IndexFunc(body, func(r rune) bool { return r < utf8.RuneSelf && hidden(byte(r)) }); i >= 0 {
			t.Errorf("%s: %s holds %q", path, resp.Status, body[i])
		}
		if path != "/search?q=%00" && !strings.Contains(body, "a␀b␛[31m") {
			t.Errorf("%s: the output is not shown", path)
		}
	}
	if _, body := ask(t, http.MethodGet, srv.URL+"/services/a/x", ""); !strings.Contains(body, "one␍\ttab\ntwo␡") || !strings.Contains(body, "x␁") {
		t.Error("further output is not shown")
	}
	var item struct {
		Output, Perfdata string
		Long             string `json:"long_output"`
	}
	_, body := ask(t, http.MethodGet, srv.URL+root+"/services/a/x", "")
	if err := json.Unmarshal([]byte(body), &item); err != nil || item.Output != output || item.Long != long || item.Perfdata != perf {
		t.Errorf("the API says %+v, %v", item, err)
	}
}

func TestTextWithoutControlCharactersIsPassedOnAsItIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		var b strings.Builder
		v := &visible{w: &b}
		cut := rapid.IntRange(0, len(text)).Draw(t, "cut")
		n, err := v.Write([]byte(text[:cut]))
		m, err2 := v.Write([]byte(text[cut:]))
		if err := errors.Join(err, err2, v.end()); err != nil || n+m != len(text) {
			t.Fatalf("%d of %d: %v", n+m, len(text), err)
		}
		var want strings.Builder
		tag := false
		for _, r := range text {
			switch {
			case r < utf8.RuneSelf && hidden(byte(r)):
				want.WriteRune(picture(byte(r)))
			case turns(r) && !tag:
				fmt.Fprintf(&want, "[U+%04X]", r)
			default:
				want.WriteRune(r)
			}
			if r == '<' || r == '>' {
				tag = r == '<'
			}
		}
		if b.String() != want.String() {
			t.Fatalf("%q became %q, not %q", text, b.String(), want.String())
		}
	})
}

func TestNoNameOrTextTurnsTheDirectionOfAPage(t *testing.T) {
	site := small()
	const evil = "a\u202egpj.exe\u2066\u200f\u0085b"
	site.Result("a!x", object.Critical, evil, 0, func(e *event.Event) {
		e.Status.Ack = object.AckSticky
		e.Status.Extra = &event.Extra{
			AckAuthor: "jo" + evil, AckText: evil,
			Comments:  []event.Comment{{ID: "c1", Author: evil, Text: evil, Time: object.At(sample.Now)}},
			Downtimes: []event.Downtime{{ID: "d1", Author: evil, Text: evil, Start: 1, End: object.At(sample.Now) + 1000}},
		}
	})
	o, _ := manned(site)
	srv := serve(t, o)
	for _, path := range []string{"/", "/services", "/services/a/x", "/events", "/comments", "/downtimes", "/search?q=" + url.QueryEscape(evil), "/do?command=acknowledge&object=a!x", "/do?command=delete-comment&id=c1"} {
		_, body := ask(t, http.MethodGet, srv.URL+path, "")
		doc, err := html.Parse(strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if text := textOf(doc); strings.ContainsFunc(text, turns) || path != "/" && !strings.Contains(text, "a[U+202E]gpj.exe[U+2066][U+200F][U+0085]b") {
			t.Errorf("%s: %q", path, text)
		}
	}
	_, body := ask(t, http.MethodGet, srv.URL+root+"/comments", "")
	if !strings.Contains(body, "\u202e") && !strings.Contains(body, `\u202e`) {
		t.Errorf("the API changes the text: %s", body)
	}
}

// cut takes a few bytes.
type cut struct{ left int }

func (c *cut) Write(p []byte) (int, error) {
	if len(p) > c.left {
		return 0, errors.New("gone")
	}
	c.left -= len(p)
	return len(p), nil
}

func TestAPageThatCannotBeSentIsAnError(t *testing.T) {
	const text = "ab\x00cd"
	for left := range len(text) + 2 {
		if n, err := (&visible{w: &cut{left}}).Write([]byte(text)); err == nil || n >= len(text) {
			t.Errorf("with room for %d bytes: %d, %v", left, n, err)
		}
	}
}
