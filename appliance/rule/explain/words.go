package explain

import (
	"strconv"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// stamp writes a time as the gates do.
func stamp(t object.Time) string { return t.Std().Format("2006-01-02 15:04:05 MST") }

// opening says what happens at the time at which a gate may open; check is its
// verdict.
func opening(g notify.Gate, check *notify.Check) string {
	if check != nil && check.Gate == g && check.Then != "" {
		return check.Then
	}
	switch g {
	case notify.GatePolicy:
		return "the next policy begins"
	case notify.GatePeriod:
		return "the notification period opens"
	case notify.GateDelay:
		return "the first delay is over"
	case notify.GateRepeat:
		return "the next step of the escalation begins"
	case notify.GateInterval:
		if check != nil && check.Why == "the interval ends at "+stamp(check.Until) {
			return "the interval is over"
		}
		return "the next step of the escalation begins"
	case notify.GateContactPeriod:
		return "the contact's notification period opens"
	}
	return ""
}

// were and did put what would have to be different into the tense of the question.
func (d *draft) were() string { return d.did("were", "had been") }

func (d *draft) did(now, then string) string {
	if d.past {
		return then
	}
	return now
}

func (d *draft) kind() string { return d.in.Object.Kind().String() }

func (d *draft) state() string { return d.in.Status.State.Name(d.in.Object.Kind()) }

// names says what names contacts.
func (d *draft) names() string {
	if n := policy(d.in); n != nil && n.Name != "" {
		return "the policy " + n.Name
	}
	return "the " + d.kind()
}

// ofObject says what has to be different so that a gate of the object does not
// block.
func (d *draft) ofObject(g notify.Gate) string {
	switch g {
	case notify.GateProgram:
		return "notifications " + d.were() + " switched on for the whole program"
	case notify.GatePolicy:
		return "a policy " + d.were() + " for " + d.state() + " at this time"
	case notify.GatePeriod:
		return "the notification period of the " + d.kind() + d.did(" included", " had included") + " this time"
	case notify.GateSwitch:
		return "notifications " + d.were() + " switched on for the " + d.kind()
	case notify.GateProblem:
		return "there " + d.were() + " a problem"
	case notify.GateOption:
		return d.names() + d.did(" told", " had told") + " of " + d.subject()
	case notify.GateHard:
		return "the state " + d.were() + " hard: attempt " + strconv.Itoa(int(d.in.Status.MaxAttempts)) + " of " + strconv.Itoa(int(d.in.Status.MaxAttempts))
	case notify.GateAcknowledged:
		text := "the acknowledgement" + by(d.in.Status)
		if at := d.in.Status.AckExpires; at != 0 {
			return text + ", which expires at " + stamp(at) + ", " + d.were() + " removed or over"
		}
		return text + " " + d.were() + " removed"
	case notify.GateDependency:
		if d.in.Failed == "" {
			return "the " + d.kind() + " had been checked since what it depends on or is behind came back"
		}
		return string(d.in.Failed) + ", which the " + d.kind() + " depends on, had not failed"
	case notify.GateTold:
		return "somebody had been told of the problem"
	case notify.GateDelay:
		return "the first delay " + d.were() + " over"
	case notify.GateFlapping:
		return "the " + d.kind() + d.did(" did not flap", " had not flapped")
	}
	return d.ofIncident(g)
}

func (d *draft) ofIncident(g notify.Gate) string {
	switch g {
	case notify.GateDowntime:
		if d.in.Kind == notify.DowntimeStart && d.in.Before != nil {
			return d.downtimes("the "+d.kind(), d.in.Before)
		}
		return d.downtimes("the "+d.kind(), d.in.Status)
	case notify.GateHostDowntime:
		return d.downtimes("the host", d.in.Host)
	case notify.GateFlexible:
		return "no flexible downtime" + d.did(" began", " had begun") + " with the problem"
	case notify.GateRepeat:
		return "the notification interval " + d.were() + " not 0"
	case notify.GateHost:
		if d.in.Host.State == object.Up {
			return "the " + d.kind() + " had been checked since its host came back"
		}
		return "the host " + d.were() + " UP"
	case notify.GateInterval:
		return "the interval " + d.were() + " over"
	}
	return "the gate " + string(g) + " passed"
}

func by(st *event.Status) string {
	if st.Extra == nil || st.Extra.AckAuthor == "" {
		return ""
	}
	return " by " + st.Extra.AckAuthor
}

// running returns the downtimes of a status that run.
func running(st *event.Status) (runs []*event.Downtime) {
	if st.Extra == nil {
		return nil
	}
	for i := range st.Extra.Downtimes {
		if st.Extra.Downtimes[i].Started != 0 {
			runs = append(runs, &st.Extra.Downtimes[i])
		}
	}
	return runs
}

// downtimes says what has to happen to the downtimes that run at somebody.
func (d *draft) downtimes(whose string, st *event.Status) string {
	runs := running(st)
	switch len(runs) {
	case 0:
		return whose + " " + d.were() + " in no downtime"
	case 1:
		text := "the downtime of " + whose + " by " + runs[0].Author
		if runs[0].Author == "" {
			text = "the downtime of " + whose
		}
		if at := runs[0].Until(); at != 0 {
			text += ", which ends at " + stamp(at) + ","
		}
		return text + " " + d.were() + " cancelled or over"
	}
	return "the " + strconv.Itoa(len(runs)) + " downtimes of " + whose + " " + d.were() + " cancelled or over"
}

// subject says of what people are told.
func (d *draft) subject() string {
	switch d.in.Kind {
	case notify.Recovery:
		return "recoveries"
	case notify.FlappingStart, notify.FlappingStop, notify.FlappingDisabled:
		return "flapping"
	case notify.DowntimeStart, notify.DowntimeEnd, notify.DowntimeCancelled:
		return "downtimes"
	}
	return d.state()
}

// ofContact says what has to be different so that a gate of a contact does not
// block.
func (d *draft) ofContact(g notify.Gate, who string) string {
	switch g {
	case notify.GateKnown:
		return "the configuration" + d.did(" had", " had had") + " the contact " + who
	case notify.GateChosen:
		return d.choice(who)
	case notify.GateImportance:
		return "the " + d.kind() + " " + d.were() + " important enough for " + who
	case notify.GateContactSwitch:
		return "the " + d.kind() + " notifications of " + who + " " + d.were() + " switched on"
	case notify.GateContactPeriod:
		return "the notification period of " + who + d.did(" included", " had included") + " this time"
	case notify.GateContactOption:
		return who + d.did(" wanted", " had wanted") + " to hear of " + d.subject()
	case notify.GateContactProblem:
		return who + " had been told of the problem"
	}
	return "the gate " + string(g) + " passed for " + who
}

// choice says what has to be different so that a contact is meant.
func (d *draft) choice(who string) string {
	n := policy(d.in)
	switch {
	case n == nil:
		return d.names() + d.did(" named ", " had named ") + who
	case d.in.Kind == notify.Recovery && n.ToTold:
		return who + " had been told of the problem"
	}
	for _, r := range rotas(n) {
		for _, member := range r.Members() {
			if member == who {
				return who + " " + d.were() + " on call by " + r.Name()
			}
		}
	}
	if len(n.Steps) > 0 {
		return d.names() + " and the step of its escalation that holds" + d.did(" named ", " had named ") + who
	}
	return d.names() + d.did(" named ", " had named ") + who
}

// rotas returns the on-call schedules of a policy and of its steps.
func rotas(n *object.Notification) []object.Rota {
	all := append([]object.Rota{}, n.Rotas...)
	for _, s := range n.Steps {
		all = append(all, s.Rotas...)
	}
	return all
}
