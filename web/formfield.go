package web

import (
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/view"
)

// zones are suggestions; every name of the IANA database is read.
var zones = []string{
	"UTC", "Europe/London", "Europe/Madrid", "Europe/Berlin", "Europe/Athens", "America/New_York", "America/Chicago",
	"America/Denver", "America/Los_Angeles", "America/Sao_Paulo", "Asia/Dubai", "Asia/Kolkata", "Asia/Shanghai", "Asia/Tokyo",
	"Australia/Sydney", "Pacific/Auckland",
}

// text returns what a field was filled in with, fallback while the form is fresh.
func (d *draft) text(name, fallback string) string {
	if _, ok := d.values[name]; !ok && d.fresh {
		return fallback
	}
	return d.values.Get(name)
}

// on tells whether a box is ticked.
func (d *draft) on(name string, fallback bool) bool {
	v, ok := d.values[name]
	if !ok {
		return d.fresh && fallback
	}
	return slices.Contains(v, "true")
}

// fields returns the fields of the form in their order.
func (d *draft) fields() []view.Field {
	var out []view.Field
	if d.asksTarget() {
		out = d.targetFields()
	}
	if f, ok := d.scopeField(); ok {
		out = append(out, f)
	}
	switch d.command() {
	case "acknowledge":
		out = append(out, d.comment("Why"),
			d.box("sticky", "Keep it until the recovery, also when the state changes", true),
			d.box("notify", "Tell the people in charge", true),
			d.box("persistent", "Keep the text as a comment afterwards", false),
			view.Field{Kind: view.FieldMoment, Name: "expires", Label: "Ends by itself at", Value: d.text("expires", ""), Hint: d.timesHint()})
	case "schedule-downtime":
		out = append(out, d.downtimeFields()...)
	case "add-comment":
		out = append(out, d.comment("Comment"), d.box("persistent", "Keep it when jaque restarts", true),
			view.Field{Kind: view.FieldMoment, Name: "expires", Label: "Goes by itself at", Value: d.text("expires", ""), Hint: d.timesHint()})
	case "check-now":
		out = append(out, d.box("forced", "Whatever switches, periods and dependencies say", true))
	case "submit-result":
		out = append(out, d.resultFields()...)
	case "notify":
		out = append(out, d.comment("Message"),
			d.box("broadcast", "Also to the people of every escalation", false),
			d.box("forced", "Whatever filters and periods say", false))
	case "enable", "disable":
		out = append(out, d.switchField()...)
	case "set":
		out = append(out, d.settingFields()...)
	}
	return append(out, d.author())
}

func (d *draft) comment(label string) view.Field {
	return view.Field{Kind: view.FieldArea, Name: "comment", Label: label, Value: d.text("comment", ""), Required: true}
}

func (d *draft) author() view.Field {
	f := view.Field{
		Name: "author", Label: "Your name", Value: d.text("author", kept(d.request, nameCookie)),
		Hint: "It stands beside what you do. This browser keeps it.", Required: !slices.Contains(nameless, d.command()),
	}
	if f.Value == "" && !d.fresh {
		f.Value = kept(d.request, nameCookie)
	}
	return f
}

// box is a checkbox; the page sends nothing for an empty one, so the sheet puts
// a hidden "false" in front where the API's default is true.
func (d *draft) box(name, label string, fallback bool) view.Field {
	return view.Field{Kind: view.FieldCheck, Name: name, Label: label, On: d.on(name, fallback)}
}

func (d *draft) timesHint() string { return "In " + d.zone.String() + "." }

// scopeField asks how far the command reaches around hosts.
func (d *draft) scopeField() (view.Field, bool) {
	ids := d.objects()
	named := len(ids) > 0 && !slices.ContainsFunc(ids, func(id object.ID) bool { return id.Kind() == object.Service })
	hosts := d.values.Get("kind") == "host" && d.values.Get("filter")+d.values.Get("group") != ""
	if !named && !hosts || d.asksTarget() || d.values.Get("id") != "" || d.command() == "submit-result" || d.command() == "set" {
		return view.Field{}, false
	}
	words := [][2]string{
		{"", "the host alone"},
		{"with-services", "the host and its services"},
		{"services", "its services, not the host"},
		{"with-children", "the host and every host behind it"},
		{"beyond", "every host behind it, with services"},
	}
	if !named || len(ids) > 1 {
		words = [][2]string{
			{"", "the hosts alone"},
			{"with-services", "the hosts and their services"},
			{"services", "their services, not the hosts"},
			{"with-children", "the hosts and every host behind them"},
			{"beyond", "every host behind them, with services"},
		}
	}
	fallback := ""
	if d.command() == "schedule-downtime" {
		fallback = "with-services"
	}
	return view.Field{Kind: view.FieldSelect, Name: "scope", Label: "For", Options: choose(words, d.text("scope", fallback))}, true
}

func choose(words [][2]string, value string) []view.Option {
	out := make([]view.Option, len(words))
	for i, w := range words {
		out[i] = view.Option{Value: w[0], Label: w[1], On: w[0] == value}
	}
	return out
}

// asksTarget tells whether the form has to ask what it is for.
func (d *draft) asksTarget() bool {
	if d.values.Get("target") != "" {
		return true
	}
	for _, name := range []string{"object", "group", "filter", "program", "contact", "id"} {
		if d.values.Get(name) != "" {
			return false
		}
	}
	return true
}

func (d *draft) targetFields() []view.Field {
	way := d.text("target", "object")
	scopes := [][2]string{{"", "itself"}, {"with-services", "itself and, of a host, all its services"}}
	var groups []string
	for g := range d.site.Projection.Set().Groups {
		groups = append(groups, g)
	}
	slices.Sort(groups)
	const group = "For what"
	return []view.Field{
		{Kind: view.FieldChoice, Name: "target", Label: "For", Group: group, Options: choose([][2]string{{"object", "a host or a service"}, {"group", "a group"}, {"filter", "everything that matches a filter"}}, way)},
		{Name: "object", Label: "Host, or host!service", Value: d.values.Get("object"), Required: true, Group: group, For: "target-object"},
		{Kind: view.FieldSelect, Name: "scope", Label: "Reaches", Group: group, For: "target-object", Options: choose(scopes, d.text("scope", ""))},
		{Name: "group", Label: "Group", Value: d.values.Get("group"), Required: true, List: groups[:min(len(groups), 500)], Group: group, For: "target-group"},
		{Name: "filter", Label: "Filter", Value: d.values.Get("filter"), Hint: "As in lists: label.role=web and !acknowledged. * is everything.", Required: true, Group: group, For: "target-filter"},
		{Kind: view.FieldSelect, Name: "kind", Label: "Of them", Group: group, For: "target-many", Options: choose([][2]string{{"", "hosts and services"}, {"host", "hosts"}, {"service", "services"}}, d.values.Get("kind"))},
	}
}

func (d *draft) downtimeFields() []view.Field {
	begins, repeat := d.text("begins", "fixed"), d.text("repeat", "once")
	var days []view.Option
	for _, w := range weekdays {
		days = append(days, view.Option{Value: w, Label: strings.ToUpper(w[:1]) + w[1:3], On: slices.Contains(d.values["day"], w)})
	}
	const when = "When"
	return []view.Field{
		d.comment("Why"),
		{Kind: view.FieldChoice, Name: "repeat", Label: "It happens", Group: when, Options: choose([][2]string{{"once", "once"}, {"weekly", "again and again"}}, repeat)},
		{Kind: view.FieldMoment, Name: "start", Label: "From", Value: d.text("start", ""), Hint: "Empty: now.", Group: when, For: "repeat-once"},
		{Name: "duration", Label: "For", Value: d.text("duration", "2h"), List: []string{"30m", "1h", "2h", "4h", "8h", "1d"}, Hint: "As in 45m, 2h, 1h 30, 3d, 1w.", Group: when, For: "repeat-once"},
		{Kind: view.FieldMoment, Name: "end", Label: "Or until", Value: d.text("end", ""), Hint: "Counts over the length.", Group: when, For: "repeat-once"},
		{Kind: view.FieldMany, Name: "day", Label: "On", Options: days, Group: when, For: "repeat-weekly"},
		{Kind: view.FieldClock, Name: "from", Label: "From", Value: d.text("from", "02:00"), Group: when, For: "repeat-weekly"},
		{Kind: view.FieldClock, Name: "to", Label: "To", Value: d.text("to", "04:00"), Hint: "An earlier time is on the next day.", Group: when, For: "repeat-weekly"},
		{Kind: view.FieldDay, Name: "first", Label: "First day", Value: d.text("first", ""), Group: when, For: "repeat-weekly"},
		{Kind: view.FieldDay, Name: "last", Label: "Last day", Value: d.text("last", ""), Group: when, For: "repeat-weekly"},
		{Kind: view.FieldArea, Name: "other", Label: "Other times", Value: d.text("other", ""), Hint: "One a line, as in a time period: day 1 02:00-04:00, or monday 2 22:00-24:00.", Group: when, For: "repeat-weekly"},
		{Name: "timezone", Label: "Time zone", Value: d.text("timezone", d.zone.String()), List: zones, Hint: "Of the times above.", Required: true, Group: when},
		{Kind: view.FieldChoice, Name: "begins", Label: "It begins", Group: when, Options: choose([][2]string{{"fixed", "at that time"}, {"flexible", "with the first problem in that time"}}, begins)},
		{Name: "flexible", Label: "And lasts", Value: d.text("flexible", "1h"), Required: true, Group: when, For: "begins-flexible"},
		{Name: "trigger", Label: "Started by another downtime", Value: d.text("trigger", ""), List: d.triggers(), Hint: "Its id: this one begins when that one does.", Group: when, For: "repeat-once"},
	}
}

// triggers returns the downtimes of the hosts around the target that may start
// another one.
func (d *draft) triggers() []string {
	var out []string
	for _, id := range d.objects() {
		o := d.site.Projection.Set().Get(id)
		if o == nil {
			continue
		}
		near := append([]*object.Object{o.HostObject()}, o.HostObject().Parents...)
		for _, n := range near {
			x := d.site.Projection.State(n.ID).Status.Extra
			for i := 0; x != nil && i < len(x.Downtimes); i++ {
				out = append(out, x.Downtimes[i].ID)
			}
		}
	}
	return out[:min(len(out), 50)]
}

func (d *draft) resultFields() []view.Field {
	states := [][2]string{{"", "choose"}, {"OK", "OK"}, {"WARNING", "WARNING"}, {"CRITICAL", "CRITICAL"}, {"UNKNOWN", "UNKNOWN"}}
	if ids := d.objects(); len(ids) > 0 && ids[0].Kind() == object.Host || d.values.Get("kind") == "host" {
		states = [][2]string{{"", "choose"}, {"UP", "UP"}, {"DOWN", "DOWN"}, {"UNREACHABLE", "UNREACHABLE"}}
	}
	return []view.Field{
		{Kind: view.FieldSelect, Name: "state", Label: "State", Options: choose(states, d.text("state", ""))},
		{Name: "output", Label: "Output", Value: d.text("output", ""), Hint: "One line, as a plugin would write it.", Required: true},
		{Kind: view.FieldArea, Name: "long_output", Label: "Further lines", Value: d.text("long_output", "")},
		{Name: "perfdata", Label: "Performance data", Value: d.text("perfdata", ""), Hint: "As in load=0.92;4;8;0"},
	}
}

// switchField asks which switches; one that was chosen already is not asked for.
func (d *draft) switchField() []view.Field {
	if d.values.Get("what") != "" && d.values.Get("choose") == "" && (d.fresh || d.wrong["what"] == "") {
		return nil
	}
	options := view.SwitchOptions(d.values.Get("program") != "")
	for i := range options {
		options[i].On = slices.Contains(d.values["what"], options[i].Value)
	}
	return []view.Field{{Kind: view.FieldMany, Name: "what", Label: "What", Options: options}}
}

func (d *draft) settingFields() []view.Field {
	if d.fresh && d.values.Get("setting") != "" {
		return nil
	}
	return []view.Field{
		{Name: "setting", Label: "Setting", Value: d.text("setting", ""), List: settingHints(), Hint: "interval, retry, attempts, check_period, notification_period, event_handler_period, or var.NAME.", Required: true},
		{Name: "value", Label: "Value", Value: d.text("value", ""), Hint: "Empty: back to what the configuration says."},
	}
}

func settingHints() []string {
	var out []string
	for _, o := range view.SettingOptions() {
		out = append(out, o.Value)
	}
	return out
}

// localTime writes an instant as the input for date and time has it.
func localTime(t object.Time, zone *time.Location) string { return t.Std().In(zone).Format(wallClock) }

// check says at once what cannot be right with what a fresh form is for.
func (d *draft) check() {
	if len(d.objects()) > 1 {
		return // the review says which ones are left out
	}
	for _, id := range d.objects() {
		if d.site.Projection.Set().Get(id) == nil {
			d.wrong["object"] = sentence(d.site.unknown(id).Detail)
		}
	}
}

// settingBack tells whether the form sets something back to the config.
func (d *draft) settingBack() bool {
	_, ok := d.values["value"]
	return d.command() == "set" && ok && d.values.Get("value") == ""
}
