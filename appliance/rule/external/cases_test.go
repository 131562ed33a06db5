package external_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
)

type step struct {
	At            int64
	Host, Service string
	RC            int
	Output, Kind  string
	Cmd           string
}

type change struct {
	Object, Field string
	Value         any
}

type downtime struct {
	Host, Service   string
	Start, End      int64
	Fixed           bool
	Duration        int64
	Triggered       bool
	Author, Comment string
}

type comment struct {
	Host, Service      string
	Persistent         bool
	Kind, Author, Text string
}

type outcome struct {
	Accepted  *bool
	Changes   []change
	Downtimes *[]downtime
	Comments  *[]comment
	Deleted   *int      `json:"comments_deleted"`
	AnyOf     []outcome `json:"any_of"`
}

type testCase struct {
	ID, Area, Title string
	Input           struct {
		Config, Main, Line string
		Start              int64
		Setup, Steps       []step
	}
	Expect json.RawMessage
}

func readCases(t *testing.T, pattern string) []testCase {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("case files %v: %v", files, err)
	}
	var all []testCase
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewScanner(strings.NewReader(string(text)))
		in.Buffer(nil, len(text)+1)
		for in.Scan() {
			var c testCase
			if err := json.Unmarshal(in.Bytes(), &c); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			all = append(all, c)
		}
	}
	return all
}

// step runs one step of a case and returns the object it is about.
func (w *world) step(start int64, st *step) object.ID {
	w.t.Helper()
	w.pass(object.Time(start+st.At) * 1000)
	if st.Cmd != "" {
		if err := w.command(st.Cmd); err != nil {
			w.t.Logf("%s: %v", st.Cmd, err)
		}
		return ""
	}
	id := object.ID(strings.Replace(st.Host+st.Service, "/", "!", 1))
	w.check(id, st.RC, st.Output, st.Kind == "passive")
	return id
}

// Every case of the area external-command.
func TestCasesOfExternalCommand(t *testing.T) {
	cases := readCases(t, "testdata/cases/*.jsonl")
	for _, c := range cases {
		t.Run(c.ID+" "+c.Title, func(t *testing.T) {
			w := newWorld(t, c.Input.Config, c.Input.Main, object.Time(c.Input.Start-60)*1000)
			for i := range c.Input.Setup {
				w.step(c.Input.Start, &c.Input.Setup[i])
			}
			w.pass(object.Time(c.Input.Start) * 1000)
			before := w.picture()
			err := w.command(c.Input.Line)
			after := w.picture()
			var want outcome
			if err := json.Unmarshal(c.Expect, &want); err != nil {
				t.Fatal(err)
			}
			wrong := want.differs(before, after, err)
			for i := range want.AnyOf {
				if wrong = want.AnyOf[i].differs(before, after, err); wrong == "" {
					break
				}
			}
			if wrong != "" {
				t.Errorf("%s (error %v)", wrong, err)
			}
		})
	}
	t.Logf("%d cases", len(cases))
}

// differs says what is not as expected, "" if nothing is.
func (o *outcome) differs(before, after picture, err error) string {
	if o.Accepted != nil && *o.Accepted != (err == nil) {
		return "accepted: " + strconv.FormatBool(err == nil)
	}
	for _, part := range []struct {
		name      string
		got, want any
		asked     bool
	}{
		{"changes", after.since(before), o.Changes, true},
		{"downtimes", added(before.downtimes, after.downtimes), o.Downtimes, o.Downtimes != nil},
		{"comments", added(before.comments, after.comments), o.Comments, o.Comments != nil},
		{"deleted comments", len(added(after.comments, before.comments)), o.Deleted, o.Deleted != nil},
	} {
		if got, want := asText(part.got), asText(part.want); part.asked && got != want {
			return part.name + "\n got " + got + "\nwant " + want
		}
	}
	return ""
}

// asText writes a value so that unordered lists compare.
func asText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	var list []json.RawMessage
	if json.Unmarshal(text, &list) != nil {
		return string(text)
	}
	lines := make([]string, len(list))
	for i := range list {
		lines[i] = string(list[i])
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n     ")
}

// picture is what Nagios would show of a world.
type picture struct {
	fields    map[[2]string]any // by object and field
	downtimes []downtime
	comments  []comment
}

// since returns the fields that differ from an earlier picture.
func (p picture) since(before picture) []change {
	changes := []change{}
	for at, v := range p.fields {
		if old, known := before.fields[at]; !known || !reflect.DeepEqual(old, v) {
			changes = append(changes, change{at[0], at[1], v})
		}
	}
	return changes
}

func added[T comparable](before, after []T) []T {
	had := map[T]int{}
	for _, v := range before {
		had[v]++
	}
	list := []T{}
	for _, v := range after {
		if had[v]--; had[v] < 0 {
			list = append(list, v)
		}
	}
	return list
}

func (w *world) picture() picture {
	p := picture{fields: map[[2]string]any{}}
	for _, o := range w.set.Objects {
		w.pictureOf(&p, o)
	}
	for name, c := range w.set.Contacts {
		s := w.program.Contacts[name]
		put := func(field string, v any) { p.fields[[2]string{"contact " + name, field}] = v }
		put("host_notifications_enabled", program.Tells(c, &s, object.Host))
		put("service_notifications_enabled", program.Tells(c, &s, object.Service))
		put("modified_attributes", s.Modified)
		put("modified_host_attributes", s.HostModified)
		put("modified_service_attributes", s.ServiceModified)
		put("custom_variables", varsWith(c.Vars, s.Settings))
	}
	on := w.settings().On
	for i, name := range []string{
		"execute_host_checks", "execute_service_checks", "accept_passive_host_checks", "accept_passive_service_checks", "enable_notifications",
		"enable_event_handlers", "enable_flap_detection", "process_performance_data", "check_host_freshness", "check_service_freshness",
		"obsess_over_hosts", "obsess_over_services",
	} {
		p.fields[[2]string{"program", name}] = on.Has(1 << i)
	}
	return p
}

func varsWith(vars map[string]string, settings []event.Setting) map[string]string {
	all := map[string]string{}
	for k, v := range vars {
		all[k] = v
	}
	for _, s := range settings {
		if name, is := strings.CutPrefix(s.Name, event.SettingVar); is {
			all[name] = s.Value
		}
	}
	return all
}

func (w *world) pictureOf(p *picture, o *object.Object) {
	s := w.states[o.ID]
	st, host, service := &s.Status, o.HostObject().Name, o.ID.Service()
	name := "host " + host
	if service != "" {
		name = "service " + host + "/" + service
	}
	put := func(field string, v any) { p.fields[[2]string{name, field}] = v }
	put("notifications_enabled", fold.Enabled(o, st, object.SwitchNotifications))
	put("active_checks_enabled", fold.Enabled(o, st, object.SwitchActive))
	put("passive_checks_enabled", fold.Enabled(o, st, object.SwitchPassive))
	put("flap_detection_enabled", fold.Enabled(o, st, object.SwitchFlapDetection))
	put("event_handler_enabled", fold.Enabled(o, st, object.SwitchEventHandler))
	put("max_attempts", st.MaxAttempts)
	put("current_state", st.State)
	put("state_type", strings.ToUpper(st.Type.String()))
	put("current_attempt", st.Attempt)
	put("plugin_output", s.Measure.Output)
	put("long_plugin_output", s.Measure.Long)
	put("performance_data", s.Measure.Perfdata)
	put("problem_has_been_acknowledged", st.Ack != object.AckNone)
	// Nagios keeps the type of an acknowledgement that is gone.
	if st.Ack != object.AckNone {
		put("acknowledgement_type", map[object.AckKind]string{object.AckNormal: "normal", object.AckSticky: "sticky"}[st.Ack])
	}
	x := st.Extra
	if x == nil {
		x = &event.Extra{}
	}
	put("modified_attributes", x.Modified)
	put("custom_variables", varsWith(o.Vars, x.Settings))
	put("check_interval", minutes(st, event.SettingInterval, o.Rule.Interval))
	put("retry_interval", minutes(st, event.SettingRetry, o.Rule.Retry))
	put("check_period", nameOf(st, event.SettingCheckPeriod, o.Rule.CheckPeriod))
	put("notification_period", nameOf(st, event.SettingNotePeriod, o.Rule.NotePeriod))
	put("check_options", map[bool]int{true: 1}[x.CheckForced])
	if x.CheckAt != 0 {
		put("next_check", int64(x.CheckAt/1000))
	}
	for _, c := range x.Comments {
		p.comments = append(p.comments, comment{host, service, c.Persistent, c.Kind, c.Author, c.Text})
	}
	for _, d := range x.Downtimes {
		length := d.End - d.Start
		if d.Duration > 0 {
			length = d.Duration
		}
		p.downtimes = append(p.downtimes, downtime{
			host, service, int64(d.Start / 1000), int64(d.End / 1000), d.Duration == 0, int64(length / 1000), d.Trigger != "", d.Author, d.Text,
		})
	}
}

func minutes(st *event.Status, setting string, config time.Duration) float64 {
	if text, ok := st.Setting(setting); ok {
		if d, err := time.ParseDuration(text); err == nil {
			return d.Minutes()
		}
	}
	return config.Minutes()
}

func nameOf(st *event.Status, setting string, config object.Period) string {
	if name, ok := st.Setting(setting); ok {
		return name
	}
	if config == nil {
		return ""
	}
	return config.Name()
}

// The cases of the areas about states, run with their commands as lines.
func TestCasesOfStatesThroughLines(t *testing.T) {
	ran := 0
	for _, c := range readCases(t, "../../core/fold/testdata/cases/*.jsonl") {
		ran++
		t.Run(c.ID, func(t *testing.T) {
			var want struct {
				Steps []struct {
					State, Type string
					Attempt     int32
				}
			}
			if err := json.Unmarshal(c.Expect, &want); err != nil {
				t.Fatal(err)
			}
			w := newWorld(t, c.Input.Config, c.Input.Main, object.Time(c.Input.Start-60)*1000)
			for i := range c.Input.Steps {
				id := w.step(c.Input.Start, &c.Input.Steps[i])
				if i >= len(want.Steps) || id == "" {
					continue
				}
				got, want := &w.states[id].Status, want.Steps[i]
				name, typ := got.State.Name(id.Kind()), strings.ToUpper(got.Type.String())
				if want.State != "" && name != want.State || want.Type != "" && typ != want.Type || want.Attempt != 0 && got.Attempt != want.Attempt {
					t.Errorf("step %d: %s is %s %s %d, want %+v", i, id, name, typ, got.Attempt, want)
				}
			}
		})
	}
	t.Logf("%d cases", ran)
}
