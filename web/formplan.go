package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/web/page"
	"jaque.sh/jaque/web/view"
)

// shown is how many names of objects a preview has.
const shown = 50

// plan is what a form asks for, ready to be done.
type plan struct {
	draft   *draft
	q       request
	wish    operate.Request
	actions []operate.Action
	touched []object.ID
	nothing bool   // it is so already
	program string // what it is for where that is no object
}

// intend reads the form into a plan. With an error the plan may still tell what
// would be touched: what is missing then does not change that.
func (d *draft) intend() (*plan, error) {
	values := d.canonical()
	p := &plan{draft: d}
	p.q, _ = requestFromForm(nil)
	var err error
	for _, name := range []string{"author", "comment"} {
		if d.wrong[name] != "" {
			values.Set(name, "-")
		}
	}
	if p.q, err = requestFromForm(values); err != nil {
		return nil, d.blame(err)
	}
	if p.wish, err = d.site.wish(&p.q); err != nil {
		return nil, d.blame(err)
	}
	if p.actions, err = d.site.plan(&p.wish); err != nil {
		return nil, d.blame(err)
	}
	if p.touched, err = d.site.touched(&p.wish, p.actions); err != nil {
		return nil, d.blame(err)
	}
	p.nothing, p.program = p.already(), p.programTarget() // afterwards it is another one
	if len(d.wrong) > 0 {
		return p, faultf(http.StatusBadRequest, "%v", errIncomplete)
	}
	return p, nil
}

// blame gives an error to the field that it is about, unless that one is known to
// be wrong already.
func (d *draft) blame(err error) error {
	f := asFault(err)
	if f == nil {
		return err
	}
	if name := d.shownAs(f.Field); d.wrong[name] == "" && (len(d.wrong) == 0 || f.Field != "") {
		d.wrong[name] = said(f)
	}
	return err
}

// recurring tells whether the plan is a downtime for many times.
func (p *plan) recurring() bool {
	c, ok := p.wish.Program.(program.PutRule)
	return ok && len(c.Rule.Ranges) > 0
}

// many tells whether the plan is to be looked at before it is done.
func (p *plan) many() bool { return len(p.touched) > 1 || p.recurring() }

// asksReview tells whether a look comes first whatever the form is for at the
// moment: the button of the form promises it.
func (d *draft) asksReview() bool {
	if d.values.Get("program")+d.values.Get("contact")+d.values.Get("id") != "" {
		return false
	}
	return d.asksTarget() || len(d.objects()) != 1
}

// programTarget says what a plan is for that names no object.
func (p *plan) programTarget() string {
	switch c := p.wish.Program.(type) {
	case program.SwitchContact:
		return "contact " + c.Name
	case program.PutRule:
		return view.RuleTarget(&c.Rule)
	}
	for _, a := range p.actions {
		if c, ok := a.Program.(program.RemoveRule); ok && len(p.actions) == 1 {
			if r, ok := p.draft.site.Projection.Program().Rules[c.ID]; ok {
				return view.RuleTarget(&r)
			}
		}
	}
	return ""
}

// mayBeMany tells whether the form can lead to more than one object or time.
func (d *draft) mayBeMany() bool {
	if d.values.Get("program")+d.values.Get("contact")+d.values.Get("id") != "" {
		return false
	}
	_, scope := d.scopeField()
	return scope || d.asksTarget() || len(d.objects()) != 1 || d.command() == "schedule-downtime"
}

// unconfirmed says what is wrong with the number that a plan was confirmed with.
func (p *plan) unconfirmed(text string) string {
	n := len(p.touched)
	if n <= unasked || count(text) == strconv.Itoa(n) {
		return ""
	}
	if text == "" {
		return "Write the number of objects, " + strconv.Itoa(n) + "."
	}
	return "It touches " + strconv.Itoa(n) + " objects, not " + text + ". Write that number if it is what you want."
}

func (p *plan) preview() view.Preview {
	v := view.Preview{Total: len(p.touched), Notes: append(p.leftOut(), p.draft.acknowledged(p.touched)...)}
	if p.wish.Program == nil || len(p.touched) > 0 {
		v.Text = "It touches " + view.Count(v.Total, "object", "objects")
		if later := reach(&p.wish); later != "" {
			v.Text += " now, " + later
		}
		v.Text += "."
	}
	for _, id := range p.touched[:min(shown, len(p.touched))] {
		v.Names = append(v.Names, view.Link{Label: string(id), URL: view.URL(id)})
	}
	if rest := v.Total - len(v.Names); rest > 0 {
		v.Rest = "and " + view.Number(rest) + " more"
	}
	if c, ok := p.wish.Program.(program.PutRule); ok && len(c.Rule.Ranges) > 0 {
		v.Zone = c.Rule.Zone
		v.Occurrences = p.draft.site.nextTimes(&c.Rule)
		if len(v.Occurrences) == 0 {
			v.Error = "There is no such time any more."
		}
	}
	return v
}

// review answers with a look at what will be done.
func (d *draft) review(w http.ResponseWriter, status int, p *plan, problem string) error {
	words, _ := view.CommandWords(d.command())
	c := d.site.chrome(d.request, words.Heading, "")
	c.Live = ""
	v := view.Review{
		Chrome: c, Heading: words.Heading, Summary: p.summary(), Preview: p.preview(), Confirm: len(p.touched) > unasked,
		Error: problem, Submit: words.Submit, Dismiss: words.Dismiss, Danger: words.Danger, Back: d.back(),
	}
	if v.Preview.Total > 1 {
		v.Submit += " for " + view.Count(v.Preview.Total, "object", "objects")
	}
	for _, name := range sortedNames(d.values) {
		if ofTheWay(name) {
			continue
		}
		for _, text := range d.values[name] {
			v.Hidden = append(v.Hidden, view.Pair{Name: name, Value: text})
		}
	}
	v.Hidden = append(v.Hidden, p.sealed()...)
	return d.site.render(w, d.request, status, page.Review(v))
}

func sortedNames(v url.Values) []string {
	var names []string
	for name := range v {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// summary says what was filled in.
func (p *plan) summary() []view.Fact {
	d := p.draft
	facts := []view.Fact{{Label: "For", Value: d.target().Text}}
	if c, ok := p.wish.Program.(program.PutRule); ok {
		facts[0].Value = view.RuleTarget(&c.Rule)
	} else if scope, ok := d.scopeField(); ok {
		for _, o := range scope.Options {
			if o.On && o.Value != "" {
				facts[0].Value += " (" + o.Label + ")"
			}
		}
	}
	add := func(label, text string) {
		if text != "" {
			facts = append(facts, view.Fact{Label: label, Value: text})
		}
	}
	if facts[0].Value == "" {
		facts[0].Value = named(d.objects(), true)
	}
	add("Why", d.values.Get("comment"))
	switch c := p.wish.Command.(type) {
	case fold.ScheduleDowntime:
		add("When", spanText(c.Downtime.Start, c.Downtime.End, d.zone))
		add("Lasts", lasting(c.Downtime.Duration))
	case fold.Acknowledge:
		add("Holds", map[bool]string{true: "until the recovery, also when the state changes", false: "until the state changes"}[c.Kind == object.AckSticky])
		add("Tells the people in charge", yesNo(c.Notify))
		add("Kept as a comment afterwards", yesNo(c.Persistent))
		if c.Expires != 0 {
			add("Ends by itself", localTime(c.Expires, d.zone)+" "+d.zone.String())
		}
	case fold.AddComment:
		add("Kept when jaque restarts", yesNo(c.Persistent))
		if c.Expires != 0 {
			add("Goes by itself", localTime(c.Expires, d.zone)+" "+d.zone.String())
		}
	case fold.Notify:
		add("Also to the people of every escalation", yesNo(c.Broadcast))
		add("Whatever filters and periods say", yesNo(c.Forced))
	case fold.Reschedule:
		add("Whatever switches, periods and dependencies say", yesNo(c.Forced))
	case fold.Result:
		add("State", d.values.Get("state"))
		add("Output", c.Output)
	case fold.Tune:
		add(view.SwitchLabel(c.Name), c.Value)
	case fold.Switch:
		var names []string
		for _, name := range p.q.What {
			names = append(names, view.SwitchLabel(name))
		}
		add("What", strings.Join(names, ", "))
	}
	if c, ok := p.wish.Program.(program.PutRule); ok {
		p.ruleSummary(&c.Rule, add)
	}
	add("By", p.q.Author)
	return facts
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

func (p *plan) ruleSummary(r *event.DowntimeRule, add func(label, text string)) {
	zone := p.draft.zone
	if len(r.Ranges) == 0 {
		add("When", spanText(r.Start, r.End, zone))
	} else {
		add("When", strings.Join(r.Ranges, ", "))
		add("Time zone", r.Zone)
		if p.draft.values.Get("first") != "" {
			add("First day", p.draft.values.Get("first"))
		}
		add("Last day", p.draft.values.Get("last"))
	}
	add("Lasts", lasting(r.Duration))
}

// lasting says how long a flexible downtime lasts, "" for a fixed one.
func lasting(d object.Time) string {
	if d == 0 {
		return ""
	}
	return view.Span(time.Duration(d)*time.Millisecond) + " from the first problem in that time"
}

// spanText says from when to when, on the wall clock of a zone and in UTC.
func spanText(from, to object.Time, zone *time.Location) string {
	return view.Stretched(from.Std().In(zone), to.Std().In(zone)) + " " + zone.String() + utcToo(from, to, zone)
}

func utcToo(from, to object.Time, zone *time.Location) string {
	if zone == time.UTC {
		return ""
	}
	return " (" + view.Stretched(from.Std().UTC(), to.Std().UTC()) + " UTC)"
}

// target says what the form is for.
func (d *draft) target() view.Target {
	ids := d.objects()
	kind := d.values.Get("kind")
	things := map[string]string{"": "everything", "host": "every host", "service": "every service"}[kind]
	switch f := d.values.Get("filter"); {
	case d.asksTarget() && d.fresh:
		return view.Target{}
	case d.values.Get("program") != "":
		return view.Target{Text: "the whole program" + d.chosenSwitches(), URL: "/settings"}
	case d.values.Get("contact") != "":
		return view.Target{Text: "contact " + d.values.Get("contact") + d.chosenSwitches(), URL: "/settings"}
	case d.values.Get("id") != "":
		text, _ := d.named()
		return view.Target{Text: text}
	case len(ids) == 1 && ids[0].Host() != "":
		return view.Target{Text: string(ids[0]) + d.chosenSwitches(), URL: view.URL(ids[0])}
	case len(ids) > 1:
		return view.Target{Text: view.Count(len(ids), "object", "objects") + ": " + shortList(ids)}
	case d.values.Get("group") != "":
		return view.Target{Text: things + " in group " + d.values.Get("group")}
	case f == "*":
		return view.Target{Text: things}
	case f != "":
		return view.Target{Text: things + " that matches “" + f + "”"}
	}
	return view.Target{}
}

// chosenSwitches names what a link to the form chose already.
func (d *draft) chosenSwitches() string {
	var names []string
	if len(d.switchField()) == 0 {
		for _, name := range d.values["what"] {
			names = append(names, switchLabel(name, d.values.Get("contact"), d.values.Get("kind")))
		}
	}
	if d.settingBack() {
		names = append(names, view.SwitchLabel(d.values.Get("setting"))+" back to what the configuration says")
	}
	if len(names) == 0 {
		return ""
	}
	return ": " + strings.Join(names, ", ")
}

// switchLabel names a switch; those of a contact say what they are about.
func switchLabel(name, contact, kind string) string {
	switch {
	case contact == "" || name != event.SettingNotifications:
		return view.SwitchLabel(name)
	case kind == "":
		return "Notifications about hosts and services"
	}
	return view.SwitchLabel(kind + "_notifications")
}

func shortList(ids []object.ID) string {
	var names []string
	for _, id := range ids[:min(len(ids), 5)] {
		names = append(names, string(id))
	}
	if len(ids) > 5 {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// menu offers every command for what the query names.
func (d *draft) menu() view.Menu {
	c := d.site.chrome(d.request, "Commands", "")
	c.Live = ""
	q := url.Values{}
	for _, name := range []string{"object", "group", "filter", "kind", "back"} {
		for _, v := range d.values[name] {
			if v != "" {
				q.Add(name, v)
			}
		}
	}
	return view.NewMenu(c, d.target(), q.Encode(), d.site.cannot(d.request), d.back())
}
