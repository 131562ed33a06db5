package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/replay"
	"jaque.sh/jaque/web/sample"
	"jaque.sh/jaque/web/wire"
)

// small is an installation of one host with two services.
func small() *sample.Site {
	rule := &object.Rule{Name: "services.x", Attempts: 3, Check: object.Check{Kind: object.CheckTCP}, Labels: map[string]string{"role": "web"}}
	h := &object.Object{ID: "a", Name: "a", Rule: rule, Zone: "default"}
	x := &object.Object{ID: "a!x", Name: "x", Host: h, Rule: rule, Zone: "default"}
	y := &object.Object{ID: "a!y", Name: "y", Host: h, Rule: rule, Zone: "default"}
	return sample.New(h, x, y)
}

const nobody = "?fields=host,service,state,state_type,attempt,output,last_check,last_state_change,acknowledged,epoch,labels"

func TestAnInstantIsAnsweredAsTheListWasThen(t *testing.T) {
	site := small()
	srv := serve(t, options(site))
	was := map[time.Time]string{}
	for minute := 60; minute > 0; minute -= 7 {
		ago := time.Duration(minute) * time.Minute
		switch minute % 3 {
		case 0:
			site.Repeat("a!x", fmt.Sprint("again ", minute), ago)
		case 1:
			site.Result("a!x", object.State(minute%4), fmt.Sprint("new ", minute), ago)
		default:
			site.Result("a!y", object.Critical, fmt.Sprint("bad ", minute), ago, sample.Ack("ops", "seen"))
		}
		_, was[sample.Now.Add(-ago)] = ask(t, http.MethodGet, srv.URL+root+"/services"+nobody, "")
	}
	for then, want := range was {
		for _, at := range []string{
			then.Format(time.RFC3339), fmt.Sprint(then.Unix()), fmt.Sprintf("%d.25", then.Unix()),
			then.In(time.FixedZone("", 3600)).Format(time.RFC3339Nano),
		} {
			_, got := ask(t, http.MethodGet, srv.URL+root+"/services"+nobody+"&at="+url.QueryEscape(at), "")
			if got != want {
				t.Errorf("at %s: %s\nwant %s", at, got, want)
			}
		}
		one := then.Format(time.RFC3339)
		_, got := ask(t, http.MethodGet, srv.URL+root+"/services/a/x"+nobody+"&at="+one, "")
		if !strings.Contains(want, strings.TrimSpace(got)) {
			t.Errorf("at %s: the service alone is %s, in the list %s", one, got, want)
		}
	}
	var before listAnswer
	get(t, srv.URL+root+"/services?at="+sample.Now.Add(-61*time.Minute).Format(time.RFC3339), &before)
	if len(before.Items) != 2 || before.Items[0]["state"] != "PENDING" || before.Items[0]["owner"] != nil {
		t.Errorf("before the first event: %v", before.Items)
	}
}

func TestFiltersAndPagesGoOverTheInstant(t *testing.T) {
	site := small()
	site.Result("a!x", object.Critical, "bad", 20*time.Minute)
	site.Result("a!x", object.OK, "good", 10*time.Minute)
	site.Result("a!y", object.Critical, "bad", 5*time.Minute)
	srv := serve(t, options(site))
	var list listAnswer
	get(t, srv.URL+root+"/services?filter=problem&at="+sample.Now.Add(-15*time.Minute).Format(time.RFC3339), &list)
	if list.Total != 1 || list.Items[0]["service"] != "x" || list.Items[0]["output"] != "bad" {
		t.Errorf("problems then: %v", list.Items)
	}
	_, body := ask(t, http.MethodGet, srv.URL+"/services?filter=problem&sort=-state&at="+fmt.Sprint(sample.Now.Add(-15*time.Minute).Unix()), "")
	for _, want := range []string{
		"As it was at", "2026-03-01 11:45:00 UTC", `href="/services/a/x"`, `data-live=""`,
		`href="/services?filter=problem&amp;sort=-state">Show the present`, `name="at" value="2026-03-01T11:45:00Z"`,
		`at=2026-03-01T11%3A45%3A00Z&amp;filter=problem&amp;sort=state`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page of an instant lacks %q", want)
		}
	}
	if strings.Contains(body, `href="/services/a/y"`) {
		t.Error("the page of an instant shows what came later")
	}
}

func TestInstantsThatCannotBeReadSayWhatToWrite(t *testing.T) {
	srv := serve(t, options(small()))
	for at, want := range map[string]string{
		"yesterday":                 `write a time as in 2026-01-31T08:00:00Z or seconds since 1970`,
		"2026-01-01":                `write a time as in`,
		"2026-01-01T00:00:00 01:00": `in a URL + is written as %2B`,
		"1769846400000":             `write seconds since 1970, as in 1769846400,`,
		"1769846400123":             `as in 1769846400.123,`,
		"1769846400000000000":       `as in 1769846400,`,
		"2026-03-01T12:00:01Z":      `in the future; leave it out`,
		"1893456000":                `in the future`,
		"-5":                        `after 1970-01-01`,
		"0":                         `after 1970-01-01`,
		"0x10":                      `write a time as in`,
		"Inf":                       `write a time as in`,
		"1.2.3":                     `write a time as in`,
	} {
		for _, path := range []string{"/services?", "/hosts?", "/hosts/a?", "/services/a/x?fields=state&"} {
			resp, body := ask(t, http.MethodGet, srv.URL+root+path+"at="+url.QueryEscape(at), "")
			var p wire.Problem
			if err := json.Unmarshal([]byte(body), &p); err != nil || resp.StatusCode != 400 || !strings.Contains(p.Detail, want) {
				t.Errorf("%s, at %q: %s %s, want %q", path, at, resp.Status, body, want)
			}
		}
		if resp, body := ask(t, http.MethodGet, srv.URL+"/services?at="+url.QueryEscape(at), ""); resp.StatusCode != 400 || !strings.Contains(body, `class="complaint"`) {
			t.Errorf("page, at %q: %s", at, resp.Status)
		}
	}
}

// Every instant comes back from each way of writing it, to the millisecond.
func TestEveryInstantIsReadAsItIsWritten(t *testing.T) {
	now := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		want := object.Time(rapid.Int64Range(1, now.UnixMilli()).Draw(t, "ms"))
		zone := time.FixedZone("", rapid.IntRange(-14*60, 14*60).Draw(t, "zone")*60)
		for _, text := range []string{
			want.Std().Format(time.RFC3339Nano), want.Std().In(zone).Format(time.RFC3339Nano),
			fmt.Sprintf("%d.%03d", want/1000, want%1000),
		} {
			if got, err := parseAt(text, now); err != nil || got != want {
				t.Fatalf("%q is read as %d, %v, want %d", text, got, err, want)
			}
		}
	})
}

func FuzzParseAt(f *testing.F) {
	for _, s := range []string{"", "1769846400", "1769846400.5", "2026-01-31T08:00:00Z", "1769846400000", "-1", "1e9", "..", "0x1p3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseAt(text, sample.Now)
		if err != nil && (got != 0 || asFault(err) == nil || asFault(err).Status != 400) {
			t.Errorf("%q: %d, %v", text, got, err)
		}
		if err == nil && (got < 0 || got > object.At(sample.Now) || (got == 0) != (text == "")) {
			t.Errorf("%q is %d", text, got)
		}
	})
}

// faulty is a log that cannot be followed.
type faulty struct {
	*sample.Site
	err error
}

func (l faulty) Follow(context.Context, journal.Position, func([]event.Event) error, func()) error {
	return l.err
}

func TestAPastThatCannotBeToldIsAProblem(t *testing.T) {
	const at = "/services?at=2026-03-01T11:00:00Z"
	for name, c := range map[string]struct {
		log    Log
		status int
		text   string
	}{
		"without a log":           {nil, 503, "no event log to read the past from; leave at out"},
		"a log that is too long":  {faulty{small(), replay.ErrTooLong}, 503, "try again in a moment"},
		"a log that is not there": {faulty{small(), errors.New("secret path")}, 500, "the log of this process says what"},
	} {
		o := options(small())
		o.History = c.log
		srv := serve(t, o)
		resp, body := ask(t, http.MethodGet, srv.URL+root+at, "")
		if resp.StatusCode != c.status || resp.Header.Get("Content-Type") != "application/problem+json" || !strings.Contains(body, c.text) {
			t.Errorf("%s: %s %s, want %q", name, resp.Status, body, c.text)
		}
		if strings.Contains(body, "secret") {
			t.Errorf("%s: the inner error is told: %s", name, body)
		}
		if resp, _ := ask(t, http.MethodGet, srv.URL+at, ""); resp.StatusCode != c.status {
			t.Errorf("%s: the page answers %s", name, resp.Status)
		}
	}
}
