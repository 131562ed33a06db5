package web

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/sample"
)

// listener reads server-sent events.
type listener struct {
	t    *testing.T
	scan *bufio.Scanner
	id   string
	stop context.CancelFunc
}

func listen(t *testing.T, url string, header ...string) *listener {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s: %s", url, resp.Status)
	}
	return &listener{t: t, scan: bufio.NewScanner(resp.Body), stop: cancel}
}

// next returns the data of the next event and what kind it is.
func (l *listener) next() (kind, data string) {
	l.t.Helper()
	for l.scan.Scan() {
		line := l.scan.Text()
		switch {
		case strings.HasPrefix(line, "id: "):
			l.id = line[4:]
		case strings.HasPrefix(line, "event: "):
			kind = line[7:]
		case strings.HasPrefix(line, "data: "):
			data = line[6:]
		case line == "" && data != "":
			return kind, data
		}
	}
	l.t.Fatalf("the stream ended: %v", l.scan.Err())
	return "", ""
}

func TestAStreamResumesWithoutMissingAnything(t *testing.T) {
	site := sample.Office()
	srv := serve(t, options(site))
	url := srv.URL + root + "/events/stream"
	l := listen(t, url)
	if kind, _ := l.next(); kind != "open" || l.id != "37-2" {
		t.Fatalf("begins with %s at %s", kind, l.id)
	}
	site.Result("web04!http", object.Critical, "one", 0)
	if _, data := l.next(); !strings.Contains(data, `"output":"one"`) {
		t.Fatalf("got %s", data)
	}
	last := l.id
	l.stop()
	for _, text := range []string{"two", "three"} {
		site.Result("web04!http", object.Warning, text, 0)
		site.Repeat("web04!http", text+" again", 0)
	}
	l = listen(t, url, "Last-Event-ID", last)
	site.Result("web04!http", object.OK, "four", 0)
	for _, want := range []string{"two", "three", "four"} {
		if _, data := l.next(); !strings.Contains(data, `"output":"`+want+`"`) {
			t.Fatalf("got %s, want %s", data, want)
		}
	}
	l = listen(t, url+"?results=true&object=web04!http&after="+last)
	got := map[string]bool{}
	for range 5 {
		_, data := l.next()
		for _, want := range []string{"two", "two again", "three", "three again", "four"} {
			got[want] = got[want] || strings.Contains(data, `"output":"`+want+`"`)
		}
	}
	if len(got) != 5 || !got["two again"] || !got["three again"] || !got["four"] {
		t.Errorf("with results: %v", got)
	}
}

func TestAStreamIsNarrowed(t *testing.T) {
	site := sample.Office()
	l := listen(t, serve(t, options(site)).URL+root+"/events/stream?object=web02!http&kind=check.result")
	l.next()
	site.Result("web01!load", object.Critical, "other", 0)
	site.Result("web02!http", object.Critical, "mine", 0)
	if _, data := l.next(); !strings.Contains(data, "mine") {
		t.Errorf("got %s", data)
	}
}

func TestAClientThatFallsBehindIsSentAway(t *testing.T) {
	site := sample.Office()
	l := listen(t, serve(t, options(site)).URL+root+"/events/stream")
	l.next()
	// Far more than a connection and a subscription hold, while nobody reads.
	text := strings.Repeat("x", 8000)
	for range 3 * lag {
		site.Result("web02!http", object.Critical, text, 0)
	}
	for {
		if kind, _ := l.next(); kind == "behind" {
			return
		}
	}
}

func TestAPageIsToldOfAChange(t *testing.T) {
	site := sample.Office()
	srv := serve(t, options(site))
	l := listen(t, srv.URL+"/live?at=1-1")
	if kind, _ := l.next(); kind != "change" {
		t.Errorf("a page made before the newest event is told %q", kind)
	}
	l = listen(t, srv.URL+"/live?object=web02")
	site.Result("web01!http", object.OK, "other", 0)
	site.Repeat("web02!http", "mine", 0)
	if kind, _ := l.next(); kind != "change" || l.id != "38-3" {
		t.Errorf("told %q at %s", kind, l.id)
	}
}
