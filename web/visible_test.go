package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

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
		n, err := visible{&b}.Write([]byte(text))
		want := strings.Map(func(r rune) rune {
			if r < utf8.RuneSelf && hidden(byte(r)) {
				return sign(byte(r))
			}
			return r
		}, text)
		if err != nil || n != len(text) || b.String() != want {
			t.Fatalf("%q became %q, %d, %v", text, b.String(), n, err)
		}
	})
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
		if n, err := (visible{&cut{left}}).Write([]byte(text)); err == nil || n >= len(text) {
			t.Errorf("with room for %d bytes: %d, %v", left, n, err)
		}
	}
}
