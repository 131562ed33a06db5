package web

import (
	"fmt"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/web/sample"
)

// ruled is an office with a rule of each kind.
func ruled() *sample.Site {
	s := operated()
	for i, r := range []event.DowntimeRule{
		{ID: "r3", Object: "web01!http", Ranges: []string{"sunday 02:00-04:00"}, Zone: "UTC"},
		{ID: "r4", Object: "web01", WithServices: true},
		{ID: "r5", Filter: "label.role=web"},
		{ID: "r6", Filter: "kind=host"},
	} {
		r.Number, r.Author, r.Text = uint64(20+i), "ops", "text "+r.ID
		r.Start, r.End = moment("2026-03-01T15:00:00Z"), moment("2026-03-01T16:00:00Z")
		s.Append(event.Event{
			Kind: event.DowntimeScheduled, Time: object.At(sample.Now), Epoch: 3,
			Facts: map[string]string{"topic": "program"}, Program: &event.Program{Rule: &r},
		})
	}
	return s
}

func TestRulesThatATargetCoversAreCancelledWithIt(t *testing.T) {
	s := bare(t, ruled())
	for _, c := range []struct{ name, body, want string }{
		{"everything ends every rule", `"filter":"*"`, "r1 r2 r3 r4 r5 r6"},
		{"every host ends the rule for hosts, and none for services too", `"filter":"*","kind":"host"`, "r6"},
		{"a group ends its own rule", `"group":"db-servers"`, "r2"},
		{"a group ends what is for its hosts and services, and no filter", `"group":"web-servers"`, "r1 r3 r4"},
		{"the hosts of a group end no rule that services have too", `"group":"web-servers","kind":"host"`, ""},
		{"a host with its services ends what is for it and for them", `"object":"web01","scope":"with-services"`, "r3 r4"},
		{"the services of a host end only what is for them", `"object":"web01","scope":"services"`, "r3"},
		{"a service ends what is for it alone", `"object":"web01!http"`, "r3"},
		{"a host ends no rule that its services have too", `"object":"web03"`, ""},
		{"all that hangs on a switch", `"object":"sw1","scope":"beyond"`, "r1 r3 r4"},
		{"the same filter", `"filter":"label.role=web"`, "r1 r3 r4 r5"},
		{"another filter on the same objects leaves that one", `"filter":"group=web-servers"`, "r1 r3 r4"},
		{"what matches at the moment ends no rule", `"filter":"host=web03 and not state=UNREACHABLE"`, ""},
		{"a text that fits", `"filter":"*","comment":"text r4"`, "r4"},
		{"a start that fits", `"filter":"*","start":"2026-03-01T16:00:00+01:00","comment":"rack"`, "r2"},
	} {
		_, actions, err := s.planOf(`{"command":"cancel-downtime",` + c.body + `}`)
		var ids []string
		for _, a := range actions {
			switch do := a.Program.(type) {
			case program.RemoveRule:
				ids = append(ids, do.ID)
			default:
				if strings.Contains(a.Command.(fold.CancelDowntimes).ID, "@") && strings.Contains(strings.Join(ids, " "), "r1") {
					t.Errorf("%s: a downtime of the rule is cancelled on its own", c.name)
				}
			}
		}
		if got := strings.Join(ids, " "); got != c.want || err != nil && (c.want != "" || asFault(err).Total == nil) {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

func TestAnAnswerHasALineForEachRuleAndObject(t *testing.T) {
	o := options(ruled())
	o.Commands = &picky{}
	srv := serve(t, o)
	const onward = `this time only; the rule r1 for web03 with its services goes on (cancel it by this id)`
	for _, c := range []struct{ name, body, want string }{
		{
			"one time of a rule", `"command":"cancel-downtime","id":"r1@1772362800000"`,
			`"total":1,"failed":0,"results":[{"object":"web03","outcome":"done","detail":"` + onward + `"}]}`,
		},
		{
			"of the host alone", `"command":"cancel-downtime","object":"web03","comment":"weekly"`,
			`"total":1,"failed":0,"results":[{"object":"web03","outcome":"done","detail":"` + onward + `"}]}`,
		},
		{
			"a downtime of its own", `"command":"cancel-downtime","id":"d9"`,
			`"total":1,"failed":0,"results":[{"object":"web03!disk","outcome":"done"}]}`,
		},
		{
			"a rule by its id", `"command":"cancel-downtime","id":"r1"`,
			`"total":2,"failed":0,"results":[{"rule":"r1","outcome":"done","detail":"the downtime for web03 with its services and all of its times"},` +
				`{"object":"web03","rule":"r1","outcome":"done"}]}`,
		},
		{
			"a rule that is made", `"command":"schedule-downtime","group":"mail-servers","comment":"x","duration":60`,
			`"total":3,"failed":0,"rule":"c1","results":[{"object":"mail01","outcome":"done"},{"object":"mail01!imap","outcome":"done"},{"object":"mail01!queue","outcome":"done"}]}`,
		},
	} {
		if status, got := order(t, srv.URL, "{"+c.body+"}"); status != 202 || !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %d %s\nwant %s", c.name, status, got, c.want)
		}
	}
	once := event.DowntimeRule{ID: "r4", Object: "web01", WithServices: true}
	if got := goesOn(&once, false); got != "this object only; the rule r4 for web01 with its services goes on (cancel it by this id)" {
		t.Error(got)
	}
	if got := goesOn(&once, true); got != "the objects of now only; the rule r4 for web01 with its services goes on for those added later (cancel it by this id)" {
		t.Error(got)
	}
}

func TestCancellingARuleCountsTheObjectsThatHaveIt(t *testing.T) {
	srv := serve(t, options(ruled()))
	status, got := order(t, srv.URL, `{"command":"cancel-downtime","object":"web03","scope":"with-services","preview":true}`)
	if want := `{"total":2,"items":[{"object":"web03"},{"object":"web03!disk"}]}`; status != 200 || got != want {
		t.Errorf("%s, want %s", fmt.Sprint(status, " ", got), want)
	}
}

func TestNothingToCancelNamesTheRuleThatGoesOn(t *testing.T) {
	s := bare(t, operated())
	_, _, err := s.planOf(`{"command":"cancel-downtime","object":"web03!http"}`)
	const want = "no downtime of the target fits; the rule r1 for web03 with its services reaches beyond it and goes on (cancel it by this id)"
	if f := asFault(err); f == nil || f.Status != 404 || !strings.HasPrefix(f.Detail, want) {
		t.Errorf("%v, want %s", err, want)
	}
}
