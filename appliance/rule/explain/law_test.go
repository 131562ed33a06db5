package explain_test

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/explain"
)

// What an answer says has to be different makes people be told once it is, and
// nothing of it is there without a reason: the first gate that blocks is in it, or
// the time that it waits for.
func TestWhatIsNamedMakesItSend(t *testing.T) {
	blocked := 0
	rapid.Check(t, func(t *rapid.T) {
		s := situations().Draw(t, "situation")
		who := rapid.SampledFrom([]string{"", "ada", "bob", "cai", "dan"}).Draw(t, "who")
		in := &s.in
		before := notify.Decide(in)
		all := explain.Changes(in, who)
		if told(&before, who) {
			if len(all) != 0 {
				t.Fatalf("%v is to be changed although people are told", all)
			}
			return
		}
		if len(all) == 0 {
			t.Fatalf("nothing is to be changed, but %s blocks: %s", before.By, before.Why())
		}
		blocked++
		for _, c := range all {
			if c.Text == "" || c.At != 0 && c.At <= in.Now {
				t.Fatalf("change %+v", c)
			}
		}
		if before.By != notify.GateContacts && before.By != "" && !names(all, before.By) {
			t.Fatalf("%s blocks, named is %+v", before.By, all)
		}
		for _, c := range all {
			change(in, c)
		}
		after := notify.Decide(in)
		if !told(&after, who) {
			t.Fatalf("still not: %s (%s) after %+v, contacts %+v", after.By, after.Why(), all, after.Contacts)
		}
	})
	t.Logf("%d situations in which something blocked", blocked)
}

func told(out *notify.Outcome, who string) bool {
	return out.Send && (who == "" || slices.Contains(out.Told(), who))
}

// names tells whether changes are about a gate, or let the time come.
func names(all []explain.Change, g notify.Gate) bool {
	return slices.ContainsFunc(all, func(c explain.Change) bool { return c.Gate == g || c.At != 0 })
}

// change does by hand what a change says.
func change(in *notify.Input, c explain.Change) {
	n, rule, st := in.Object.Notify, in.Object.Rule, in.Status
	switch {
	case c.At != 0:
		in.Now = c.At
	case c.Number != 0:
		in.Fields.Number = c.Number - 1
	case c.Contact != "":
		changeContact(in, c)
	case c.Gate == notify.GateProgram:
		in.Settings.On |= object.ProgramNotifications
	case c.Gate == notify.GatePolicy:
		n.States, n.Period = 0, nil
	case c.Gate == notify.GatePeriod:
		rule.NotePeriod = nil
	case c.Gate == notify.GateSwitch:
		st.Off = 0
	case c.Gate == notify.GateProblem:
		st.State = object.Critical
	case c.Gate == notify.GateOption:
		for ; n != nil; n = n.Else {
			n.Options = object.NoteAll
		}
	case c.Gate == notify.GateHard:
		st.Type = object.Hard
	case c.Gate == notify.GateAcknowledged:
		st.Ack = object.AckNone
	case c.Gate == notify.GateDependency:
		in.Failed, in.MasterBack = "", 0
	case c.Gate == notify.GateTold:
		in.Fields.Notified, in.Fields.Told = 1<<object.Warning|1<<object.Critical|1<<object.Unknown, []string{"ada", "bob", "cai", "dan"}
	case c.Gate == notify.GateContacts:
		changeContact(in, explain.Change{Gate: notify.GateChosen, Contact: "eve"})
	default:
		changeIncident(in, c.Gate)
	}
}

func changeIncident(in *notify.Input, g notify.Gate) {
	switch g {
	case notify.GateDelay:
		for n := in.Object.Notify; n != nil; n = n.Else {
			n.FirstDelay = 0
		}
	case notify.GateFlapping:
		in.Status.Flapping = false
	case notify.GateDowntime:
		in.Status.DowntimeDepth = 0
	case notify.GateHostDowntime:
		in.Host.DowntimeDepth = 0
	case notify.GateFlexible:
		in.Flexible = false
	case notify.GateRepeat, notify.GateInterval:
		in.Fields.Next = 0
	case notify.GateHost:
		in.Host.State, in.HostBack = object.Up, 0
	}
}

func changeContact(in *notify.Input, c explain.Change) {
	own := in.Known[c.Contact]
	if own == nil {
		own = &object.Contact{Name: c.Contact, Notify: &object.ContactNotification{}}
		own.Notify.Services.Options = object.NoteAll
		in.Known[c.Contact] = own
	}
	reach := own.Notify.Of(in.Object.Kind())
	switch c.Gate {
	case notify.GateChosen:
		for n := in.Object.Notify; n != nil; n = n.Else {
			n.Contacts = append(n.Contacts, own)
			for _, s := range n.Steps {
				s.Contacts = append(s.Contacts, own)
			}
		}
		hear(in, c.Contact)
	case notify.GateImportance:
		own.Notify.Importance = 0
	case notify.GateContactSwitch:
		reach.Off = false
		in.Contacts = map[string]event.ContactStatus{}
	case notify.GateContactPeriod:
		reach.Period = nil
	case notify.GateContactOption:
		reach.Options = object.NoteAll
	case notify.GateContactProblem:
		reach.Options = object.NoteAll
		hear(in, c.Contact)
	}
}

func hear(in *notify.Input, who string) {
	in.Fields.Notified |= 1<<object.Warning | 1<<object.Critical | 1<<object.Unknown
	in.Fields.Told = append(slices.Clone(in.Fields.Told), who)
	slices.Sort(in.Fields.Told)
	in.Fields.Told = slices.Compact(in.Fields.Told)
}

// Looking for what has to be different changes nothing of what is looked at.
func TestAskingLeavesTheInputAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := situations().Draw(t, "situation")
		in := &s.in
		one := notify.Decide(in)
		explain.Changes(in, "")
		explain.Changes(in, "bob")
		if two := notify.Decide(in); !reflect.DeepEqual(one, two) {
			t.Fatalf("the decision was %+v and is %+v", one, two)
		}
	})
}
