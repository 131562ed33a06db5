package fold_test

import (
	"testing"

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
