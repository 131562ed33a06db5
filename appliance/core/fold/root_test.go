package fold_test

import (
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// chain is a core switch, a switch behind it and a web server behind that, with a
// service.
func chain() *network {
	n := newNetwork("core", "switch", "web")
	for child, parent := range map[object.ID]object.ID{"switch": "core", "web": "switch"} {
		n.objects[child].Parents = append(n.objects[child].Parents, n.objects[parent])
		n.objects[parent].Children = append(n.objects[parent].Children, n.objects[child])
	}
	n.service("web", "http")
	return n
}

func (n *network) result(t *testing.T, id object.ID, state object.State, now object.Time) (fold.Decision, fold.State) {
	t.Helper()
	before := *n.states[id]
	d := must(t, n.env(id), n.states[id], fold.Result{State: state, Start: now}, now)
	return d, before
}

func (n *network) wantRoots(t *testing.T, want map[object.ID]object.ID) {
	t.Helper()
	for id, root := range want {
		if got := n.states[id].Status.Root; got != root {
			t.Errorf("the root of %s is %q, want %q", id, got, root)
		}
	}
}

// What is behind a failed host names it, over any number of hosts between them.
func TestProblemsNameTheirRoot(t *testing.T) {
	n := chain()
	n.result(t, "core", object.Down, started)
	n.result(t, "switch", object.Down, started+1)
	n.result(t, "web", object.Down, started+2)
	n.result(t, "web!http", object.Critical, started+3)
	n.wantRoots(t, map[object.ID]object.ID{"core": "", "switch": "core", "web": "core", "web!http": "core"})

	n.result(t, "core", object.Up, started+10)
	n.result(t, "switch", object.Down, started+11)
	n.result(t, "web", object.Down, started+12)
	d, _ := n.result(t, "web!http", object.Critical, started+13)
	n.wantRoots(t, map[object.ID]object.ID{"core": "", "switch": "", "web": "switch", "web!http": "switch"})
	if !d.HasLog || d.Log.Transition {
		t.Error("another root belongs on the log, and is no transition")
	}

	n.result(t, "switch", object.Up, started+20)
	n.result(t, "web", object.Up, started+21)
	n.result(t, "web!http", object.Critical, started+22)
	n.wantRoots(t, map[object.ID]object.ID{"switch": "", "web": "", "web!http": ""})
}

func TestARootEndsWithTheProblem(t *testing.T) {
	n := chain()
	n.result(t, "switch", object.Down, started)
	n.result(t, "web", object.Down, started+1)
	n.result(t, "web!http", object.Critical, started+2)
	n.wantRoots(t, map[object.ID]object.ID{"web": "switch", "web!http": "switch"})
	n.result(t, "web!http", object.OK, started+3)
	n.wantRoots(t, map[object.ID]object.ID{"web!http": ""})
}

// Whoever submits UNREACHABLE may know more than the parents' states say.
func TestUnreachableWithoutAFailedParentHasNoRoot(t *testing.T) {
	n := chain()
	must(t, n.env("web"), n.states["web"], fold.Result{State: object.Unreachable, Passive: true}, started)
	n.wantRoots(t, map[object.ID]object.ID{"web": ""})
	env := n.env("web!http")
	env.Host, env.Look = nil, nil
	must(t, env, n.states["web!http"], fold.Result{State: object.Critical}, started)
	n.wantRoots(t, map[object.ID]object.ID{"web!http": ""})
}

// A problem whose next check is far away follows the hosts around it all the same.
func TestARootFollowsTheHosts(t *testing.T) {
	n := chain()
	reroot := func(id, want object.ID, changes bool) {
		t.Helper()
		if stale := fold.RootStale(n.env(id), n.states[id]); stale != changes {
			t.Errorf("the root of %s is stale: %t", id, stale)
		}
		before := *n.states[id]
		d := must(t, n.env(id), n.states[id], fold.Reroot{}, started+50)
		if d.HasLog != changes || d.HasResult || n.states[id].Status.Root != want {
			t.Errorf("%s: %q, want %q; written %t", id, n.states[id].Status.Root, want, d.HasLog)
		}
		if changes && (d.Log.Kind != event.RootChanged || d.Log.Transition || d.Log.Facts["root"] != string(want) || d.Log.Facts["was"] != string(before.Status.Root)) {
			t.Errorf("%+v", d.Log)
		}
		if before.Status.Root = want; n.states[id].Status != before.Status || n.states[id].Measure != before.Measure {
			t.Errorf("more than the root changed: %+v", n.states[id])
		}
	}
	n.result(t, "web!http", object.Critical, started)
	n.result(t, "web", object.Down, started+1)
	reroot("web!http", "web", true)
	reroot("web!http", "web", false)
	n.result(t, "core", object.Down, started+2)
	n.result(t, "switch", object.Down, started+3)
	n.result(t, "web", object.Down, started+4)
	reroot("web!http", "core", true)
	n.result(t, "core", object.Up, started+5)
	reroot("switch", "", true)
	reroot("web", "switch", true)
	reroot("web!http", "switch", true)
	n.result(t, "switch", object.Up, started+6)
	n.result(t, "web", object.Up, started+7)
	reroot("web!http", "", true)
	n.result(t, "web!http", object.OK, started+8)
	reroot("web!http", "", false)
}

func TestWhichEventsMoveRoots(t *testing.T) {
	up, down := event.Status{State: object.Up}, event.Status{State: object.Down}
	behind := event.Status{State: object.Unreachable, Root: "core"}
	tests := []struct {
		name   string
		id     object.ID
		before event.Status
		after  *event.Status
		want   bool
	}{
		{"a host that goes down", "web", up, &down, true},
		{"a host that comes up", "web", down, &up, true},
		{"a host that stays down", "web", down, &down, false},
		{"a host with another root", "web", down, &behind, true},
		{"a measurement", "web", down, nil, false},
		{"a service", "web!http", up, &down, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := fold.MovesRoots(&fold.State{Status: tt.before}, &event.Event{Object: tt.id, Status: tt.after})
			if got != tt.want {
				t.Errorf("%t, want %t", got, tt.want)
			}
		})
	}
}

// A host that was found to be DOWN before its parents were has their root too, as
// soon as none of them is up.
func TestAHostThatWasDownFirstNamesTheRootToo(t *testing.T) {
	n := chain()
	n.result(t, "web", object.Down, started)
	n.wantRoots(t, map[object.ID]object.ID{"web": ""})
	n.result(t, "switch", object.Down, started+1)
	must(t, n.env("web"), n.states["web"], fold.Reroot{}, started+2)
	n.wantRoots(t, map[object.ID]object.ID{"web": "switch", "switch": ""})
	n.result(t, "switch", object.Up, started+3)
	must(t, n.env("web"), n.states["web"], fold.Reroot{}, started+4)
	n.wantRoots(t, map[object.ID]object.ID{"web": ""})
}
