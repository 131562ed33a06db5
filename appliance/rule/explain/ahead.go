package explain

import (
	"slices"
	"time"

	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// How far ahead is looked: so many notifications, and so long.
const (
	aheadMost = 100
	aheadLong = 7 * 24 * time.Hour
)

// ahead returns the notifications of a problem to come, as long as nothing happens
// to it. Those that only check results tell are told as soon as they may be.
func ahead(in *notify.Input) []Ahead {
	if in.Object.Notify == nil || in.Kind != notify.Problem {
		return nil
	}
	look := clone(in)
	for n := range policies(look) {
		n.Timed = true
	}
	end := in.Now.Add(aheadLong)
	var all []Ahead
	for range aheadMost {
		at, _ := notify.Next(look)
		if at == 0 || at > end {
			return all
		}
		look.Now = at
		out := notify.Decide(look)
		if !out.Send {
			return all // an instant that Next found to be good
		}
		all = further(all, &out, at)
		look.Fields, look.Before = out.Fields, nil
	}
	if len(all) > 0 {
		all[len(all)-1].More = true
	}
	return all
}

// further adds a notification to the last entry, if it tells the same people by
// the same steps, else a new entry.
func further(all []Ahead, out *notify.Outcome, at object.Time) []Ahead {
	told := out.Told()
	if n := len(all); n > 0 {
		if last := &all[n-1]; slices.Equal(last.Told, told) && slices.Equal(last.Steps, out.Steps) {
			last.Last, last.Times = at, last.Times+1
			return all
		}
	}
	return append(all, Ahead{At: at, Last: at, Number: out.Number, Times: 1, Steps: out.Steps, Told: told})
}

// meanwhile lets an input remember what people are told by time alone from a time
// until in.Now.
func meanwhile(in *notify.Input, from object.Time) {
	look := *in
	look.Now = from
	for range aheadMost {
		at, kind := notify.Next(&look)
		if at == 0 || at >= in.Now {
			return
		}
		look.Now, look.Kind = at, kind
		out := notify.Decide(&look)
		if !out.Send {
			return
		}
		look.Fields, in.Fields = out.Fields, out.Fields
	}
}
