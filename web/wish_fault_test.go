package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/filter"
	"jaque.sh/jaque/appliance/rule/operate"
)

// wrong is a body and what is said about it.
type wrong struct{ name, body, field, want string }

func refuses(t *testing.T, s *site, cases []wrong) {
	t.Helper()
	for _, c := range cases {
		_, actions, err := s.planOf(c.body)
		f := asFault(err)
		if f == nil || f.Status < 400 || f.Status > 409 || f.Field != c.field || !strings.Contains(f.Detail, c.want) {
			t.Errorf("%s: %+v, %+v\nwant field %s: %s", c.name, actions, err, c.field, c.want)
			continue
		}
		if c.field != "" && strings.Contains(c.body, `"`+c.field+`":`) && !strings.Contains(f.Detail, "at line 1, column ") {
			t.Errorf("%s: %q does not say where", c.name, f.Detail)
		}
	}
}

func TestTargetsThatCannotBeMeantAreRefused(t *testing.T) {
	refuses(t, bare(t, operated()), []wrong{
		{"none", `{"command":"check-now"}`, "object", "the target is missing; write one of object, objects, group, filter"},
		{"an empty list", `{"command":"check-now","objects":[]}`, "object", "the target is missing"},
		{"none where there is more", `{"command":"enable","what":["obsess"]}`, "object", "write one of object, objects, group, filter, program, contact"},
		{"none where an id would do", `{"command":"cancel-downtime"}`, "object", "write one of object, objects, group, filter, id"},
		{"two", `{"command":"check-now","object":"web01","group":"x"}`, "group", "object and group are both given; write one of them"},
		{"an object and everything", `{"command":"enable","program":true,"object":"web01","what":["obsess"]}`, "program", "object and program are both given"},
		{"an id and an object", `{"command":"delete-comment","id":"c3","object":"web01"}`, "id", "object and id are both given"},
		{"a host that nobody has", `{"command":"check-now","object":"web1"}`, "object", `no host is called "web1"; did you mean "web01"?`},
		{"a service that nobody has", `{"command":"check-now","objects":["web01!htp"]}`, "objects", `did you mean "web01!http"?`},
		{"an object without a name", `{"command":"check-now","objects":["web01",""]}`, "objects", `no host is called ""`},
		{"a group that nobody has", `{"command":"check-now","group":"web-server"}`, "group", `there is no group "web-server"; did you mean web-servers?`},
		{"a contact that nobody has", `{"command":"enable","contact":"marie","what":["notifications"]}`, "contact", `did you mean maria?`},
		{"a filter that does not parse", `{"command":"check-now","filter":"a (b"}`, "filter", "filter, column 5: the parenthesis of column 3 is never closed"},
		{"a field that no filter has", `{"command":"check-now","filter":"stat=OK"}`, "filter", `no field is called "stat"`},
		{"nothing that matches", `{"command":"check-now","filter":"label.role=none"}`, "", `no object matches "label.role=none"`},
		{"no service in the group", `{"command":"check-now","group":"net-servers","kind":"service"}`, "", `group "net-servers" has no service in it`},
		{"a kind that is none", `{"command":"check-now","filter":"*","kind":"hosts"}`, "kind", `no kind is called "hosts"; write one of host, service; did you mean "host"?`},
		{"a kind of a named object", `{"command":"check-now","object":"web01","kind":"host"}`, "kind", "leave it out for named objects"},
		{"a scope that is none", `{"command":"check-now","object":"web01","scope":"child"}`, "scope", `no scope is called "child"`},
		{"a scope of a service", `{"command":"check-now","object":"web01!http","scope":"services"}`, "scope", "web01!http is a service; name hosts"},
		{"a scope of services", `{"command":"check-now","filter":"*","kind":"service","scope":"services"}`, "scope", "starts from hosts"},
		{"a scope that is empty", `{"command":"check-now","object":"web01","scope":"children"}`, "", `scope "children" of the named hosts is empty`},
		{"a scope of the program", `{"command":"enable","program":true,"scope":"services","what":["obsess"]}`, "scope", "leave it out with program"},
		{"a scope of a contact", `{"command":"enable","contact":"maria","scope":"services","what":["notifications"]}`, "scope", "leave it out with contact"},
		{"a program that cannot be checked", `{"command":"check-now","program":true}`, "program", "check-now takes no program; it takes author"},
	})
}

func TestValuesThatCannotBeMeantAreRefused(t *testing.T) {
	long := strings.Repeat("ü", longestComment/2+1)
	refuses(t, bare(t, operated()), []wrong{
		{"no command", `{"object":"web01"}`, "command", "command is missing; write one of acknowledge, remove-acknowledgement"},
		{"a command that is none", `{"command":"acknowlege","object":"web01"}`, "command", `no command is called "acknowlege"; write one of acknowledge,`},
		{"a field of another command", `{"command":"check-now","object":"web01","sticky":true}`, "sticky", "check-now takes no sticky"},
		{"a comment that is missing", `{"command":"acknowledge","object":"web01"}`, "comment", "comment is missing"},
		{"a comment of blanks", `{"command":"add-comment","object":"web01","comment":" \n\t"}`, "comment", "comment is missing"},
		{"a comment that is too long", `{"command":"add-comment","object":"web01","comment":"` + long + `"}`, "comment", "comment has 4098 bytes (2049 characters); write at most 4096 bytes"},
		{"an author of blanks", `{"command":"check-now","object":"web01","author":"  "}`, "author", "author is blank; write a name, or leave it out"},
		{"an author of two lines", `{"command":"check-now","object":"web01","author":"a\nb"}`, "author", "write a name on one line"},
		{"an author that is a page", `{"command":"check-now","object":"web01","author":"` + long + `"}`, "author", "author has 4098 bytes; write at most 256"},
		{"an end that has passed", `{"command":"acknowledge","object":"web01","comment":"x","expires":"2026-03-01T12:00:00Z"}`, "expires", "which has passed; write a time that comes"},
		{"seconds for a time", `{"command":"acknowledge","object":"web01","comment":"x","expires":"1772370000"}`, "expires", "a number since 1970; write it as a time, which would be 2026-03-01T13:00:00Z"},
		{"seconds with a fraction", `{"command":"check-now","object":"web01","at":"1772370000.25"}`, "at", "which would be 2026-03-01T13:00:00.25Z"},
		{"milliseconds", `{"command":"check-now","object":"web01","at":"1772370000250"}`, "at", "which would be 2026-03-01T13:00:00.25Z"},
		{"a number for a time", `{"command":"check-now","object":"web01","at":1772370000}`, "at", "at is a number at line 1, column 46; write a time as in 2026-01-31T08:00:00Z"},
		{"a time without a zone", `{"command":"check-now","object":"web01","at":"2026-03-01T13:00"}`, "at", "has no time zone; write 2026-03-01T13:00:00Z if it is UTC"},
		{"a day", `{"command":"check-now","object":"web01","at":"2026-03-01"}`, "at", "has no time zone; write 2026-03-01T00:00:00Z if it is UTC"},
		{"a day that does not exist", `{"command":"check-now","object":"web01","at":"2026-02-30T00:00:00Z"}`, "at", `at is "2026-02-30T00:00:00Z"; write a time as in`},
		{"a word", `{"command":"check-now","object":"web01","at":"tomorrow"}`, "at", "write a time as in 2026-01-31T08:00:00Z"},
		{"before there was time", `{"command":"check-now","object":"web01","at":"0001-01-01T00:00:00Z"}`, "at", "write a time after 1970-01-01T00:00:00Z"},
		{"the far future", `{"command":"check-now","object":"web01","at":"2126-03-01T00:00:00Z"}`, "at", "more than 20 years ahead"},
		{"no state", `{"command":"submit-result","object":"web01!http"}`, "state", "state is missing; write one of OK, WARNING, CRITICAL, UNKNOWN"},
		{"a state of the other kind", `{"command":"submit-result","object":"web01","state":"CRITICAL"}`, "state", "write one of UP, DOWN, UNREACHABLE"},
		{"a result of the future", `{"command":"submit-result","object":"web01","state":0,"time":"2026-03-01T12:00:01Z"}`, "time", "which is in the future"},
		{"a result for two kinds", `{"command":"submit-result","objects":["web01","web01!http"],"state":0}`, "objects", "send two commands"},
		{"a result for anything", `{"command":"submit-result","filter":"*","state":0}`, "kind", "kind is missing; write host or service"},
		{"a result for hosts with services", `{"command":"submit-result","object":"web01","scope":"with-services","state":0}`, "scope", "a result is for one kind"},
		{"nothing to switch", `{"command":"enable","object":"web01"}`, "what", "what is missing; write one of active_checks, passive_checks"},
		{"a switch that is none", `{"command":"enable","object":"web01","what":["notification"]}`, "what", `did you mean "notifications"?`},
		{"a switch of the program", `{"command":"enable","object":"web01","what":["host_checks"]}`, "what", "host_checks is a switch of the whole program; add program: true"},
		{"checks of a contact", `{"command":"disable","contact":"maria","what":["active_checks"]}`, "what", `a contact has notifications alone; write ["notifications"]`},
		{"switches that are numbers", `{"command":"enable","object":"web01","what":[1]}`, "what", "what is a list of something else"},
		{"a setting without a value", `{"command":"set","object":"web01","setting":"interval"}`, "value", `write "" to have it as configured again`},
		{"a setting that is none", `{"command":"set","object":"web01","setting":"intervall","value":"5m"}`, "setting", `did you mean "interval"?`},
		{"a setting that is a switch", `{"command":"set","object":"web01","setting":"notifications","value":"off"}`, "setting", "notifications is a switch; use enable or disable"},
		{"a duration without a unit", `{"command":"set","object":"web01","setting":"interval","value":"300"}`, "value", "write a duration from 1s to a year, as in 5m"},
		{"a negative duration", `{"command":"set","object":"web01","setting":"retry","value":"-5m"}`, "value", "write a duration"},
		{"no attempts", `{"command":"set","object":"web01","setting":"attempts","value":0}`, "value", "from 1 to 1000"},
		{"a period that is none", `{"command":"set","object":"web01","setting":"check_period","value":"workhour"}`, "value", `did you mean workhours?`},
		{"a variable without a name", `{"command":"set","object":"web01","setting":"var.","value":"x"}`, "setting", "write var. and a name"},
		{"a comment that nobody made", `{"command":"delete-comment","id":"c99"}`, "id", `there is no comment "c99"`},
		{"a downtime that nobody has", `{"command":"cancel-downtime","id":"d99"}`, "id", `there is no downtime "d99"`},
		{"a downtime by id and start", `{"command":"cancel-downtime","id":"d7","start":"2026-03-01T12:00:00Z"}`, "start", "leave start out"},
	})
}

func TestDowntimesThatCannotBeMeantAreRefused(t *testing.T) {
	const head = `{"command":"schedule-downtime","comment":"x","object":"web01",`
	refuses(t, bare(t, operated()), []wrong{
		{"no end", head + `"start":"2026-03-01T20:00:00Z"}`, "end", "end is missing; write when the downtime ends, or duration in seconds"},
		{
			"an end before the start", head + `"start":"2026-03-01T20:00:00Z","end":"2026-03-01T19:00:00Z"}`, "end",
			"end is 2026-03-01T19:00:00Z, which is not after start, 2026-03-01T20:00:00Z; write a later end, or swap them",
		},
		{"an end at the start", head + `"start":"2026-03-01T20:00:00Z","end":"2026-03-01T21:00:00+01:00"}`, "end", "which is not after start"},
		{"an end before now", head + `"end":"2026-03-01T11:00:00Z"}`, "end", "which is not after now"},
		{"all of it before now", head + `"start":"2026-02-01T11:00:00Z","end":"2026-03-01T11:00:00Z"}`, "end", "end is 2026-03-01T11:00:00Z, which has passed"},
		{"a length that is over", head + `"start":"2026-02-01T11:00:00Z","duration":60}`, "duration", "would end 2026-02-01T11:01:00Z, which has passed"},
		{"an end and a length", head + `"end":"2026-03-01T20:00:00Z","duration":60}`, "duration", "end and duration are both given"},
		{"no length", head + `"duration":0}`, "duration", "duration is 0; write a number of seconds above 0"},
		{"a negative length", head + `"duration":-3600}`, "duration", "above 0"},
		{"a length in words", head + `"duration":"1h"}`, "duration", "duration is a string at line 1, column 74; write a number of seconds"},
		{"a length without end", head + `"duration":1e300}`, "duration", "more than 20 years"},
		{"a length beyond numbers", head + `"duration":1e999}`, "duration", "more than 20 years"},
		{"a negative flexible length", head + `"duration":60,"flexible":-1}`, "flexible", "above 0"},
		{"a trigger that nobody has", head + `"trigger":"d99"}`, "trigger", `no object has a downtime with the id "d99"`},
		{"a zone for one time", head + `"duration":60,"timezone":"UTC"}`, "timezone", "timezone is for ranges"},
		{"a zone that is none", head + `"ranges":["sunday 02:00-04:00"],"timezone":"Europe/Berln"}`, "timezone", `no time zone is called "Europe/Berln"; write an IANA name`},
		{"the zone of whoever reads it", head + `"ranges":["sunday 02:00-04:00"],"timezone":"Local"}`, "timezone", "write an IANA name"},
		{"a path for a zone", head + `"ranges":["sunday 02:00-04:00"],"timezone":"../etc/passwd"}`, "timezone", "write an IANA name"},
		{"ranges that cannot be read", head + `"ranges":["sunday 02:00-04:00","someday"]}`, "ranges", "someday"},
		{"ranges that never come", head + `"ranges":["2020-01-01 02:00-04:00"]}`, "ranges", "never begins again"},
		{"ranges that never end", head + `"ranges":["00:00-24:00"]}`, "ranges", "never begins again; write a range that comes and ends"},
		{"ranges that do not come in time", head + `"ranges":["sunday 02:00-04:00"],"end":"2026-03-03T00:00:00Z"}`, "ranges", "no time that begins between start and end"},
		{"recurring with a length", head + `"ranges":["sunday 02:00-04:00"],"duration":60}`, "duration", "the ranges say how long"},
		{"recurring with a trigger", head + `"ranges":["sunday 02:00-04:00"],"trigger":"d7"}`, "trigger", "a recurring downtime has no trigger"},
		{"recurring until the past", head + `"ranges":["sunday 02:00-04:00"],"end":"2026-02-01T00:00:00Z"}`, "end", "which has passed"},
		{"recurring backwards", head + `"ranges":["sunday 02:00-04:00"],"start":"2026-06-01T00:00:00Z","end":"2026-05-01T00:00:00Z"}`, "end", "not after start"},
		{"recurring for children", `{"command":"schedule-downtime","comment":"x","object":"sw1","scope":"children","ranges":["sunday 02:00-04:00"]}`, "scope", "takes the scope services or with-services"},
		{
			"recurring for a filter without end", `{"command":"schedule-downtime","comment":"x","filter":"` + strings.Repeat("sw1 or ", 600) + `sw1","ranges":["sunday 02:00-04:00"]}`,
			"filter", "a filter of 4203 bytes, of at most 4096; write a group or a shorter filter",
		},
		{"recurring for too much", head + fmt.Sprintf(`"ranges":["monday 02:00-04:00"%s]}`, strings.Repeat(`,"sunday 02:00-04:00"`, mostRanges)), "ranges", "101 ranges; write at most 100"},
	})
}

func TestFaultsOfPlansKeepWhatTheyKnow(t *testing.T) {
	s := bare(t, operated())
	for body, want := range map[string]fault{
		`{"command":"check-now","object":"web1"}`:                                       *faultf(404, ""),
		`{"command":"check-now","group":"web-server"}`:                                  *faultf(404, ""),
		`{"command":"cancel-downtime","id":"zz"}`:                                       *faultf(404, ""),
		`{"command":"schedule-downtime","object":"web01","comment":"x","trigger":"zz"}`: *faultf(404, ""),
		`{"command":"check-now","filter":"a )"}`:                                        *faultf(400, ""),
	} {
		_, _, err := s.planOf(body)
		if f := asFault(err); f == nil || f.Status != want.Status || f.Title != want.Title {
			t.Errorf("%s: %+v, want %d %s", body, err, want.Status, want.Title)
		}
	}
	_, _, err := s.planOf(`{"command":"check-now","filter":"a )"}`)
	if f := asFault(err); f == nil || f.Column != 3 {
		t.Errorf("%+v, want column 3", err)
	}
	_, _, err = s.planOf(`{"command":"check-now","filter":"host=none"}`)
	if f := asFault(err); f == nil || f.Status != 404 || f.Total == nil || *f.Total != 0 {
		t.Errorf("%+v, want a total of 0", err)
	}
	if err := refused(http.ErrNoCookie); err != http.ErrNoCookie {
		t.Errorf("an error of another kind became %v", err)
	}
}

// The filter of a rule for named objects matches these and no others, whatever
// they are called.
func TestARuleForNamedObjectsIsForThemAlone(t *testing.T) {
	rule := &object.Rule{Attempts: 1}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[ -~äß\\"'()=~!]{1,6}`).Filter(func(s string) bool { return !strings.Contains(s, "!") })
		var all []*object.Object
		for _, n := range rapid.SliceOfNDistinct(name, 2, 8, rapid.ID).Draw(t, "names") {
			h := &object.Object{ID: object.HostID(n), Name: n, Rule: rule}
			all = append(all, h, &object.Object{ID: object.ServiceID(n, "s"), Name: "s", Host: h, Rule: rule})
		}
		var meant []object.ID
		for _, o := range all {
			if rapid.Bool().Draw(t, "meant") {
				meant = append(meant, o.ID)
			}
		}
		if len(meant) == 0 {
			return
		}
		text := named(meant, true)
		f, err := filter.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all {
			if got := f.Match(o, &fold.State{}); got != slices.Contains(meant, o.ID) {
				t.Fatalf("%s matches %q: %v", text, o.ID, got)
			}
		}
	})
}

func TestFormsAreReadLikeBodies(t *testing.T) {
	s := bare(t, operated())
	for _, c := range []struct {
		name string
		form url.Values
		want []operate.Action
	}{
		{
			"a box that is not ticked",
			url.Values{"command": {"acknowledge"}, "object": {"web01"}, "comment": {"x\r\n"}, "sticky": {"false"}, "notify": {"false", "true"}, "author": {""}},
			one("web01", fold.Acknowledge{Kind: object.AckNormal, Notify: true, Author: "api", Text: "x"}),
		},
		{
			"a date of a browser is UTC",
			url.Values{"command": {"check-now"}, "object": {"web01"}, "at": {"2026-03-01T13:00"}, "forced": {"on"}},
			one("web01", fold.Reschedule{At: moment("2026-03-01T13:00:00Z"), Forced: true, Author: "api"}),
		},
		{
			"a length with units",
			url.Values{"command": {"schedule-downtime"}, "object": {"web01"}, "comment": {"x"}, "duration": {"1h30m"}, "ranges": {" \r\n"}},
			one("web01", fold.ScheduleDowntime{Downtime: event.Downtime{Author: "api", Text: "x", Entry: moment(sampled), Start: moment(sampled), End: moment("2026-03-01T13:30:00Z")}}),
		},
		{
			"several boxes and lines",
			url.Values{"command": {"enable"}, "objects": {"web01\r\nweb02\n"}, "what": {"notifications", "obsess"}},
			append(one("web01", fold.Switch{What: object.SwitchNotifications | object.SwitchObsess, On: true, Author: "api"}),
				one("web02", fold.Switch{What: object.SwitchNotifications | object.SwitchObsess, On: true, Author: "api"})...),
		},
		{
			"an empty value is one",
			url.Values{"command": {"set"}, "object": {"web01"}, "setting": {"interval"}, "value": {""}},
			one("web01", fold.Tune{Name: "interval", Author: "api"}),
		},
		{
			"a state by its number",
			url.Values{"command": {"submit-result"}, "object": {"web01"}, "state": {"1"}, "back": {"/hosts/web01"}},
			one("web01", fold.Result{Passive: true, State: object.Down, Start: moment(sampled)}),
		},
		{
			"a state by its name",
			url.Values{"command": {"submit-result"}, "object": {"web01"}, "state": {"down"}, "output": {"a\xffb"}},
			one("web01", fold.Result{Passive: true, State: object.Down, Start: moment(sampled), Output: "a\ufffdb"}),
		},
	} {
		q, err := requestFromForm(c.form)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		wish, err := s.wish(&q)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got, err := s.plan(&wish); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %+v, %v\nwant %+v", c.name, got, err, c.want)
		}
	}
	for field, value := range map[string]string{"sticky": "perhaps", "program": "yes"} {
		if _, err := requestFromForm(url.Values{field: {value}}); asFault(err) == nil || asFault(err).Field != field {
			t.Errorf("%s=%s: %v", field, value, err)
		}
	}
	for _, text := range []string{"Inf", "0x10", "NaN", "h", "1h-"} {
		q := request{Command: "schedule-downtime", Object: "web01", Comment: "x", Duration: "1"}
		q.Duration = json.Number(text)
		if _, err := s.wish(&q); asFault(err) == nil || asFault(err).Field != "duration" {
			t.Errorf("a length of %s: %v", text, err)
		}
	}
}
