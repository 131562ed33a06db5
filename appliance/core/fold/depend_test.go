package fold_test

import (
	"fmt"
	"testing"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// network is some hosts with their states, for dependencies and parents.
type network struct {
	objects map[object.ID]*object.Object
	states  map[object.ID]*fold.State
}

// newNetwork makes checked hosts that are up.
func newNetwork(names ...string) *network {
	n := &network{map[object.ID]*object.Object{}, map[object.ID]*fold.State{}}
	for _, name := range names {
		o := &object.Object{ID: object.ID(name), Name: name, Rule: &object.Rule{
			Check: object.Check{Kind: object.CheckICMP}, Interval: interval, Retry: retry, Attempts: 3, Active: true, Passive: true,
		}}
		s := fold.New(o)
		s.Status.Checked = true
		n.objects[o.ID], n.states[o.ID] = o, &s
	}
	return n
}

func (n *network) look(id object.ID) *fold.State { return n.states[id] }

func (n *network) env(id object.ID) *fold.Env {
	settings := object.DefaultSettings()
	o := n.objects[id]
	env := &fold.Env{Object: o, Settings: &settings, Started: started, Epoch: 1, Look: n.look}
	if o.Host != nil {
		env.Host = n.look(o.Host.ID)
	}
	for _, p := range o.Parents {
		if n.states[p.ID].Status.State == object.Up {
			env.ParentsUp++
		}
	}
	return env
}

// service puts a checked service on a host.
func (n *network) service(host, name string) *object.Object {
	h := n.objects[object.ID(host)]
	o := &object.Object{ID: object.ServiceID(host, name), Name: name, Host: h, Rule: h.Rule}
	s := fold.New(o)
	s.Status.Checked = true
	n.objects[o.ID], n.states[o.ID] = o, &s
	return o
}

func (n *network) set(id object.ID, state object.State, typ object.StateType, lastHard object.State) {
	st := &n.states[id].Status
	st.State, st.Type, st.LastHard = state, typ, lastHard
}

const down = object.StateMask(1<<object.Down | 1<<object.Unreachable)

func TestDependencies(t *testing.T) {
	on := func(master string, change func(*object.Dependency)) func(*network) {
		return func(n *network) {
			d := &object.Dependency{Master: n.objects[object.ID(master)], Execution: down}
			if change != nil {
				change(d)
			}
			n.objects["web"].Depends = append(n.objects["web"].Depends, d)
		}
	}
	group := func(d *object.Dependency) { d.Group = "uplinks" }
	is := func(name string, state object.State, typ object.StateType, lastHard object.State) func(*network) {
		return func(n *network) { n.set(object.ID(name), state, typ, lastHard) }
	}
	failed := func(name string) func(*network) { return is(name, object.Down, object.Hard, object.Down) }
	unchecked := func(name string) func(*network) {
		return func(n *network) { n.states[object.ID(name)].Status.Checked = false }
	}
	closed := func(d *object.Dependency) { d.Period = never{} }
	tests := []struct {
		name string
		set  []func(*network)
		want string // why, and the master
	}{
		{"a master that is well lets the check run", []func(*network){on("a", nil)}, " "},
		{"one that failed does not", []func(*network){on("a", nil), failed("a")}, "dependency a"},
		{"any that failed is enough", []func(*network){on("a", nil), on("b", nil), failed("b")}, "dependency b"},
		{"a state that is no criterion is none", []func(*network){on("a", func(d *object.Dependency) { d.Execution = 1 << object.Unreachable }), failed("a")}, " "},
		{"up can be a criterion", []func(*network){on("a", func(d *object.Dependency) { d.Execution = 1 << object.Up })}, "dependency a"},
		{"a soft problem does not count yet", []func(*network){on("a", nil), is("a", object.Down, object.Soft, object.Up)}, " "},
		{"nor does a soft recovery", []func(*network){on("a", nil), is("a", object.Up, object.Soft, object.Down)}, "dependency a"},
		{"a master that was never checked is up", []func(*network){on("a", nil), unchecked("a")}, " "},
		{"unless that is a criterion", []func(*network){on("a", func(d *object.Dependency) { d.ExecutionPending = true }), unchecked("a")}, "dependency a"},
		{"out of its period a dependency does not hold", []func(*network){on("a", closed), failed("a")}, " "},
		{"and does not excuse the next one", []func(*network){on("a", closed), on("b", nil), failed("b")}, "dependency b"},
		{"what the master depends on counts if it is inherited", []func(*network){
			on("a", func(d *object.Dependency) { d.Inherits = true }), failed("b"),
			func(n *network) {
				n.objects["a"].Depends = []*object.Dependency{{Master: n.objects["b"], Execution: down}}
			},
		}, "dependency a"},
		{"and not otherwise", []func(*network){on("a", nil), failed("b"), func(n *network) {
			n.objects["a"].Depends = []*object.Dependency{{Master: n.objects["b"], Execution: down}}
		}}, " "},
		{"a circle ends", []func(*network){on("a", func(d *object.Dependency) { d.Inherits = true }), func(n *network) {
			n.objects["a"].Depends = []*object.Dependency{{Master: n.objects["web"], Execution: down, Inherits: true}}
		}}, " "},
		{"one of a group that stands is enough", []func(*network){on("a", group), on("b", group), failed("a")}, " "},
		{"a group fails as a whole", []func(*network){on("a", group), on("b", group), failed("a"), failed("b")}, "dependency a"},
		{"a group is apart from the others", []func(*network){on("a", group), on("b", group), on("c", nil), failed("a"), failed("c")}, "dependency c"},
		{
			"who is out of its period does not stand in for others",
			[]func(*network){on("a", group), on("b", func(d *object.Dependency) { d.Group, d.Period = "uplinks", never{} }), failed("a")},
			"dependency a",
		},
		{
			"who is about something else does not either",
			[]func(*network){on("a", func(d *object.Dependency) { d.Group, d.Execution, d.Notification = "uplinks", 0, down }), on("b", group), failed("b")},
			"dependency b",
		},
		{"a dependency about notifications lets checks run", []func(*network){on("a", func(d *object.Dependency) { d.Execution, d.Notification = 0, down }), failed("a")}, " "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newNetwork("web", "a", "b", "c")
			for _, set := range tt.set {
				set(n)
			}
			why, master := fold.Blocked(n.env("web"), n.states["web"], started)
			if got := fmt.Sprint(string(why), " ", master); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestBlockedBySwitchAndPeriod(t *testing.T) {
	n := newNetwork("web", "a")
	n.objects["web"].Depends = []*object.Dependency{{Master: n.objects["a"], Execution: down}}
	n.set("a", object.Down, object.Hard, object.Down)
	env := n.env("web")
	env.Look = nil
	if why, _ := fold.Blocked(env, n.states["web"], started); why != "" {
		t.Errorf("nobody can be looked at, blocked for %s", why)
	}
	env.Object.Rule.CheckPeriod = never{}
	if why, _ := fold.Blocked(env, n.states["web"], started); why != fold.BlockPeriod {
		t.Errorf("outside the period: %q", why)
	}
	n.states["web"].Status.Off = object.SwitchActive
	if why, _ := fold.Blocked(env, n.states["web"], started); why != fold.BlockSwitch {
		t.Errorf("switched off: %q", why)
	}
}

// A service is kept quiet by what its host depends on, but its own check runs.
func TestNotificationsAreBlockedThroughTheHost(t *testing.T) {
	n := newNetwork("web", "a")
	n.service("web", "http")
	n.objects["web"].Depends = []*object.Dependency{{Master: n.objects["a"], Notification: down, NotificationPending: true}}
	if master := fold.NotificationBlocked(n.env("web!http"), started); master != "" {
		t.Errorf("kept quiet by %s, which is up", master)
	}
	n.set("a", object.Down, object.Hard, object.Down)
	for _, id := range []object.ID{"web", "web!http"} {
		if master := fold.NotificationBlocked(n.env(id), started); master != "a" {
			t.Errorf("%s is kept quiet by %q", id, master)
		}
		if why, _ := fold.Blocked(n.env(id), n.states[id], started); why != "" {
			t.Errorf("the check of %s is blocked for %s", id, why)
		}
	}
	delete(n.states, "a")
	if master := fold.NotificationBlocked(n.env("web"), started); master != "a" {
		t.Error("nothing is known of the master: it was never checked, and that is a criterion")
	}
}
