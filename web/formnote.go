package web

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/web/view"
)

// noted is how many objects a form says something about one by one.
const noted = 5

// acknowledged says which of the objects are acknowledged already, because
// another acknowledgement replaces that.
func (d *draft) acknowledged(ids []object.ID) []string {
	if d.command() != "acknowledge" {
		return nil
	}
	var notes []string
	more := 0
	for _, id := range ids {
		if d.site.Projection.Set().Get(id) == nil {
			continue
		}
		st := &d.site.Projection.State(id).Status
		if st.Ack == object.AckNone {
			continue
		}
		if len(notes) == noted {
			more++
			continue
		}
		notes = append(notes, string(id)+" is acknowledged"+d.byWhom(st)+". This replaces it.")
	}
	if more > 0 {
		notes = append(notes, view.Count(more, "more object is", "more objects are")+" acknowledged already.")
	}
	return notes
}

// byWhom says who acknowledged, when, until when and why.
func (d *draft) byWhom(st *event.Status) string {
	text := ""
	if x := st.Extra; x != nil {
		if x.AckAuthor != "" {
			text += " by " + x.AckAuthor
		}
		if x.AckTime != 0 {
			text += ", " + view.NewWhen(x.AckTime, d.now).Rel
		}
		if x.AckText != "" {
			text += ": “" + x.AckText + "”"
		}
	}
	if st.AckExpires != 0 {
		text += ", until " + strings.Replace(localTime(st.AckExpires, d.zone), "T", " ", 1) + " " + d.zone.String()
	}
	return text
}

// leftOut says which of the named objects are not there any more.
func (p *plan) leftOut() []string {
	if len(p.q.missing) == 0 {
		return nil
	}
	var ids []object.ID
	for _, r := range p.q.missing {
		ids = append(ids, r.Object)
	}
	return []string{"Left out, because " + view.Count(len(ids), "object is", "objects are") + " not there any more: " + shortList(ids) + "."}
}

// seal names the set of objects that a review shows, so that only what was looked
// at is carried out.
func (p *plan) seal() string {
	ids := slices.Clone(p.touched)
	slices.Sort(ids)
	h := sha256.New()
	for _, id := range ids {
		fmt.Fprintf(h, "%d %s", len(id), id)
	}
	return strconv.Itoa(len(ids)) + "." + hex.EncodeToString(h.Sum(nil)[:16])
}

// sealed returns the fields that go through a review with the form: the seal, and
// of few objects their names, to tell later which ones have changed.
func (p *plan) sealed() []view.Pair {
	out := []view.Pair{{Name: "shown", Value: p.seal()}}
	if len(p.touched) > shown {
		return out
	}
	for _, id := range p.touched {
		out = append(out, view.Pair{Name: "seen", Value: string(id)})
	}
	return out
}

// changed says what of the objects has changed since they were looked at, "" =
// nothing.
func (p *plan) changed() string {
	was := p.draft.values.Get("shown")
	if was == p.seal() {
		return ""
	}
	said := "What it touches has changed since you looked"
	count, _, _ := strings.Cut(was, ".")
	n, err := strconv.Atoi(count)
	if err != nil {
		return said + ". Look again."
	}
	seen := nonEmpty(p.draft.values["seen"])
	if len(seen) != n || len(p.touched) > shown {
		return said + ": it was " + view.Count(n, "object", "objects") + ", now it is " + view.Number(len(p.touched)) + ". Look again."
	}
	var come, gone []object.ID
	for _, id := range p.touched {
		if !slices.Contains(seen, string(id)) {
			come = append(come, id)
		}
	}
	for _, id := range seen {
		if !slices.Contains(p.touched, object.ID(id)) {
			gone = append(gone, object.ID(id))
		}
	}
	for _, part := range []struct {
		word string
		ids  []object.ID
	}{{"new", come}, {"gone", gone}} {
		if len(part.ids) > 0 {
			said += "; " + part.word + ": " + shortList(part.ids)
		}
	}
	return strings.Replace(said, ";", ":", 1) + ". Look again."
}

// count reads a number as people write it: 1 000, 10,000, with thin or other
// spaces between the thousands.
func count(text string) string {
	text = strings.Map(func(r rune) rune {
		switch r {
		case ' ', '\u00a0', '\u2009', '\u202f', ',', '.', '\'', '’', '_':
			return -1
		}
		return r
	}, text)
	return text
}

// what says which switches or which setting the plan is about.
func (p *plan) what() string {
	var names []string
	for _, name := range p.q.What {
		names = append(names, switchLabel(name, p.q.Contact, p.q.Kind))
	}
	if c, ok := p.wish.Command.(fold.Tune); ok {
		if c.Value == "" {
			return view.SwitchLabel(c.Name) + " as configured"
		}
		return view.SwitchLabel(c.Name) + " " + c.Value
	}
	return strings.Join(names, ", ")
}

// already tells whether everything is so already: there is nothing to change.
func (p *plan) already() bool {
	set := p.draft.site.Projection.Set()
	switch c := p.wish.Command.(type) {
	case fold.Switch:
		for _, id := range p.touched {
			for bit := object.Switches(1); bit != 0 && bit <= c.What; bit <<= 1 {
				if c.What&bit != 0 && fold.Enabled(set.Get(id), &p.draft.site.Projection.State(id).Status, bit) != c.On {
					return false
				}
			}
		}
		return true
	case fold.Tune:
		for _, id := range p.touched {
			if now := settingOf(p.draft.site.Projection.State(id), c.Name); now != c.Value {
				return false
			}
		}
		return true
	}
	if c, ok := p.wish.Program.(program.Switch); ok {
		on := program.Effective(set.Settings, p.draft.site.Projection.Program()).On
		return c.On && on&c.What == c.What || !c.On && on&c.What == 0
	}
	return false
}

// settingOf returns what an operator set, "" = as configured.
func settingOf(s *fold.State, name string) string {
	if s.Status.Extra != nil {
		for _, set := range s.Status.Extra.Settings {
			if set.Name == name {
				return set.Value
			}
		}
	}
	return ""
}

// named says what the id of a form is about: which downtime or comment, or, where
// there is none any more, what became of it.
func (d *draft) named() (text, over string) {
	id := d.values.Get("id")
	s := d.site
	if d.command() == "delete-comment" {
		for o, state := range s.Projection.Extras() {
			for i := range state.Status.Extra.Comments {
				if c := &state.Status.Extra.Comments[i]; c.ID == id || strconv.FormatUint(c.Number, 10) == id {
					return string(o) + ": “" + c.Text + "”, by " + c.Author, ""
				}
			}
		}
		return "", "This comment is not there any more."
	}
	rules := s.Projection.Program().Rules
	for _, r := range rules {
		if r.ID == id || strconv.FormatUint(r.Number, 10) == id {
			return view.RuleTarget(&r) + ": “" + r.Text + "”, by " + r.Author + d.allTimes(&r), ""
		}
	}
	found := s.world().Downtimes(func(_ object.ID, t *event.Downtime) bool { return t.ID == id })
	if len(found) == 0 {
		found = s.world().Downtimes(func(_ object.ID, t *event.Downtime) bool { return strconv.FormatUint(t.Number, 10) == id })
	}
	if len(found) == 0 {
		return "", "This downtime is over, or was cancelled."
	}
	t := &found[0]
	text = string(t.Object)
	if len(found) > 1 { // one time of a rule has the same id everywhere
		text += " and " + view.Count(len(found)-1, "more object", "more objects")
	}
	text += ": “" + t.Text + "”, by " + t.Author
	if r, ok := rules[t.Rule]; ok {
		text += ". " + d.onlyThis(&t.Downtime, &r, len(found))
	}
	return text, ""
}

func (d *draft) allTimes(r *event.DowntimeRule) string {
	if len(r.Ranges) == 0 {
		return ""
	}
	return ". All of its times are cancelled: " + strings.Join(r.Ranges, ", ") + " " + r.Zone
}

// onlyThis says what is cancelled of a rule, and that the rule goes on.
func (d *draft) onlyThis(t *event.Downtime, r *event.DowntimeRule, objects int) string {
	if len(r.Ranges) == 0 {
		return "Only that of " + view.Count(objects, "object", "objects") + " is cancelled; the downtime for " + view.RuleTarget(r) + " goes on"
	}
	zone, err := time.LoadLocation(r.Zone)
	if err != nil {
		zone = time.UTC
	}
	return "Only the time " + spanText(t.Start, t.End, zone) + " is cancelled; the recurring downtime for " + view.RuleTarget(r) + " goes on"
}
