package web

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/web/sample"
	"jaque.sh/jaque/web/wire"
)

// picky is a Commander that refuses and fails by object.
type picky struct {
	taken int
	errs  map[object.ID]error
	all   error
}

func (p *picky) Do(_ context.Context, actions []operate.Action) (operate.Report, error) {
	if p.all != nil {
		return operate.Report{}, p.all
	}
	report := operate.Report{ID: "c1"}
	for _, a := range actions {
		p.taken++
		report.Results = append(report.Results, operate.Result{Object: a.Object, Err: p.errs[a.Object]})
	}
	return report, nil
}

// order sends a command and returns the status and the answer.
func order(t *testing.T, url, body string) (int, string) {
	t.Helper()
	resp, text := ask(t, http.MethodPost, url+root+"/commands", body, "Content-Type", "application/json")
	if want := "application/json"; resp.StatusCode < 300 && resp.Header.Get("Content-Type") != want {
		t.Errorf("%s: %s", body, resp.Header.Get("Content-Type"))
	}
	return resp.StatusCode, strings.TrimSpace(text)
}

func TestResultsOfACommandAreToldByObject(t *testing.T) {
	o := options(operated())
	p := &picky{errs: map[object.ID]error{
		"web02": &fold.Refusal{Object: "web02", Reason: fold.BadCommand, Text: "there is no problem"},
		"web03": fmt.Errorf("%w: gone", ErrInvalid),
		"web04": fmt.Errorf("%w: busy", ErrUnavailable),
		"db01":  errBroken,
	}}
	o.Commands = p
	srv := serve(t, o)
	status, body := order(t, srv.URL, `{"command":"remove-acknowledgement","filter":"*","kind":"host"}`)
	want := `{"id":"c1","total":7,"failed":4,"results":[` +
		`{"object":"db01","outcome":"failed","detail":"something went wrong here; the log of this process says what"},` +
		`{"object":"mail01","outcome":"done"},{"object":"sw1","outcome":"done"},{"object":"web01","outcome":"done"},` +
		`{"object":"web02","outcome":"refused","detail":"there is no problem"},` +
		`{"object":"web03","outcome":"refused","detail":"gone"},` +
		`{"object":"web04","outcome":"failed","detail":"nobody can take the command now: busy"}]}`
	if status != 202 || body != want {
		t.Errorf("%d %s\nwant %s", status, body, want)
	}
	for body, want := range map[string]string{
		`{"command":"enable","program":true,"what":["perfdata"]}`: `202 {"id":"c1","total":1,"failed":0,"results":[{"outcome":"done"}]}`,
		`{"command":"check-now","object":"web02"}`:                `400 {"type":"about:blank","title":"Bad Request","status":400,"detail":"web02: there is no problem"}`,
		`{"command":"check-now","object":"web04"}`:                `503 {"type":"about:blank","title":"Service Unavailable","status":503,"detail":"nobody can take the command now: busy; try again"}`,
	} {
		if status, got := order(t, srv.URL, body); fmt.Sprint(status, " ", got) != want {
			t.Errorf("%s: %d %s\nwant %s", body, status, got, want)
		}
	}
	p.all = fmt.Errorf("%w: stopping", ErrUnavailable)
	if status, got := order(t, srv.URL, `{"command":"check-now","filter":"*","kind":"host"}`); status != 503 || !strings.Contains(got, "try again") {
		t.Errorf("nobody there: %d %s", status, got)
	}
}

func TestAPreviewDoesNothing(t *testing.T) {
	o := options(operated())
	p := &picky{}
	o.Commands = p
	srv := serve(t, o)
	for body, want := range map[string]string{
		`{"command":"check-now","filter":"host=mail01","preview":true}`:                                                        `{"total":3,"items":[{"object":"mail01"},{"object":"mail01!imap"},{"object":"mail01!queue"}]}`,
		`{"command":"disable","program":true,"what":["perfdata"],"preview":true}`:                                              `{"total":0,"items":[]}`,
		`{"command":"schedule-downtime","group":"db-servers","kind":"host","comment":"x","duration":60,"preview":true}`:        `{"total":1,"note":"it touches 1 object now, and those that are added later","items":[{"object":"db01"}]}`,
		`{"command":"schedule-downtime","group":"mail-servers","comment":"x","duration":60,"preview":true}`:                    `{"total":3,"note":"it touches 3 objects now, and those that are added later","items":[{"object":"mail01"},{"object":"mail01!imap"},{"object":"mail01!queue"}]}`,
		`{"command":"schedule-downtime","object":"mail01","scope":"with-services","comment":"x","duration":60,"preview":true}`: `{"total":3,"note":"it touches 3 objects now, and those that are added later","items":[{"object":"mail01"},{"object":"mail01!imap"},{"object":"mail01!queue"}]}`,
		`{"command":"cancel-downtime","id":"d7","preview":true,"confirm":7}`:                                                   `{"total":2,"items":[{"object":"web03!disk"},{"object":"web03"}]}`,
	} {
		if status, got := order(t, srv.URL, body); status != 200 || got != want {
			t.Errorf("%s: %d %s\nwant %s", body, status, got, want)
		}
	}
	if p.taken != 0 {
		t.Errorf("%d actions were carried out", p.taken)
	}
	if status, got := order(t, srv.URL, `{"command":"check-now","filter":"host=none","preview":true}`); status != 404 || !strings.Contains(got, `"total":0`) {
		t.Errorf("nothing that matches: %d %s", status, got)
	}
	if status, _ := order(t, srv.URL, `{"command":"acknowledge","object":"web01","preview":true}`); status != 400 {
		t.Errorf("a preview of what cannot be done: %d", status)
	}
}

func TestManyObjectsMustBeConfirmed(t *testing.T) {
	o := options(sample.Many(300))
	p := &picky{}
	o.Commands = p
	srv := serve(t, o)
	for _, c := range []struct {
		name, body string
		status     int
		want       string
		taken      int
	}{
		{"the number is asked for", `{"command":"check-now","filter":"service=service1"}`, 202, `"total":30`, 30},
		{"above the bound", `{"command":"check-now","filter":"*"}`, 409, `touches 330 objects, more than 50; send it again with confirm: 330","field":"confirm","total":330`, 0},
		{"another number", `{"command":"check-now","filter":"*","confirm":329}`, 409, `touches 330 objects now, not 329; look at the preview again, then send confirm: 330 (at line 1`, 0},
		{"the number", `{"command":"check-now","filter":"*","confirm":330}`, 202, `"total":330,"failed":0`, 330},
		{"a number that was not needed and is wrong", `{"command":"check-now","object":"host00001","confirm":2}`, 409, "confirm: 1", 0},
		{"half a number", `{"command":"check-now","filter":"*","confirm":330.5}`, 400, "confirm is 330.5; write the number of objects", 0},
		{"less than none", `{"command":"check-now","filter":"*","confirm":-1}`, 400, "confirm is -1", 0},
		{"a rule is counted too", `{"command":"schedule-downtime","comment":"x","duration":60,"filter":"*","kind":"service"}`, 409, `"total":300`, 0},
		{"a rule that is confirmed", `{"command":"schedule-downtime","comment":"x","duration":60,"filter":"*","kind":"service","confirm":300}`, 202, `"total":300`, 1},
	} {
		p.taken = 0
		if status, got := order(t, srv.URL, c.body); status != c.status || !strings.Contains(got, c.want) || p.taken != c.taken {
			t.Errorf("%s: %d %s, %d taken\nwant %d %s, %d", c.name, status, got, p.taken, c.status, c.want, c.taken)
		}
	}
	names := make([]string, 60)
	for i := range names {
		names[i] = fmt.Sprintf("host%05d!service%d", i%30, i%7)
	}
	list, err := json.Marshal(names)
	if err != nil {
		t.Fatal(err)
	}
	if status, got := order(t, srv.URL, `{"command":"check-now","objects":`+string(list)+`}`); status != 202 {
		t.Errorf("objects that are named one by one: %d %s", status, got)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	s := bare(t, sample.Many(1))
	report := operate.Report{ID: "c"}
	for i := range 3000 {
		r := operate.Result{Object: object.ID(fmt.Sprint("h", i))}
		if i%10 == 9 {
			r.Err = ErrInvalid
		}
		report.Results = append(report.Results, r)
	}
	a := s.accepted(&report, nil)
	if a.Total != 3000 || a.Failed != 300 || len(a.Results) != resulted {
		t.Fatalf("total %d, failed %d, %d results", a.Total, a.Failed, len(a.Results))
	}
	for i, r := range a.Results {
		if (r.Outcome == "refused") != (i < 300) {
			t.Fatalf("result %d is %+v", i, r)
		}
	}
	p, err := s.preview(&operate.Request{}, make([]object.ID, 150))
	if err != nil || p.Total != 150 || len(p.Items) != previewed {
		t.Errorf("total %d, %d items, %v", p.Total, len(p.Items), err)
	}
}

// The clocks of Berlin go forward on 29 March 2026 at 02:00.
func TestAPreviewShowsTheNextTimesOfARecurringDowntime(t *testing.T) {
	srv := serve(t, options(operated()))
	const body = `{"command":"schedule-downtime","comment":"x","object":"web01","ranges":["sunday 01:00-04:00"],"timezone":"Europe/Berlin","preview":true`
	status, text := order(t, srv.URL, body+`}`)
	var p wire.Preview
	decode(t, text, &p)
	if status != 200 || p.Total != 1 || len(p.Occurrences) != 10 {
		t.Fatalf("%d %s", status, text)
	}
	for i, want := range []wire.Occurrence{
		{Start: wire.Time(moment("2026-03-08T00:00:00Z")), End: wire.Time(moment("2026-03-08T03:00:00Z")), LocalStart: "2026-03-08T01:00:00+01:00", LocalEnd: "2026-03-08T04:00:00+01:00", Length: 10800},
		{},
		{},
		{Start: wire.Time(moment("2026-03-29T00:00:00Z")), End: wire.Time(moment("2026-03-29T02:00:00Z")), LocalStart: "2026-03-29T01:00:00+01:00", LocalEnd: "2026-03-29T04:00:00+02:00", Length: 7200},
	} {
		got := p.Occurrences[i]
		if want.Length != 0 && (got.Start != want.Start || got.End != want.End || got.LocalStart != want.LocalStart || got.LocalEnd != want.LocalEnd || got.Length != want.Length) {
			t.Errorf("%d: %+v\nwant %+v", i, got, want)
		}
		if (got.DST != "") != (i == 3) || i == 3 && !strings.Contains(got.DST, "one hour shorter") {
			t.Errorf("%d: the clocks say %q", i, got.DST)
		}
	}
	_, text = order(t, srv.URL, body+`,"start":"2026-03-20T00:00:00Z","end":"2026-04-04T00:00:00Z"}`)
	p = wire.Preview{}
	decode(t, text, &p)
	if len(p.Occurrences) != 2 || p.Occurrences[0].LocalStart != "2026-03-22T01:00:00+01:00" {
		t.Errorf("between two bounds: %s", text)
	}
}

// decode reads an answer whose times are texts.
func decode(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

func TestAWindowThatIsOpenAlreadyIsTheFirstTime(t *testing.T) {
	r := event.DowntimeRule{Ranges: []string{"sunday 11:00-13:00"}, Zone: "UTC"}
	times, _, err := upcoming(&r, object.At(sample.Now), 3)
	if err != nil || len(times) != 3 || times[0].Start != moment("2026-03-01T11:00:00Z") {
		t.Errorf("%+v, %v", times, err)
	}
	r.Start = moment("2026-03-01T11:30:00Z")
	if times, _, err = upcoming(&r, object.At(sample.Now), 3); err != nil || len(times) != 3 || times[0].Start != moment("2026-03-08T11:00:00Z") {
		t.Errorf("begun before the rule may: %+v, %v", times, err)
	}
	r.End = moment("2026-03-08T11:00:00Z")
	if times, _, err = upcoming(&r, object.At(sample.Now), 3); err != nil || len(times) != 0 {
		t.Errorf("none left: %+v, %v", times, err)
	}
	if _, _, err := upcoming(&event.DowntimeRule{Ranges: []string{"x"}, Zone: "UTC"}, 0, 1); asFault(err) == nil {
		t.Error(err)
	}
}

func TestACommandIsWrittenToTheLogOfTheProcess(t *testing.T) {
	o := options(operated())
	var lines strings.Builder
	o.Logger = slog.New(slog.NewTextHandler(&lines, nil))
	srv := serve(t, o)
	if status, body := order(t, srv.URL, `{"command":"check-now","object":"web01","author":"eva"}`); status != 202 {
		t.Fatal(body)
	}
	for _, want := range []string{"command taken", "command=check-now", "object=web01", "actions=1", "failed=0", "author=eva", "id=c1"} {
		if !strings.Contains(lines.String(), want) {
			t.Errorf("%s is not in %s", want, lines.String())
		}
	}
}
