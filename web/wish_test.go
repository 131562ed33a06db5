package web

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/web/sample"
)

// allDay is a period for tests.
type allDay string

func (p allDay) Name() string                           { return string(p) }
func (p allDay) String() string                         { return string(p) }
func (p allDay) Window(object.Time) (bool, object.Time) { return true, 0 }

// moment returns a time as bodies of tests give it.
func moment(text string) object.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return object.At(t)
}

// operated is an office in which operators have been at work.
func operated() *sample.Site {
	s := sample.Office()
	set := s.Set()
	set.Periods = map[string]object.Period{"workhours": allDay("workhours")}
	set.Contacts = map[string]*object.Contact{"maria": {Name: "maria"}}
	with := func(x event.Extra) sample.Say { return func(e *event.Event) { e.Status.Extra = &x } }
	s.Result("web03", object.Up, "PING OK", time.Minute, func(e *event.Event) { e.Status.DowntimeDepth = 1 }, with(event.Extra{
		Downtimes: []event.Downtime{
			{ID: "d7", Number: 7, Comment: 9, Author: "ops", Text: "move", Start: moment("2026-03-01T11:00:00Z"), End: moment("2026-03-01T13:00:00Z"), Started: moment("2026-03-01T11:00:00Z")},
			{ID: "r1@1772362800000", Number: 8, Author: "ops", Text: "weekly", Start: moment("2026-03-01T11:00:00Z"), End: moment("2026-03-01T13:00:00Z"), Rule: "r1"},
		},
	}))
	s.Result("web03!disk", object.OK, "DISK OK", time.Minute, func(e *event.Event) { e.Status.Off = object.SwitchNotifications }, with(event.Extra{
		Downtimes: []event.Downtime{{ID: "d9", Number: 9, Text: "follows", Start: moment("2026-03-01T11:00:00Z"), End: moment("2026-03-01T13:00:00Z"), Trigger: "d7"}},
		Comments: []event.Comment{
			{ID: "c3", Number: 3, Kind: event.CommentUser, Author: "ops", Text: "new disk <b>", Time: moment("2026-03-01T10:00:00Z"), Persistent: true},
			{ID: "c4", Number: 4, Kind: event.CommentUser, Author: "eva", Text: "ordered", Time: moment("2026-03-01T11:00:00Z"), Expires: moment("2026-03-02T11:00:00Z")},
		},
		Settings: []event.Setting{{Name: event.SettingNotifications, Value: "off", Author: "eva", Time: moment("2026-03-01T10:30:00Z")}},
	}))
	say := func(p event.Program) {
		s.Append(event.Event{Kind: event.SettingChanged, Time: object.At(sample.Now), Epoch: 3, Facts: map[string]string{"topic": "program"}, Program: &p})
	}
	say(event.Program{Switches: &event.Switches{
		Off: object.ProgramNotifications, Settings: []event.Setting{{Name: "notifications", Value: "off", Author: "eva", Time: moment("2026-03-01T09:00:00Z")}},
	}})
	say(event.Program{Contact: &event.ContactStatus{Name: "maria", HostOff: true}})
	say(event.Program{Rule: &event.DowntimeRule{
		ID: "r1", Number: 5, Author: "ops", Text: "weekly", Object: "web03", WithServices: true, Ranges: []string{"sunday 11:00-13:00"}, Zone: "UTC",
	}})
	say(event.Program{Rule: &event.DowntimeRule{
		ID: "r2", Number: 6, Author: "ops", Text: "rack", Group: "db-servers", Start: moment("2026-03-01T15:00:00Z"), End: moment("2026-03-01T16:00:00Z"),
	}})
	return s
}

// planOf reads a body as far as to its actions.
func (s *site) planOf(body string) (request, []operate.Action, error) {
	q, err := decodeCommand([]byte(body))
	if err != nil {
		return q, nil, err
	}
	wish, err := s.wish(&q)
	if err != nil {
		return q, nil, q.placed(err)
	}
	actions, err := s.plan(&wish)
	return q, actions, q.placed(err)
}

func one(id object.ID, c fold.Command) []operate.Action {
	return []operate.Action{{Object: id, Command: c}}
}

func whole(c program.Command) []operate.Action { return []operate.Action{{Program: c}} }

const sampled = "2026-03-01T12:00:00Z" // of the sample

func TestCommandsAreWhatTheirBodiesSay(t *testing.T) {
	s := bare(t, operated())
	for _, c := range []struct {
		name, body string
		want       []operate.Action
	}{
		{
			"an acknowledgement is sticky and tells people", `{"command":"acknowledge","object":"web01!http","comment":" on it "}`,
			one("web01!http", fold.Acknowledge{Kind: object.AckSticky, Notify: true, Author: "api", Text: "on it"}),
		},
		{
			"a normal one in silence that ends", `{"command":"acknowledge","object":"web01!http","comment":"x","author":"eva","sticky":false,"notify":false,"persistent":true,"expires":"2026-03-01T14:30:00.5+01:00"}`,
			one("web01!http", fold.Acknowledge{Kind: object.AckNormal, Persistent: true, Expires: moment("2026-03-01T13:30:00.5Z"), Author: "eva", Text: "x"}),
		},
		{
			"an acknowledgement is taken back", `{"command":"remove-acknowledgement","object":"db01!replication","author":"eva"}`,
			one("db01!replication", fold.RemoveAcknowledgement{Author: "eva"}),
		},
		{
			"a comment stays by default", `{"command":"add-comment","object":"web01","comment":"größer\n2"}`,
			one("web01", fold.AddComment{Author: "api", Text: "größer\n2", Persistent: true}),
		},
		{
			"a comment that does not", `{"command":"add-comment","objects":["web01"],"comment":"x","persistent":false,"expires":"2026-03-02T00:00:00Z"}`,
			one("web01", fold.AddComment{Author: "api", Text: "x", Expires: moment("2026-03-02T00:00:00Z")}),
		},
		{"one comment goes by its id", `{"command":"delete-comment","id":"c3"}`, one("web03!disk", fold.RemoveComments{ID: "c3", Author: "api"})},
		{"one comment goes by its number", `{"command":"delete-comment","id":"4"}`, one("web03!disk", fold.RemoveComments{ID: "c4", Author: "api"})},
		{"all comments of an object go", `{"command":"delete-comment","object":"web03!disk"}`, one("web03!disk", fold.RemoveComments{Author: "api"})},
		{"a check now", `{"command":"check-now","object":"web01!http"}`, one("web01!http", fold.Reschedule{Forced: true, Author: "api"})},
		{
			"a check later that obeys", `{"command":"check-now","object":"web01!http","at":"2026-03-01T12:05:00Z","forced":false}`,
			one("web01!http", fold.Reschedule{At: moment("2026-03-01T12:05:00Z"), Strict: true, Author: "api"}),
		},
		{
			"a result now", `{"command":"submit-result","object":"db01!backup","state":"warning","output":"slow\nl2","perfdata":"a=1"}`,
			one("db01!backup", fold.Result{State: object.Warning, Passive: true, Output: "slow", Long: "l2", Perfdata: "a=1", Start: moment(sampled)}),
		},
		{
			"a result of then", `{"command":"submit-result","object":"mail01","state":1,"time":"2026-03-01T11:59:00Z"}`,
			one("mail01", fold.Result{State: object.Down, Passive: true, Stamped: true, Start: moment("2026-03-01T11:59:00Z")}),
		},
		{
			"switches of an object", `{"command":"disable","object":"web01","what":["notifications","active_checks"]}`,
			one("web01", fold.Switch{What: object.SwitchNotifications | object.SwitchActive, Author: "api"}),
		},
		{
			"one switch without a list", `{"command":"enable","object":"web01","what":"perfdata"}`,
			one("web01", fold.Switch{What: object.SwitchPerfdata, On: true, Author: "api"}),
		},
		{
			"a setting", `{"command":"set","object":"web01!http","setting":"interval","value":"90s"}`,
			one("web01!http", fold.Tune{Name: "interval", Value: "90s", Author: "api"}),
		},
		{
			"a setting that is a number", `{"command":"set","object":"web01!http","setting":"attempts","value":5}`,
			one("web01!http", fold.Tune{Name: "attempts", Value: "5", Author: "api"}),
		},
		{
			"a setting as configured again", `{"command":"set","object":"web01!http","setting":"check_period","value":""}`,
			one("web01!http", fold.Tune{Name: "check_period", Author: "api"}),
		},
		{
			"a period that exists", `{"command":"set","object":"web01!http","setting":"notification_period","value":"workhours"}`,
			one("web01!http", fold.Tune{Name: "notification_period", Value: "workhours", Author: "api"}),
		},
		{
			"a variable as Nagios writes it", `{"command":"set","object":"web01","setting":"var._port","value":"81"}`,
			one("web01", fold.Tune{Name: "var.PORT", Value: "81", Author: "api"}),
		},
		{
			"a message", `{"command":"notify","object":"web01","comment":"look","broadcast":true,"increment":true}`,
			one("web01", fold.Notify{Broadcast: true, Increment: true, Author: "api", Text: "look"}),
		},
		{
			"switches of the program by the names of objects", `{"command":"disable","program":true,"what":["active_checks","event_handler"]}`,
			whole(program.Switch{What: object.ProgramHostChecks | object.ProgramServiceChecks | object.ProgramEventHandlers, Author: "api"}),
		},
		{
			"switches of the program by their own names", `{"command":"enable","program":true,"what":["host_freshness","passive_service_checks"],"author":"eva"}`,
			whole(program.Switch{What: object.ProgramHostFreshness | object.ProgramPassiveServices, On: true, Author: "eva"}),
		},
		{
			"what a contact is told", `{"command":"disable","contact":"maria","what":["notifications"]}`,
			whole(program.SwitchContact{Name: "maria", Hosts: true, Services: true, Author: "api"}),
		},
		{
			"what a contact is told of services", `{"command":"enable","contact":"maria","kind":"service","what":["notifications"]}`,
			whole(program.SwitchContact{Name: "maria", Services: true, On: true, Author: "api"}),
		},
		{
			"fields that are null are left out", `{"command":"check-now","object":"web01","at":null,"comment":null,"state":null,"objects":null}`,
			one("web01", fold.Reschedule{Forced: true, Author: "api"}),
		},
	} {
		if _, got, err := s.planOf(c.body); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %+v, %v\nwant %+v", c.name, got, err, c.want)
		}
	}
}

func TestTargetsAreTheObjectsThatAreMeant(t *testing.T) {
	s := bare(t, operated())
	for target, want := range map[string]string{
		`"object":"web01"`: "web01",
		`"objects":["web01!http","web01","web01!http"]`:                    "web01!http web01",
		`"object":"web01","scope":"services"`:                              "web01!disk web01!http web01!load",
		`"object":"web01","scope":"with-services"`:                         "web01 web01!disk web01!http web01!load",
		`"object":"sw1","scope":"children"`:                                "db01 mail01 web01 web02 web03 web04",
		`"objects":["sw1"],"scope":"with-children"`:                        "sw1 db01 mail01 web01 web02 web03 web04",
		`"group":"db-servers"`:                                             `db01 db01!a/b%2F"><img src=x onerror=alert(1)> db01!backup db01!disk db01!replication`,
		`"group":"db-servers","kind":"host"`:                               "db01",
		`"group":"db-servers","scope":"services"`:                          `db01!a/b%2F"><img src=x onerror=alert(1)> db01!backup db01!disk db01!replication`,
		`"filter":"host=mail01"`:                                           "mail01 mail01!imap mail01!queue",
		`"filter":"host=mail01","kind":"service"`:                          "mail01!imap mail01!queue",
		`"filter":"host=mail01","kind":"host"`:                             "mail01",
		`"filter":"in_downtime and service=http"`:                          "web03!http",
		`"filter":"comments!=0 or downtimes!=0","kind":"service"`:          "web02!load web03!disk",
		`"filter":"*","kind":"host"`:                                       "db01 mail01 sw1 web01 web02 web03 web04",
		`"filter":"disabled=notifications and setting=notifications"`:      "web03!disk",
		`"filter":"unhandled and not (host=db01 or label.role=web)"`:       "mail01 mail01!imap mail01!queue",
		`"object":"","objects":[],"group":"","filter":"","object":"web01"`: "",
	} {
		_, actions, err := s.planOf(`{"command":"check-now",` + target + `}`)
		var ids []string
		for _, a := range actions {
			ids = append(ids, string(a.Object))
		}
		if got := strings.Join(ids, " "); got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %s, %v\nwant %s", target, got, err, want)
		}
	}
}

func TestDowntimesAreForObjectsOrForRules(t *testing.T) {
	s := bare(t, operated())
	start, end := moment("2026-03-01T20:00:00Z"), moment("2026-03-01T22:00:00Z")
	d := event.Downtime{Author: "api", Text: "x", Entry: moment(sampled), Start: start, End: end}
	r := event.DowntimeRule{Author: "api", Text: "x", Entry: moment(sampled), Start: start, End: end}
	with := func(change func(d *event.Downtime)) fold.ScheduleDowntime {
		other := d
		change(&other)
		return fold.ScheduleDowntime{Downtime: other}
	}
	rule := func(change func(r *event.DowntimeRule)) []operate.Action {
		other := r
		change(&other)
		return whole(program.PutRule{Rule: other})
	}
	const times = `"start":"2026-03-01T20:00:00Z","end":"2026-03-01T22:00:00Z"`
	weekly := func(r *event.DowntimeRule) {
		r.Start, r.End, r.Ranges, r.Zone = 0, 0, []string{"sunday 02:00-04:00"}, "Europe/Berlin"
	}
	for _, c := range []struct {
		name, body string
		want       []operate.Action
	}{
		{"one service", `"object":"web01!http",` + times, one("web01!http", with(func(*event.Downtime) {}))},
		{"a length", `"object":"web01","start":"2026-03-01T20:00:00Z","duration":7200`, one("web01", with(func(*event.Downtime) {}))},
		{"from now on", `"object":"web01","duration":0.5`, one("web01", with(func(d *event.Downtime) { d.Start, d.End = moment(sampled), moment(sampled)+500 }))},
		{
			"a start that has passed", `"object":"web01","start":"2026-03-01T11:00:00Z","duration":7200`,
			one("web01", with(func(d *event.Downtime) {
				d.Start, d.End = moment("2026-03-01T11:00:00Z"), moment("2026-03-01T13:00:00Z")
			})),
		},
		{"flexible", `"object":"web01","flexible":600,` + times, one("web01", with(func(d *event.Downtime) { d.Duration = 600_000 }))},
		{
			"triggered with the times of its trigger", `"object":"web01","trigger":"d7"`,
			one("web01", with(func(d *event.Downtime) {
				d.Trigger, d.Start, d.End = "d7", moment("2026-03-01T11:00:00Z"), moment("2026-03-01T13:00:00Z")
			})),
		},
		{
			"triggered with a length of its own", `"object":"web01","trigger":"d7","flexible":60,` + times,
			one("web01", with(func(d *event.Downtime) { d.Trigger, d.Duration = "d7", 60_000 })),
		},
		{
			"triggered, of all services as they are", `"object":"mail01","scope":"services","trigger":"d7",` + times,
			append(one("mail01!imap", with(func(d *event.Downtime) { d.Trigger = "d7" })), one("mail01!queue", with(func(d *event.Downtime) { d.Trigger = "d7" }))...),
		},
		{
			"two objects", `"objects":["web01","web02!http"],` + times,
			append(one("web01", with(func(*event.Downtime) {})), one("web02!http", with(func(*event.Downtime) {}))...),
		},
		{
			"a host with its services, also later ones", `"object":"web01","scope":"with-services",` + times,
			rule(func(r *event.DowntimeRule) { r.Object, r.WithServices = "web01", true }),
		},
		{
			"two hosts with their services", `"objects":["web01","web02"],"scope":"with-services",` + times,
			rule(func(r *event.DowntimeRule) { r.Filter = `host="web01" or host="web02"` }),
		},
		{"a group", `"group":"db-servers",` + times, rule(func(r *event.DowntimeRule) { r.Group = "db-servers" })},
		{
			"the hosts of a group", `"group":"db-servers","kind":"host",` + times,
			rule(func(r *event.DowntimeRule) { r.Filter = `(group="db-servers") and kind=host` }),
		},
		{"a filter", `"filter":"label.role=db",` + times, rule(func(r *event.DowntimeRule) { r.Filter = "label.role=db" })},
		{
			"services of a filter", `"filter":"host=a or label.role=db","kind":"service",` + times,
			rule(func(r *event.DowntimeRule) { r.Filter = "(host=a or label.role=db) and kind=service" }),
		},
		{"every host", `"filter":"*","kind":"host",` + times, rule(func(r *event.DowntimeRule) { r.Filter = "kind=host" })},
		{
			"every Sunday", `"object":"web01","ranges":["sunday 02:00-04:00"],"timezone":"Europe/Berlin"`,
			rule(func(r *event.DowntimeRule) { weekly(r); r.Object = "web01" }),
		},
		{
			"every Sunday in spring", `"object":"web01","ranges":"sunday 02:00-04:00","flexible":60,"timezone":"Europe/Berlin","start":"2026-03-01T00:00:00Z","end":"2026-06-01T00:00:00Z"`,
			rule(func(r *event.DowntimeRule) {
				weekly(r)
				r.Object, r.Duration, r.Start, r.End = "web01", 60_000, moment("2026-03-01T00:00:00Z"), moment("2026-06-01T00:00:00Z")
			}),
		},
		{
			"every Sunday for named objects", `"objects":["web01","web02!http"],"ranges":["sunday 02:00-04:00"],"timezone":"Europe/Berlin"`,
			rule(func(r *event.DowntimeRule) { weekly(r); r.Filter = `id="web01" or id="web02!http"` }),
		},
		{
			"every Sunday for all services of a host", `"object":"web01","scope":"services","ranges":["sunday 02:00-04:00"]`,
			rule(func(r *event.DowntimeRule) { weekly(r); r.Zone, r.Filter = "UTC", `(host="web01") and kind=service` }),
		},
	} {
		if _, got, err := s.planOf(`{"command":"schedule-downtime","comment":"x",` + c.body + `}`); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %+v, %v\nwant %+v", c.name, got, err, c.want)
		}
	}
}

func TestDowntimesAreCancelledByIDOrByTarget(t *testing.T) {
	s := bare(t, operated())
	cancel := func(id object.ID, ref string) operate.Action {
		return operate.Action{Object: id, Command: fold.CancelDowntimes{ID: ref, Author: "api"}}
	}
	then := func(a operate.Action) operate.Action { a.Wait = true; return a }
	remove := func(id string) operate.Action {
		return operate.Action{Program: program.RemoveRule{ID: id, Author: "api"}}
	}
	for _, c := range []struct {
		name, body string
		want       []operate.Action
	}{
		{"by id, with what it triggers", `"id":"d7"`, []operate.Action{cancel("web03!disk", "d9"), then(cancel("web03", "d7"))}},
		{"by number", `"id":"9"`, []operate.Action{cancel("web03!disk", "d9")}},
		{"one time of a rule", `"id":"r1@1772362800000"`, []operate.Action{cancel("web03", "r1@1772362800000")}},
		{"a rule by id", `"id":"r2"`, []operate.Action{remove("r2")}},
		{"a rule by the group it is for", `"group":"db-servers"`, []operate.Action{remove("r2")}},
		{
			"a rule by the host it is for, with what is left", `"object":"web03","scope":"with-services"`,
			[]operate.Action{remove("r1"), cancel("web03!disk", "d9"), then(cancel("web03", "d7"))},
		},
		{"all of an object", `"object":"web03!disk"`, []operate.Action{cancel("web03!disk", "d9")}},
		{"those with a text", `"filter":"*","comment":"follows"`, []operate.Action{cancel("web03!disk", "d9")}},
		{"those with a start", `"object":"web03!disk","start":"2026-03-01T12:00:00+01:00"`, []operate.Action{cancel("web03!disk", "d9")}},
	} {
		if _, got, err := s.planOf(`{"command":"cancel-downtime",` + c.body + `}`); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %+v, %v\nwant %+v", c.name, got, err, c.want)
		}
	}
	for _, body := range []string{`"object":"sw1"`, `"object":"web03","start":"2026-03-01T12:00:00Z"`, `"filter":"*","comment":"no such text"`} {
		if _, _, err := s.planOf(`{"command":"cancel-downtime",` + body + `}`); asFault(err) == nil || asFault(err).Status != http.StatusNotFound || asFault(err).Total == nil {
			t.Errorf("%s: %v, want that nothing fits", body, err)
		}
	}
}
