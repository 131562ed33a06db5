package deliver_test

import (
	"fmt"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// tree is a router, a switch behind it, and three hosts behind that, with a service on
// the first; one more host is on its own.
type tree struct {
	set    *object.Set
	states map[object.ID]*event.Status
	seen   map[object.ID]int // second of the newest check
}

func newTree() *tree {
	rule := &object.Rule{Active: true, Check: object.Check{Kind: object.CheckICMP}}
	host := func(name string, parents ...*object.Object) *object.Object {
		return &object.Object{ID: object.HostID(name), Name: name, Rule: rule, Parents: parents}
	}
	router := host("router")
	sw := host("sw", router)
	h0, h1, h2 := host("h0", sw), host("h1", sw), host("h2", sw)
	x := &object.Object{ID: "h0!x", Name: "x", Host: h0, Rule: rule}
	w := &tree{states: map[object.ID]*event.Status{}, seen: map[object.ID]int{}}
	w.set = object.NewSet("tree", object.DefaultSettings(), []*object.Object{router, sw, h0, h1, h2, x, host("other")})
	for _, o := range w.set.Objects {
		w.states[o.ID], w.seen[o.ID] = &event.Status{Checked: true}, -5
	}
	return w
}

func (w *tree) look() *deliver.World {
	return &deliver.World{
		Status: func(id object.ID) *event.Status { return w.states[id] },
		Object: w.set.Get,
		Seen:   func(id object.ID) object.Time { return at(w.seen[id]) },
	}
}

// fails lets an object fail, and tells of it.
func (w *tree) fails(l *log, p *deliver.Planner, id object.ID, second int, g object.Grouping) {
	w.states[id] = &event.Status{Checked: true, State: object.Down, Problem: at(second)}
	w.seen[id] = second
	add(l, p, false, ask{id: id, second: second, group: g})
}

// run lets the planner go on until a second and returns what goes out.
func (w *tree) run(p *deliver.Planner, from, to int) (out []string) {
	for now := at(from); now <= at(to); {
		for b, ok := p.Take(now, w.look()); ok; b, ok = p.Take(now, w.look()) {
			out = append(out, outgoing(now, b))
			p.Done(b, now)
		}
		next := p.Next(now)
		if next == 0 {
			break
		}
		now = max(next, now+1)
	}
	return out
}

func TestAProblemWaitsForTheHostsInFrontOfItToBeLookedAt(t *testing.T) {
	soon := object.Grouping{By: object.GroupRoot, Wait: 10 * time.Second, Interval: 5 * time.Minute}
	cases := map[string]struct {
		change func(w *tree) // between the failure and the time it is due
		at12   func(w *tree) // twelve seconds after it
		group  object.Grouping
		want   []string
	}{
		"nobody looks: after half a minute, in one message": {
			want: []string{"0:30 ada/email [rate]: h0, h1"},
		},
		"the switch was looked at since: each is its own": {
			change: func(w *tree) { w.seen["sw"] = 1 },
			want:   []string{"0:10 ada/email [root=h0]: h0", "0:11 ada/email [root=h1]: h1"},
		},
		"it is looked at while they wait, and works": {
			at12: func(w *tree) { w.seen["sw"] = 11 },
			want: []string{"0:12 ada/email [root=h0]: h0", "0:12 ada/email [root=h1]: h1"},
		},
		"it is down, and the router in front of it works": {
			at12: func(w *tree) {
				w.states["sw"] = &event.Status{Checked: true, State: object.Down, Problem: at(11)}
				w.states["h0"].Root, w.states["h1"].Root, w.seen["router"] = "sw", "sw", 12
			},
			want: []string{"0:12 ada/email [root=sw]: h0, h1"},
		},
		"it is down, and nobody has looked at the router": {
			at12: func(w *tree) {
				w.states["sw"] = &event.Status{Checked: true, State: object.Down, Problem: at(11)}
				w.states["h0"].Root, w.states["h1"].Root = "sw", "sw"
			},
			want: []string{"0:30 ada/email [root=sw]: h0, h1"},
		},
		"the switch was never checked": {
			change: func(w *tree) { w.states["sw"].Checked = false },
			want:   []string{"0:10 ada/email [root=h0]: h0", "0:11 ada/email [root=h1]: h1"},
		},
		"nobody checks the switch": {
			change: func(w *tree) { w.set.Get("sw").Rule = &object.Rule{} },
			want:   []string{"0:10 ada/email [root=h0]: h0", "0:11 ada/email [root=h1]: h1"},
		},
		"a policy that does not wait": {
			group: object.Grouping{By: object.GroupRoot},
			want:  []string{"0:00 ada/email [root=h0]: h0", "0:01 ada/email [root=h1]: h1"},
		},
		"a policy that waits longer": {
			group: object.Grouping{By: object.GroupRoot, Wait: time.Minute},
			want:  []string{"1:00 ada/email [rate]: h0, h1"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w, l, p := newTree(), &log{}, deliver.NewPlanner(deliver.Limits{})
			if c.change != nil {
				c.change(w)
			}
			g := soon
			if c.group.By != "" {
				g = c.group
			}
			w.fails(l, p, "h0", 0, g)
			out := w.run(p, 0, 0)
			w.fails(l, p, "h1", 1, g)
			out = append(out, w.run(p, 1, 12)...)
			if c.at12 != nil {
				c.at12(w)
			}
			wantOut(t, append(out, w.run(p, 12, 200)...), c.want...)
		})
	}
	t.Logf("%d cases", len(cases))
}

// What was told while the switch was not looked at counts as a message about it: that it
// is down comes at once, the rest after the interval. What is elsewhere waits for nothing.
func TestASuspectThatTurnsOutToBeDownIsOneIncident(t *testing.T) {
	g := object.Grouping{By: object.GroupRoot, Wait: 10 * time.Second, Interval: 5 * time.Minute}
	w, l, p := newTree(), &log{}, deliver.NewPlanner(deliver.Limits{})
	w.fails(l, p, "h0", 0, g)
	w.fails(l, p, "other", 0, g)
	w.fails(l, p, "h1", 25, g)
	out := w.run(p, 0, 40)
	w.states["sw"] = &event.Status{Checked: true, State: object.Down, Problem: at(40)}
	w.seen["router"] = 41
	w.fails(l, p, "h2", 41, g)
	w.states["h2"].Root = "sw"
	out = append(out, w.run(p, 41, 60)...)
	w.seen["router"] = 61
	w.fails(l, p, "sw", 60, g)
	out = append(out, w.run(p, 60, 100)...)
	w.fails(l, p, "h0!x", 100, g)
	w.states["h0!x"].Root = "sw"
	wantOut(t, append(out, w.run(p, 100, 600)...),
		"0:10 ada/email [root=other]: other", "0:30 ada/email [rate]: h0, h1",
		"1:10 ada/email [root=sw]: h2, sw", "6:10 ada/email [root=sw]: h0!x")
}

// A config may have many ways to a host; looking at them has an end.
func TestManyWaysAreNotClimbedForEver(t *testing.T) {
	rule := &object.Rule{Active: true, Check: object.Check{Kind: object.CheckICMP}}
	var all, level []*object.Object
	for i := range 40 {
		var next []*object.Object
		for j := range 5 {
			next = append(next, &object.Object{ID: object.HostID(fmt.Sprint("l", i, "-", j)), Rule: rule, Parents: level})
		}
		all, level = append(all, next...), next
	}
	set := object.NewSet("mesh", object.DefaultSettings(), all)
	looks := 0
	w := &deliver.World{
		Object: set.Get, Seen: func(object.ID) object.Time { return 0 },
		Status: func(object.ID) *event.Status { looks++; return &event.Status{Checked: true} },
	}
	l, p := &log{}, deliver.NewPlanner(deliver.Limits{})
	add(l, p, false, ask{id: "l39-0", group: byRoot})
	if _, ok := p.Take(at(30), w); !ok || looks > 200 {
		t.Errorf("%d looks, taken %v", looks, ok)
	}
}
