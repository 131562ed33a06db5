package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/operate"
)

func TestAnActionThatSaysWaitSeesThoseBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, fleet(50, 1), newJournal(), &runner{})
		now := object.At(time.Now())
		var actions []operate.Action
		for i, o := range g.p.Set().Objects {
			d := event.Downtime{ID: string(o.ID), Trigger: "first", Text: "x", Start: now, End: now.Add(time.Hour)}
			if i == 0 {
				d.ID, d.Trigger = "first", ""
			}
			actions = append(actions, operate.Action{Object: o.ID, Command: fold.ScheduleDowntime{Downtime: d}, Wait: i == 1})
		}
		report := g.do(actions...)
		for _, r := range report.Results {
			if r.Err != nil {
				t.Errorf("%s: %v", r.Object, r.Err)
			}
		}
		g.end()
	})
}
