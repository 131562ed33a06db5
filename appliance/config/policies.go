package config

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"jaque.sh/jaque/appliance/core/object"
)

// notifications says of every object who is told about it. Objects for which the same
// policies are share what is said.
func (l *loader) notifications() {
	for _, p := range l.policies {
		l.prepare(p)
	}
	l.policyNames()
	made := map[string]*object.Notification{}
	asked := map[string]bool{} // kinds with lists of policies
	var list []int
	var key []byte
	for _, o := range l.told() {
		if len(l.policies) == 0 || l.canaries[o.ID] {
			continue
		}
		list = l.policiesOf(o, list[:0])
		key = append(key[:0], byte(o.Kind()))
		for i := len(list) - 1; i >= 0; i-- {
			key = append(key, byte(list[i]), byte(list[i]>>8))
			n := made[string(key)]
			if n == nil {
				n = l.policies[list[i]].notification(o.Kind(), l.compiled, o.Notify)
				made[string(key)] = n
			}
			o.Notify = n
		}
		// What stands before a policy decides whether it is ever heard, by what is declared.
		if !IsZone(o) && !asked[string(key)] {
			asked[string(key)] = true
			l.hear(o.Kind(), list)
		}
	}
	if len(l.problems) > 0 {
		return
	}
	for _, p := range l.policies {
		l.policyWarnings(p)
	}
	l.pastPeriods()
	l.idle()
}

// prepare finds the people of a policy.
func (l *loader) prepare(p *policy) {
	p.contacts, p.rotas = l.contactsOf(p.told), l.rotasOf(p.told)
	for _, e := range p.steps {
		s := object.Step{
			Name: e.title(), Contacts: l.contactsOf(e.told), Rotas: l.rotasOf(e.told), First: int32(e.From), Last: int32(e.To),
			After: e.After, Interval: e.Repeat, Period: l.compiled[e.Period], Adds: !e.Instead,
		}
		for _, k := range []object.Kind{object.Host, object.Service} {
			states := e.States.Of(k)
			if !e.States.None() && states == 0 {
				continue
			}
			own := s
			own.Options = object.NoteAll
			if states != 0 {
				own.Options &^= newsProblem &^ object.NoteOptions(states)
			}
			p.byKind[k] = append(p.byKind[k], &own)
		}
	}
}

// title is the name of a step for people: "after 30m", "from 3", "3 to 5".
func (e *Escalation) title() string {
	var parts []string
	if e.After > 0 || e.From == 0 && e.To == 0 {
		parts = append(parts, "after "+brief(e.After))
	}
	switch {
	case e.From > 0 && e.To > 0:
		parts = append(parts, strconv.Itoa(e.From)+" to "+strconv.Itoa(e.To))
	case e.From > 0:
		parts = append(parts, "from "+strconv.Itoa(e.From))
	case e.To > 0:
		parts = append(parts, "up to "+strconv.Itoa(e.To))
	}
	return strings.Join(parts, ", ")
}

// before tells whether a step begins before another one that begins in the same way:
// by the age of a problem, by the number of a notification, or by both.
func (e *Escalation) before(other *step) bool {
	if (e.After > 0) != (other.After > 0) || (e.From > 0) != (other.From > 0) {
		return false
	}
	return e.After < other.After && e.From <= other.From || e.After <= other.After && e.From < other.From
}

// policiesOf appends the policies that may have their say about an object, in order.
func (l *loader) policiesOf(o *object.Object, list []int) []int {
	k := o.Kind()
	var taken object.StateMask // states in which the say is always another's
	var before []*policy
	for i, p := range l.policies {
		if !p.holds(o) {
			continue
		}
		if IsZone(o) {
			p.zoned = true
		} else {
			p.matched++
		}
		p.repeats = p.repeats || p.Repeat > 0 || p.Repeat < 0 && o.Rule.NoteInterval > 0 || o.Rule.Volatile
		if p.states(k)&^taken == 0 {
			if !IsZone(o) {
				p.hide(k, before)
			}
			continue
		}
		list, before = append(list, i), append(before, p)
		if p.Period == "" {
			taken |= p.states(k)
		}
	}
	return list
}

// holds tells whether a policy is for an object.
func (p *policy) holds(o *object.Object) bool {
	k := o.Kind()
	switch {
	case !p.States.None() && p.States.Of(k) == 0, p.Only == "hosts" && k == object.Service, p.Only == "services" && k == object.Host:
		return false
	}
	for _, m := range p.match {
		if v, ok := o.Label(m.label); !ok || !slices.Contains(m.values, v) {
			return false
		}
	}
	if len(p.groups) > 0 && !slices.ContainsFunc(p.groups, func(g ref) bool {
		return slices.Contains(o.Groups, g.name) || o.Host != nil && slices.Contains(o.Host.Groups, g.name)
	}) {
		return false
	}
	about := func(all []*pattern) (found bool) {
		for _, one := range all {
			if one.fits(o) {
				one.hits++
				found = true
			}
		}
		return found
	}
	if len(p.objects) > 0 && !about(p.objects) {
		return false
	}
	return !about(p.except)
}

// fits tells whether an object is meant.
func (p *pattern) fits(o *object.Object) bool {
	if o.Kind() != p.kind {
		return false
	}
	return like(p.host, o.HostObject().Name) && (p.kind == object.Host || like(p.service, o.Name))
}

// like tells whether a text is what a pattern says, in which * is any text.
func like(pattern, text string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == text
	}
	if !strings.HasPrefix(text, head) {
		return false
	}
	text = text[len(head):]
	for {
		var part string
		part, rest, star = strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(text, part)
		}
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
}

// notification returns what a policy says of objects of a kind; behind it stands what
// those after it say.
func (p *policy) notification(k object.Kind, periods map[string]object.Period, behind *object.Notification) *object.Notification {
	n := &object.Notification{
		Name: p.Name, Contacts: p.contacts, Rotas: p.rotas, Options: p.Tell, FirstDelay: p.After, Interval: p.Repeat,
		Steps: p.byKind[k], FromFirst: true, ToTold: !p.ToChosen, Timed: true,
		States: p.States.Of(k), Period: periods[p.Period], Group: p.Group, Else: behind,
	}
	// In an object's notification the two are the other way round: what is not said
	// there is the object's.
	switch p.Repeat {
	case 0:
		n.Interval = -1
	case -1:
		n.Interval = 0
	}
	return n
}

// policyNames reports names in policies that nothing has, and policies of one name.
func (l *loader) policyNames() {
	names := map[string]*policy{}
	for _, p := range l.policies {
		if first := names[p.Name]; first != nil {
			l.bad(p.at.field("name"), p.pos, "%s is the name of a policy at %s already; write another one", quote(p.Name), first.pos)
		}
		names[p.Name] = p
		for _, g := range p.groups {
			if len(l.groups[g.name])+len(l.out.Set.Groups[g.name]) == 0 {
				l.unknown(g, "group", maps.Keys(l.out.Set.Groups))
			}
		}
		for _, one := range slices.Concat(p.objects, p.except) {
			if !strings.Contains(one.name, "*") {
				l.member(one.ref)
			}
		}
		if wait, most := p.Group.Wait, l.delivery.Deadline; most > 0 && wait >= most {
			l.bad(p.at.field("group").field("wait"), cmp.Or(p.groupPos, p.pos), "%s is not shorter than the deadline of delivery (%s); write less, or a longer deadline", brief(wait), brief(most))
		}
		l.toldNames(p.told)
		last := &step{}
		for _, e := range p.steps {
			l.toldNames(e.told)
			if e.before(last) {
				l.bad(e.at, e.pos, "begins before the step above it; write the steps in the order in which they begin")
			}
			last = e
		}
	}
}

// policyWarnings tells of what a policy says in vain.
func (l *loader) policyWarnings(p *policy) {
	switch {
	case p.matched == 0 && p.zoned:
		return
	case p.matched == 0:
		l.warning(p.at, p.pos, "is for no object%s", l.labelHint(p.match, "; loosen match, groups, objects, only or states, or remove it"))
		return
	case l.hiddenWarning(p):
		return
	}
	if label, ok := strings.CutPrefix(string(p.Group.By), string(object.GroupLabel)); ok {
		if hint := l.labelHint([]match{{label: label}}, ""); hint != "" {
			l.warning(p.at.field("group").field("by"), p.pos, "groups nothing%s", hint)
		}
	}
	off := func(c *object.Contact) bool { return c.Notify.Hosts.Off && c.Notify.Services.Off }
	if len(p.rotas)+len(p.steps) == 0 && !slices.ContainsFunc(p.contacts, func(c *object.Contact) bool { return !off(c) }) {
		l.warning(p.at.field("notify"), p.pos, "tells nobody: the notifications of everybody named are switched off")
	}
	for _, one := range slices.Concat(p.objects, p.except) {
		if one.hits == 0 {
			l.warning(one.at, one.pos, "%s fits no object that the rest of the policy chooses; correct or remove it", quote(one.name))
		}
	}
	// Each step that begins by the age of a problem makes one more notification.
	reached := 1
	for _, e := range p.steps {
		if e.After > 0 {
			reached++
		}
		if !p.repeats && e.From > reached {
			l.warning(e.at.field("from"), e.pos, "is never reached, because the problem is told only once; write repeat: \"1h\" in the policy")
		}
	}
}

// labelHint explains that nothing is chosen by a label or a value that no object has;
// otherwise it returns another text. Without values any value will do.
func (l *loader) labelHint(all []match, otherwise string) string {
	for _, m := range all {
		labels, values := map[string]bool{}, map[string]bool{}
		for _, o := range l.told() {
			for _, own := range []map[string]string{o.Labels, o.Rule.Labels} {
				for k, v := range own {
					labels[k] = true
					if k == m.label {
						values[v] = true
					}
				}
			}
		}
		if !labels[m.label] {
			return "; no object has the label " + quote(m.label) + didYouMean(m.label, maps.Keys(labels))
		}
		if len(m.values) > 0 && !slices.ContainsFunc(m.values, func(v string) bool { return values[v] }) {
			return "; no object has " + m.label + ": " + quote(m.values[0]) + didYouMean(m.values[0], maps.Keys(values))
		}
	}
	return otherwise
}

// show names a policy for people.
func (p *policy) show() string {
	if p.named {
		return "policy " + quote(p.Name)
	}
	return p.Name
}
