package trial

import (
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/rehearse"
)

// Length is how long a trial lasts.
const Length = 60 * time.Minute

// Trial is one random config with what happens in it.
type Trial struct {
	config []int // the numbers that the config was made of
	start  object.Time
	fates  map[object.ID][]fate
	takes  map[object.ID]time.Duration
	acts   []rehearse.Act
}

// fate is what checks of an object find from a time on.
type fate struct {
	from  object.Time
	state object.State
}

// New makes a trial that starts at a time; pick returns a number from 0 to n-1.
func New(start object.Time, pick func(n int) int) *Trial {
	t := &Trial{start: start, fates: map[object.ID][]fate{}, takes: map[object.ID]time.Duration{}}
	m := &maker{pick: func(n int) int {
		v := pick(n)
		t.config = append(t.config, v)
		return v
	}, start: start}
	set := m.set()
	for i, o := range set.Objects {
		t.takes[o.ID] = 3 * time.Millisecond << i
		t.fates[o.ID] = fates(o, start, pick)
	}
	t.acts = acts(set, start, pick)
	return t
}

// Set makes the trial's config. Every call makes another one, which the caller may
// change before it is used.
func (t *Trial) Set() *object.Set {
	at := 0
	m := &maker{pick: func(int) int { at++; return t.config[at-1] }, start: t.start}
	return m.set()
}

// Find says what a check finds.
func (t *Trial) Find(o *object.Object, at object.Time) rehearse.Finding {
	f := rehearse.Finding{Takes: t.takes[o.ID], Output: "as it was"}
	for _, is := range t.fates[o.ID] {
		if is.from <= at {
			f.State, f.Output = is.state, "since "+is.from.Std().Format(time.TimeOnly)
		}
	}
	return f
}

// Scene returns the trial as a scene of its own config.
func (t *Trial) Scene() *rehearse.Scene {
	return &rehearse.Scene{Set: t.Set(), Start: t.start, End: t.start.Add(Length), Find: t.Find, Acts: t.acts}
}

// fates lets an object be well, then in trouble, then well again, and so on.
func fates(o *object.Object, start object.Time, pick func(int) int) []fate {
	var all []fate
	at := start.Add(time.Duration(pick(20)) * time.Minute)
	for range pick(6) {
		f := fate{from: at, state: object.State(pick(4))}
		if o.Kind() == object.Host {
			f.state = object.State(pick(2))
		}
		all = append(all, f)
		at = at.Add(time.Duration(2+pick(25)) * time.Minute)
	}
	return all
}
