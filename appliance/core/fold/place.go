package fold

import (
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// A check period is a row of windows. A check whose place on the grid lies in one
// runs there. Else the object has a place of its own in a window, so that not
// everything starts when it opens, and which window that is follows from the
// interval: every one where they are as far apart as the interval or farther.

// maxMissed bounds the windows that are looked at one by one.
const maxMissed = 64

// placed returns when the next scheduled check runs after the newest one, or one
// that was skipped, inside the check period; 0 = never.
func placed(env *Env, st *event.Status, last, skipped object.Time) object.Time {
	slot := unplaced(env, st, last, skipped)
	period, interval := checkPeriodOf(env, st), intervalOf(env, st)
	switch {
	case slot == 0 || period == nil:
		return slot
	case interval <= 0:
		return shift(env, st, slot)
	case skipped > last:
		last = skipped
	case !st.Checked:
		return begin(env, st, interval)
	case st.Type == object.Soft && st.State != object.OK:
		return shift(env, st, slot)
	}
	wanted := last.Add(interval)
	at := shift(env, st, slot)
	if at != 0 && at <= wanted {
		return at
	}
	return nearest(env, st, last, wanted, at)
}

// nearest returns the object's place in the window that fits its interval best,
// where the one of the grid would be late. Windows between them are not missed
// because the grid has no slot in them: one that is open when the interval is over
// is taken, else the place that is nearest to that. Among windows that are frequent
// the grid is in time, and keeps objects apart that were once checked together.
func nearest(env *Env, st *event.Status, last, wanted, at object.Time) object.Time {
	period := checkPeriodOf(env, st)
	from := last + (wanted-last)/2
	inside, until := period.Window(last)
	switch {
	case inside && (until == 0 || at != 0 && at < until):
		return at
	case inside:
		from = max(from, until)
	}
	best, frequent := object.Time(0), (wanted-last)/2
	for range maxMissed {
		p, closes := room(env, st, from)
		if p == 0 || at != 0 && p >= at {
			break
		}
		if best != 0 && p-best < frequent && at != 0 {
			return at
		}
		if best == 0 || p <= wanted || p-wanted < wanted-best {
			best = p
		}
		if closes == 0 || closes > wanted {
			return best
		}
		from = closes
	}
	if best == 0 || at != 0 && at-wanted <= wanted-best {
		return at
	}
	return best
}

// begin returns when the checks of an object begin that was never checked, or was
// due while nobody looked. Where windows are rare it does not wait for the slot of
// its grid, which may lie behind several of them.
func begin(env *Env, st *event.Status, interval time.Duration) object.Time {
	slot := NextSlot(env.Object.ID, interval, env.Started)
	period := checkPeriodOf(env, st)
	if period == nil {
		return slot
	}
	from := env.Started
	if inside, closes := period.Window(from); inside {
		switch {
		case closes == 0 || slot < closes:
			return slot
		case closes.Sub(from) < min(interval/10, time.Minute):
			from = closes // too little is left for everybody who is due
		}
	}
	first, closes := room(env, st, from)
	if first == 0 || closes == 0 {
		return first
	}
	second, _ := room(env, st, closes)
	if second == 0 || second.Sub(first) >= interval/2 {
		return first
	}
	return shift(env, st, slot)
}

// shift moves an instant outside the check period to the object's own place in the
// next window; 0 = there is none.
func shift(env *Env, st *event.Status, at object.Time) object.Time {
	period := checkPeriodOf(env, st)
	if at == 0 || period == nil || object.Inside(period, at) {
		return at
	}
	at, _ = room(env, st, at)
	return at
}

// room returns the object's place in the window that is open at an instant, then
// in what is left of it, or in the next one, and when that window closes (0 =
// never). There may be no window: 0.
func room(env *Env, st *event.Status, from object.Time) (at, closes object.Time) {
	period := checkPeriodOf(env, st)
	inside, until := period.Window(from)
	if !inside {
		if until == 0 {
			return 0, 0
		}
		from = until
		_, until = period.Window(from)
	}
	interval := intervalOf(env, st)
	if interval <= 0 {
		interval = retryOf(env, st)
	}
	if until == 0 || until.Sub(from) >= interval {
		return NextSlot(env.Object.ID, interval, from), until
	}
	return from.Add(Phase(env.Object.ID, until.Sub(from))), until
}

// stillOpen moves a check that may have waited for long: one whose window has
// closed meanwhile runs at its place in the next one.
func stillOpen(env *Env, st *event.Status, at, now object.Time) object.Time {
	period := checkPeriodOf(env, st)
	if period == nil {
		return at
	}
	for range maxMissed {
		if at == 0 || at > now {
			return at
		}
		_, closes := period.Window(at)
		if closes == 0 || closes > now {
			return at
		}
		at, _ = room(env, st, closes)
	}
	return shift(env, st, now)
}
