package fold_test

import (
	"fmt"
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

func TestChecksThatResultsAskFor(t *testing.T) {
	tests := []struct {
		name   string
		set    func(*network)
		about  object.ID
		result object.State
		want   string
	}{
		{"a service that fails asks for its host", nil, "web!http", object.Critical, "[web]"},
		{"one that is well does not", nil, "web!http", object.OK, "[]"},
		{"unless its host is not up", func(n *network) { n.set("web", object.Down, object.Hard, object.Down) }, "web!http", object.OK, "[web]"},
		{"the same problem again does not", func(n *network) { n.set("web!http", object.Critical, object.Hard, object.Critical) }, "web!http", object.Critical, "[]"},
		{"another problem does", func(n *network) { n.set("web!http", object.Warning, object.Hard, object.Warning) }, "web!http", object.Critical, "[web]"},
		{"a host that goes down asks for its parents and children", nil, "switch", object.Down, "[core web]"},
		{"parents that are down are known", func(n *network) { n.set("core", object.Down, object.Hard, object.Down) }, "switch", object.Down, "[web]"},
		{"children that are out of reach too", func(n *network) { n.set("web", object.Unreachable, object.Hard, object.Unreachable) }, "switch", object.Down, "[core]"},
		{"children that are down may be out of reach", func(n *network) { n.set("web", object.Down, object.Hard, object.Down) }, "switch", object.Down, "[core web]"},
		{"a host that stays down asks for nobody", func(n *network) { n.set("switch", object.Down, object.Hard, object.Down) }, "switch", object.Down, "[]"},
		{"a host that comes back asks for those that are not up", func(n *network) {
			n.set("switch", object.Down, object.Hard, object.Down)
			n.set("web", object.Unreachable, object.Hard, object.Unreachable)
		}, "switch", object.Up, "[web]"},
		{"before the last attempt the masters are asked for", func(n *network) {
			n.set("web!http", object.Critical, object.Soft, object.OK)
			n.objects["web!http"].Depends = []*object.Dependency{{Master: n.objects["core"]}}
		}, "web!http", object.Critical, "[core]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := chain()
			if tt.set != nil {
				tt.set(n)
			}
			d, before := n.result(t, tt.about, tt.result, started)
			e := &d.Result
			if d.HasLog {
				e = &d.Log
			}
			if got := fmt.Sprint(fold.OnDemand(n.env(tt.about), &before, n.states[tt.about], e)); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// A host with thousands behind it must not fill every queue at once.
func TestChecksThatOneResultAsksForAreBounded(t *testing.T) {
	n := newNetwork("core")
	for i := range 2000 {
		child := &object.Object{ID: object.ID(fmt.Sprint("web", i)), Rule: &object.Rule{}}
		n.objects["core"].Children = append(n.objects["core"].Children, child)
	}
	d, before := n.result(t, "core", object.Down, started)
	if list := fold.OnDemand(n.env("core"), &before, n.states["core"], &d.Log); len(list) != 500 {
		t.Errorf("%d checks", len(list))
	}
	other := event.Event{Kind: event.AckSet}
	if list := fold.OnDemand(n.env("core"), &before, n.states["core"], &other); list != nil {
		t.Errorf("what is no result asks for %v", list)
	}
}
