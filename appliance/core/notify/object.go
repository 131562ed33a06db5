package notify

import (
	"strconv"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

func stamp(t object.Time) string { return t.Std().Format("2006-01-02 15:04:05 MST") }

func (d *decision) program() Check {
	return passIf(d.in.Settings.On.Has(object.ProgramNotifications),
		"notifications are on for the whole program", "notifications are off for the whole program")
}

func (d *decision) period() Check {
	p := d.in.Object.Rule.NotePeriod
	if name, set := d.in.Status.Setting(event.SettingNotePeriod); set {
		if own, known := d.in.Periods[name]; known {
			p = own
		}
	}
	return inside("the "+d.kind()+"'s", p, d.in.Now)
}

// inside asks a period of somebody; nil is always.
func inside(whose string, p object.Period, now object.Time) Check {
	if p == nil {
		return pass(whose + " notification period is always")
	}
	in, until := p.Window(now)
	if in {
		return pass("inside " + whose + " notification period " + p.Name())
	}
	c := block("outside " + whose + " notification period " + p.Name())
	c.Until = until
	if until != 0 {
		c.Why += ", which opens at " + stamp(until)
	}
	return c
}

func (d *decision) switched() Check {
	st := d.in.Status
	on := d.in.Object.Rule.Off&object.SwitchNotifications == 0
	who := "by the config"
	if (st.On | st.Off).Has(object.SwitchNotifications) {
		on, who = st.On.Has(object.SwitchNotifications), "by an operator"
	}
	return passIf(on, "notifications are on for the "+d.kind(), "notifications are switched off for the "+d.kind()+" "+who)
}

// tells asks whether the object tells of something.
func (d *decision) tells(what object.NoteOptions, name string) Check {
	return passIf(d.note.Options.Has(what), "the "+d.kind()+" tells of "+name, "the "+d.kind()+" does not tell of "+name)
}

// otherDowntime blocks what one of several downtimes would say: only the first
// start and the last end are told.
func (d *decision) otherDowntime() Check {
	st := d.in.Status
	if d.in.Kind == DowntimeStart {
		st = d.before()
	}
	return passIf(st.DowntimeDepth == 0, "no other downtime runs", "another downtime runs")
}

// downtime asks whether a status is in a downtime.
func downtime(kind string, st *event.Status) Check {
	if st.DowntimeDepth == 0 {
		return pass("the " + kind + " is in no downtime")
	}
	c := block("the " + kind + " is in a downtime")
	var since object.Time
	if st.Extra != nil {
		for i := range st.Extra.Downtimes {
			w := &st.Extra.Downtimes[i]
			if w.Started == 0 {
				continue
			}
			if since == 0 || w.Started < since {
				since = w.Started
			}
			c.Until = max(c.Until, w.Until())
		}
	}
	if since != 0 {
		c.Why += " since " + stamp(since)
	}
	return c
}

func (d *decision) hard() Check {
	st := d.in.Status
	if st.Type == object.Hard {
		return pass("the state is hard")
	}
	return block("the state is soft: attempt " + strconv.Itoa(int(st.Attempt)) + " of " + strconv.Itoa(int(st.MaxAttempts)))
}

func (d *decision) acknowledged() Check {
	st := d.in.Status
	if st.Ack == object.AckNone {
		return pass("nobody has acknowledged the problem")
	}
	c := block("the problem is acknowledged")
	if x := st.Extra; x != nil && x.AckAuthor != "" {
		c.Why += " by " + x.AckAuthor
	}
	return c
}

func (d *decision) dependency() Check {
	if d.in.Failed == "" && d.unproven(d.in.MasterBack) {
		return d.awaits("what it depends on or is behind", d.in.MasterBack)
	}
	return passIf(d.in.Failed == "", "nothing that the "+d.kind()+" depends on has failed",
		"the "+d.kind()+" depends on "+string(d.in.Failed)+", which has failed")
}

// delay waits until the problem is old enough. Once somebody was told, or counted
// as told, it is over.
func (d *decision) delay() Check {
	wait := d.note.FirstDelay
	if wait <= 0 || d.in.Fields.Number > 0 {
		return pass("no delay holds back the notification")
	}
	since := d.in.Status.LastHardChange
	if d.note.FromFirst {
		since = d.in.Fields.Hard
	}
	if since == 0 {
		since = d.in.Started
	}
	until := since.Add(wait)
	if d.in.Now >= since.Over(d.in.Now, wait) {
		return pass("the problem is older than the first delay of " + wait.String())
	}
	return Check{Verdict: Blocked, Until: until, Why: "the first delay of " + wait.String() + " ends at " + stamp(until)}
}

func (d *decision) repeat() Check {
	f := &d.in.Fields
	switch {
	case f.Next != Never:
		return pass("the problem may be told again")
	case d.volatile():
		return pass("every problem of a volatile service is told")
	case d.begun() != nil:
		d.early = true
		return pass("the step " + d.begun().Name + " has begun")
	case len(d.late()) > 0:
		d.early, d.lateOnly = true, true
		return pass(lateOpened)
	}
	at, then := d.nextFresh()
	return Check{Verdict: Blocked, Until: at, Then: then, Why: "the interval is 0, and the problem was told at " + stamp(f.Last)}
}

// unproven tells whether a problem may be gone with what explained it, and the next
// check has not yet said so.
func (d *decision) unproven(back object.Time) bool {
	return back != 0 && d.in.Kind == Problem && d.note.Timed && d.in.Now < d.in.Proof
}

func (d *decision) awaits(what string, back object.Time) Check {
	return Check{
		Verdict: Blocked, Until: d.in.Proof,
		Why: "the " + d.kind() + " was not checked since " + what + " came back at " + stamp(back),
	}
}

// host blocks what its host explains. A soft problem of the host may still prove to
// be none, so that a recovery is told meanwhile.
func (d *decision) host() Check {
	h := d.in.Host
	name := h.State.Name(object.Host)
	switch {
	case h.State == object.Up && d.unproven(d.in.HostBack):
		return d.awaits("its host", d.in.HostBack)
	case h.State == object.Up:
		return pass("the host is " + name)
	case h.Type == object.Soft && (d.in.Kind == Recovery || d.volatile()):
		return pass("the host is " + name + ", but not yet hard")
	}
	return block("the host is " + name)
}

func (d *decision) interval() Check {
	f := &d.in.Fields
	switch {
	case f.Next == 0:
		return pass("no interval runs")
	case d.volatile():
		return pass("every problem of a volatile service is told")
	case f.Next == Never && d.begun() == nil:
		return pass(lateOpened)
	case f.Next == Never:
		return pass("the step " + d.begun().Name + " has begun")
	case d.in.Now >= f.Next:
		return pass("the interval was over at " + stamp(f.Next))
	case Ahead(f.Last, f.Next, d.in.Now):
		return pass("the interval began at " + stamp(f.Last) + ", when a clock was ahead")
	case d.begun() != nil:
		d.early = true
		return pass("the step " + d.begun().Name + " has begun")
	case len(d.late()) > 0:
		d.early, d.lateOnly = true, true
		return pass(lateOpened)
	}
	c := Check{Verdict: Blocked, Until: f.Next, Why: "the interval ends at " + stamp(f.Next)}
	if at, then := d.nextFresh(); at != 0 && at < c.Until {
		c.Until, c.Then = at, then
	}
	return c
}
