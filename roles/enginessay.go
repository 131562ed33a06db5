package roles

import (
	"context"
	"fmt"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/journal"
)

// How much of the log is read at most to learn of engines that run for long.
const (
	recallPage  = 200
	recallPages = 20
)

// recall finds out what the engines have said that were started before this process
// began to follow the log.
func (x *engines) recall(ctx context.Context, j interface {
	History(ctx context.Context, q journal.Query) ([]event.Event, error)
},
) error {
	var before journal.Position
	for range recallPages {
		events, err := j.History(ctx, journal.Query{Kinds: engineKinds, Before: before, Limit: recallPage})
		if err != nil {
			return fmt.Errorf("look for the engines: %w", err)
		}
		x.take(events...)
		if x.recalled != nil {
			x.recalled(events)
		}
		if len(events) < recallPage || x.complete() {
			return nil
		}
		before.Log = events[len(events)-1].Seq
	}
	return nil
}

// complete tells whether of every engine that lives all is known.
func (x *engines) complete() bool {
	live := x.live()
	for i := range live {
		if live[i].Joined.IsZero() || live[i].Generation == "" {
			return false
		}
	}
	return len(live) > 0
}

const (
	// reloadGrace is how long engines may work by different configs: they are not
	// reloaded in the same moment.
	reloadGrace = time.Minute
	// mourned is how long it is told that an engine has died; it may be gone for good.
	mourned = time.Hour
)

// trouble says in sentences what is wrong among the engines, in the process of one of
// them or, for me = "", in one that follows the log.
func (x *engines) trouble(me string, now time.Time) []string {
	var all []string
	for _, text := range []string{x.differing(me, now), x.divided()} {
		if text != "" {
			all = append(all, text)
		}
	}
	for _, n := range x.all() {
		if n.Expired && !n.Live && now.Sub(n.Gone) < mourned && len(x.live()) > 0 {
			all = append(all, fmt.Sprintf("engine %s has been missing since %s: the others have taken its objects over; start it again if it is not gone for good", n.ID, clock(n.Gone, now)))
		}
	}
	return all
}

// differing says that engines work by different configs, and not only for the time
// that a reload of all of them takes.
func (x *engines) differing(me string, now time.Time) string {
	var changed time.Time
	by := map[string][]string{} // ids by generation
	var order []string
	mine := ""
	for _, n := range x.live() {
		if n.Generation == "" {
			continue
		}
		if n.loaded.After(changed) {
			changed = n.loaded
		}
		if n.ID == me {
			mine = n.Generation
		}
		if len(by[n.Generation]) == 0 {
			order = append(order, n.Generation)
		}
		by[n.Generation] = append(by[n.Generation], n.ID)
	}
	if len(order) < 2 || now.Sub(changed) < reloadGrace {
		return ""
	}
	var parts []string
	for _, g := range order {
		if g != mine {
			parts = append(parts, runs(by[g], g))
		}
	}
	if mine != "" {
		parts = append(parts, "this one "+abbreviated(mine))
	}
	return strings.Join(parts, ", ") + ": the engines judge by different configs; bring the same one to each and reload it (SIGHUP)"
}

// runs says which config some engines work by.
func runs(ids []string, generation string) string {
	if len(ids) == 1 {
		return "engine " + ids[0] + " runs config generation " + abbreviated(generation)
	}
	return "engines " + strings.Join(ids, ", ") + " run config generation " + abbreviated(generation)
}

// abbreviated is as much of a generation as people compare.
func abbreviated(generation string) string { return generation[:min(len(generation), 8)] }

// divided says that the engines do not agree on who delivers.
func (x *engines) divided() string {
	var local, left []string
	for _, n := range x.live() {
		switch {
		case n.Joined.IsZero():
		case n.Delivery == deliveredByNotifier:
			left = append(left, n.ID)
		default:
			local = append(local, n.ID)
		}
	}
	if len(local) == 0 || len(left) == 0 {
		return ""
	}
	return fmt.Sprintf("the engines differ in -notify-delivery: %s with local, %s with notifier; as long as there is one with local, "+
		"engines deliver and notifiers do not: start all with the same value", strings.Join(local, ", "), strings.Join(left, ", "))
}

// deliver says, in a notifier, that engines deliver by themselves and which one joined
// last of those.
func (x *engines) deliver() []string {
	if !x.local() {
		return nil
	}
	var newest engineNews
	for _, n := range x.all() {
		if n.seq > newest.seq && n.Delivery != deliveredByNotifier {
			newest = n
		}
	}
	return []string{fmt.Sprintf("engine %q, which joined at %s, delivers notifications by itself: nothing is sent from here; "+
		"start every engine with -notify-delivery notifier, or stop this notifier", newest.ID, clock(newest.Joined, time.Now()))}
}
