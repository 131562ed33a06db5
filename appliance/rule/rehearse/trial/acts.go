package trial

import (
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/rehearse"
)

// actor makes what operators do.
type actor struct {
	pick func(int) int
	set  *object.Set
	at   object.Time // of the present act
	n    int         // acts so far
	down []string    // ids of downtimes
}

// acts makes the acts of a trial. Each is at the end of a minute, where no object has
// its place.
func acts(set *object.Set, start object.Time, pick func(int) int) []rehearse.Act {
	a := &actor{pick: pick, set: set, at: start}
	var all []rehearse.Act
	for range pick(14) {
		if a.at = a.moment(a.at, 1+pick(12)); a.at > start.Add(Length) {
			break
		}
		act := rehearse.Act{At: a.at}
		if pick(6) == 0 {
			act.Program = a.program()
		} else {
			act.Object = set.Objects[pick(len(set.Objects))].ID
			act.Command = a.command(act.Object)
		}
		all = append(all, act)
	}
	return all
}

// moment returns an instant some minutes later that nothing else happens at.
func (a *actor) moment(from object.Time, minutes int) object.Time {
	a.n++
	const minute = object.Time(60_000)
	return (from/minute+object.Time(minutes))*minute + 56_000 + object.Time(13*a.n)
}

func (a *actor) program() program.Command {
	on := a.pick(2) == 0
	switch a.pick(4) {
	case 0:
		return program.Switch{What: object.ProgramFlapDetection, On: on, Author: "op"}
	case 1:
		return program.Switch{What: object.ProgramNotifications, On: on, Author: "op"}
	}
	name := []string{"ann", "bob", "cid", "dee"}[a.pick(4)]
	return program.SwitchContact{Name: name, Hosts: a.pick(2) == 0, Services: true, On: on, Author: "op"}
}

func (a *actor) command(id object.ID) fold.Command {
	switch a.pick(12) {
	case 0, 1:
		return a.acknowledge()
	case 2, 3, 4:
		return a.downtime()
	case 5:
		return fold.CancelDowntimes{All: true, Author: "op"}
	case 6:
		return fold.Notify{Broadcast: a.pick(2) == 0, Forced: a.pick(3) == 0, Increment: a.pick(2) == 0, Author: "op", Text: "look"}
	case 7:
		what := []object.Switches{object.SwitchNotifications, object.SwitchFlapDetection, object.SwitchActive}[a.pick(3)]
		return fold.Switch{What: what, On: a.pick(2) == 0, Author: "op"}
	case 8:
		return fold.DelayNotification{Until: a.moment(a.at, a.pick(10)), Author: "op"}
	case 9:
		return fold.SetNotificationNumber{Number: int32(a.pick(4)), Author: "op"}
	case 10:
		return fold.Tune{Name: event.SettingNotePeriod, Value: []string{"p0", "always", ""}[a.pick(3)], Author: "op"}
	}
	return a.other(id)
}

func (a *actor) other(id object.ID) fold.Command {
	switch a.pick(3) {
	case 0:
		return fold.RemoveAcknowledgement{Author: "op"}
	case 1:
		return fold.Reschedule{At: a.moment(a.at, a.pick(5)), Forced: true, Author: "op"}
	}
	state := object.State(a.pick(4))
	if id.Kind() == object.Host {
		state = object.State(a.pick(2))
	}
	return fold.Result{State: state, Output: "submitted"}
}

func (a *actor) acknowledge() fold.Command {
	c := fold.Acknowledge{
		Kind: []object.AckKind{object.AckNormal, object.AckSticky}[a.pick(2)], Notify: a.pick(2) == 0,
		Author: "op", Text: "known",
	}
	if a.pick(3) == 0 {
		c.Expires = a.moment(a.at, 1+a.pick(20))
	}
	return c
}

func (a *actor) downtime() fold.Command {
	d := event.Downtime{ID: fmt.Sprint("d", a.n), Author: "op", Text: "work"}
	d.Start = a.moment(a.at, a.pick(8))
	d.End = a.moment(d.Start, 1+a.pick(30))
	switch a.pick(4) {
	case 0:
		d.Duration = object.Time((time.Duration(1+a.pick(20))*time.Minute + 37019*time.Millisecond).Milliseconds())
	case 1:
		if len(a.down) > 0 {
			d.Trigger = a.down[a.pick(len(a.down))]
		}
	}
	a.down = append(a.down, d.ID)
	return fold.ScheduleDowntime{Downtime: d}
}
