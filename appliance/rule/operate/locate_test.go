package operate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/operate"
)

// busy is a world with downtimes that trigger each other, and comments.
func busy() *operate.World {
	w := world()
	put := func(id object.ID, x event.Extra) { w.State(id).Status.Extra = &x }
	put("gw", event.Extra{
		Downtimes: []event.Downtime{{ID: "a", Number: 1}, {ID: "once@1", Number: 5, Rule: "once"}},
		Comments:  []event.Comment{{ID: "c1", Number: 1}, {ID: "c2", Number: 2}},
	})
	put("sw1", event.Extra{Downtimes: []event.Downtime{{ID: "b", Number: 2, Trigger: "a"}, {ID: "once@1", Number: 6, Rule: "once"}}})
	put("web", event.Extra{
		Downtimes: []event.Downtime{{ID: "c", Number: 3, Trigger: "b"}, {ID: "d", Number: 4}, {ID: "e", Number: 4}},
		Comments:  []event.Comment{{ID: "c3", Number: 2}},
	})
	return w
}

func list(actions []operate.Action) string {
	var all []string
	for _, a := range actions {
		switch c := a.Command.(type) {
		case fold.CancelDowntimes:
			if a.Wait {
				all = append(all, "then")
			}
			all = append(all, fmt.Sprintf("%s:%s", a.Object, c.ID))
		case fold.RemoveComments:
			all = append(all, fmt.Sprintf("%s:%s", a.Object, c.ID))
		default:
			all = append(all, "rule:"+a.Program.(program.RemoveRule).ID)
		}
	}
	return strings.Join(all, " ")
}

func TestDowntimesAndCommentsAreFoundByIDAndNumber(t *testing.T) {
	w := busy()
	for _, c := range []struct {
		name, ref string
		find      func(ref, author string) ([]operate.Action, error)
		want      string
		wrong     string
	}{
		{"a downtime by id, what it triggers first", "a", w.ByDowntime, "web:c then sw1:b then gw:a", ""},
		{"a downtime by number", "3", w.ByDowntime, "web:c", ""},
		{"an occurrence that many objects have", "once@1", w.ByDowntime, "gw:once@1 sw1:once@1", ""},
		{"a downtime for many objects by id", "r1", w.ByDowntime, "rule:r1", ""},
		{"a downtime for many objects by number", "9", w.ByDowntime, "rule:r1", ""},
		{"a number that two have", "4", w.ByDowntime, "", "2 downtimes have the number 4; write the id of one: d or e"},
		{"no such downtime", "77", w.ByDowntime, "", `no downtime "77"`},
		{"number 0 is none", "0", w.ByDowntime, "", `no downtime "0"`},
		{"a comment by id", "c3", w.ByComment, "web:c3", ""},
		{"a comment by number", "1", w.ByComment, "gw:c1", ""},
		{"a number that two comments have", "2", w.ByComment, "", "2 comments have the number 2"},
		{"no such comment", "x", w.ByComment, "", `no comment "x"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			actions, err := c.find(c.ref, "me")
			if got := list(actions); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			var e *operate.Error
			if c.wrong != "" && (!errors.As(err, &e) || !strings.Contains(err.Error(), c.wrong)) || c.wrong == "" && err != nil {
				t.Errorf("error %v, want %q", err, c.wrong)
			}
		})
	}
}

func TestOnlyTheGivenStatesAreLookedAt(t *testing.T) {
	w := busy()
	w.Extras = func(yield func(object.ID, *fold.State) bool) {
		// One of an object that the config has no more must not be found.
		_ = yield("web", w.State("web")) && yield("gone", w.State("gw"))
	}
	if _, err := w.ByDowntime("a", "me"); err == nil {
		t.Error("a downtime of another object was found")
	}
	if actions, err := w.ByDowntime("c", "me"); err != nil || list(actions) != "web:c" {
		t.Errorf("%v, %v", actions, err)
	}
}

func TestReportsCountWhatFailed(t *testing.T) {
	r := operate.Report{Results: []operate.Result{{}, {Err: errors.New("x")}}}
	if r.Failed() != 1 {
		t.Errorf("%d failed", r.Failed())
	}
}

func TestWhatIsTriggeredIsCancelledBeforeItsTriggerWhicheverIsNamed(t *testing.T) {
	w := busy()
	all := w.Downtimes(func(_ object.ID, d *event.Downtime) bool { return len(d.ID) == 1 })
	if got := list(w.Cancel(all, "me")); got != "web:c then sw1:b then gw:a web:d web:e" {
		t.Errorf("got %q", got)
	}
}
