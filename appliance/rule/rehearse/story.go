package rehearse

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// Story is one object that is in trouble for a while.
type Story struct {
	Set    *object.Set
	Object object.ID
	State  object.State // what checks find; of a host Down
	Output string
	At     object.Time
	For    time.Duration
	// Then is what checks find afterwards; nil = the trouble goes on.
	Then *object.State
	// HostDown lets the host of a service be down as long.
	HostDown bool
	// Behind lets everything fail as long that is on the failed host, or behind it
	// alone.
	Behind bool
	// Ack is how long after At somebody acknowledges the problem; 0 = nobody does.
	Ack time.Duration
	// Beyond is how long after the end it is looked for who is told next.
	Beyond time.Duration
}

// before is how long before the trouble a scene begins, after how long it goes on
// behind a recovery.
const (
	before = time.Second
	after  = time.Minute
)

// Scene returns what happens in a story. All is well when it begins; the trouble is
// found at once, by a check at its first instant, and so is the recovery. What has no
// check of its own submits results instead.
func (s *Story) Scene() (*Scene, error) {
	o := s.Set.Get(s.Object)
	switch {
	case o == nil:
		return nil, fmt.Errorf("%s: the config has no such object", s.Object)
	case s.HostDown && o.Host == nil:
		return nil, fmt.Errorf("%s is a host itself; let its state be down", s.Object)
	case s.State == object.OK:
		return nil, errors.New("nobody is told that all is well; give a state that is a problem")
	case s.Behind && o.Host != nil && !s.HostDown:
		return nil, fmt.Errorf("nothing is behind the service %s; let its host be down", s.Object)
	case s.For <= 0:
		return nil, errors.New("the trouble lasts no time; let it last longer")
	}
	end := s.At.Add(s.For)
	scene := &Scene{Set: s.Set, Start: s.At.Add(-before), End: end, Settled: true, Beyond: s.Beyond}
	if s.Then != nil {
		scene.End = end.Add(after)
	}
	bad := s.failing(o)
	scene.Cast = cast(s.Set, bad)
	scene.Find = func(o *object.Object, at object.Time) Finding {
		state, in := bad[o.ID]
		switch {
		case !in || at < s.At:
			return Finding{Output: "all is well"}
		case at < end || s.Then == nil:
			return Finding{State: state, Output: s.said(o.ID)}
		case o.ID == s.Object:
			return Finding{State: *s.Then, Output: "simulated"}
		}
		return Finding{Output: "all is well again"}
	}
	scene.Acts = s.acts(scene, bad, end)
	return scene, nil
}

func (s *Story) said(id object.ID) string {
	switch {
	case id == s.Object && s.Output != "":
		return s.Output
	case id == s.Object:
		return "simulated"
	}
	return "fails with " + string(s.Object)
}

// failing returns the objects that fail, and what their checks find.
func (s *Story) failing(o *object.Object) map[object.ID]object.State {
	bad := map[object.ID]object.State{o.ID: s.State}
	host := o
	if s.HostDown {
		host = o.Host
		bad[host.ID] = object.Down
	}
	if !s.Behind {
		return bad
	}
	for queue := []*object.Object{host}; len(queue) > 0; queue = queue[1:] {
		for _, service := range queue[0].Services {
			if _, known := bad[service.ID]; !known {
				bad[service.ID] = object.Critical
			}
		}
		for _, child := range queue[0].Children {
			if _, known := bad[child.ID]; !known && cutOff(child, bad) {
				bad[child.ID] = object.Down
				queue = append(queue, child)
			}
		}
	}
	return bad
}

// cutOff tells whether every parent of a host has failed.
func cutOff(host *object.Object, bad map[object.ID]object.State) bool {
	for _, p := range host.Parents {
		if _, failed := bad[p.ID]; !failed {
			return false
		}
	}
	return true
}

// cast returns those who fail with everything that their judgement depends on.
func cast(set *object.Set, bad map[object.ID]object.State) (ids []object.ID) {
	known := map[object.ID]bool{}
	var add func(o *object.Object)
	add = func(o *object.Object) {
		if o == nil || known[o.ID] {
			return
		}
		known[o.ID] = true
		ids = append(ids, o.ID)
		add(o.Host)
		for _, p := range o.Parents {
			add(p)
		}
		for _, d := range o.Depends {
			add(d.Master)
		}
	}
	for id := range bad {
		add(set.Get(id))
	}
	return ids
}

// acts lets the trouble and its end be found at once, and acknowledges it.
func (s *Story) acts(scene *Scene, bad map[object.ID]object.State, end object.Time) (all []Act) {
	host := object.HostID(s.Object.Host())
	for _, id := range scene.Cast {
		o := s.Set.Get(id)
		times := []object.Time{s.At}
		if _, fails := bad[id]; !fails || checked(o) && id != s.Object && id != host {
			continue
		}
		if !checked(o) {
			times = submissions(o, s.At, end.Add(s.Beyond))
		}
		if s.Then != nil {
			times = append(times, end)
		}
		for _, at := range times {
			a := Act{At: at + rank(id), Object: id}
			if s.Then != nil && at == end {
				// Who recovers at that instant is not told of the problem in it.
				a.At, a.First = at, checked(o)
			}
			if f := scene.Find(o, at); checked(o) {
				a.Command = fold.Reschedule{At: a.At, Forced: true, Author: "simulation"}
			} else {
				a.Command = fold.Result{State: f.State, Output: f.Output}
			}
			all = append(all, a)
		}
	}
	if s.Ack > 0 {
		all = append(all, Act{At: s.At.Add(s.Ack), Object: s.Object, Command: fold.Acknowledge{
			Kind: object.AckSticky, Notify: true, Author: "simulation", Text: "simulated",
		}})
	}
	slices.SortStableFunc(all, func(a, b Act) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Object, b.Object)) })
	return all
}

// submissions returns when results are submitted that no check finds: as often as
// checks would look, so that the problem gets hard and nothing goes stale.
func submissions(o *object.Object, from, end object.Time) (times []object.Time) {
	step := 5 * time.Minute
	if every := o.Rule.Interval; every > 0 {
		step = min(step, every)
	}
	retry := min(step, o.Rule.Retry)
	for at := from; at < end; {
		times = append(times, at)
		if retry > 0 && len(times) < o.Rule.Attempts {
			at = at.Add(max(retry, time.Second))
		} else {
			at = at.Add(max(step, time.Second))
		}
	}
	return times
}

// rank is how many milliseconds later a service fails than its host.
func rank(id object.ID) object.Time {
	if id.Kind() == object.Host {
		return 0
	}
	return 1
}

// checked tells whether checks of an object run by its config.
func checked(o *object.Object) bool {
	return o.Rule.Active && o.Rule.Check.Kind != object.CheckNone && o.Rule.Check.Kind != object.CheckPassive
}
