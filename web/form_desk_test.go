package web

import (
	"context"
	"fmt"
	"sync"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/web/sample"
)

// desk is a Commander that decides as the engine does and puts what it decided
// on the log of an invented installation.
type desk struct {
	site *sample.Site
	mu   sync.Mutex
	n    int
	fail map[object.ID]error // what goes wrong
}

func (d *desk) Do(_ context.Context, actions []operate.Action) (operate.Report, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.n++
	report := operate.Report{ID: fmt.Sprintf("desk-%d", d.n)}
	for i, a := range actions {
		id := fmt.Sprintf("%s-%d", report.ID, i)
		decision, err := d.decide(a, id)
		if wrong := d.fail[a.Object]; wrong != nil {
			decision, err = fold.Decision{}, wrong
		}
		if decision.HasLog {
			d.site.Append(decision.Log)
		}
		if decision.HasResult {
			d.site.Append(decision.Result)
		}
		report.Results = append(report.Results, operate.Result{Object: a.Object, Err: err})
	}
	return report, nil
}

func (d *desk) decide(a operate.Action, id string) (fold.Decision, error) {
	set, now := d.site.Set(), object.At(sample.Now)
	if a.Program != nil {
		env := program.Env{Set: set, Downtime: 100, Epoch: 3, Writer: "engine-1", ID: id}
		return program.Decide(&env, d.site.Projection.Program(), a.Program, now)
	}
	o := set.Get(a.Object)
	env := fold.Env{
		Object: o, Settings: &set.Settings, Look: d.site.State, Comment: 100, Downtime: 100, Epoch: 3, Writer: "engine-1", ID: id,
		Trigger: d.site.Trigger,
	}
	if o.Host != nil {
		env.Host = d.site.State(o.Host.ID)
	}
	return fold.Decide(&env, d.site.State(a.Object), a.Command, now)
}

// manned returns the options of an installation whose commands are carried out.
func manned(s *sample.Site) (Options, *desk) {
	o := options(s)
	d := &desk{site: s}
	o.Commands = d
	return o, d
}
