package external

import (
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/output"
)

// submit makes the doer of a command that submits a result.
func submit(k object.Kind, of scope) func(*translation) error {
	return func(t *translation) error {
		objects, err := of(t)
		if err != nil {
			return err
		}
		r, err := output.Passive(k, int(t.number()), []byte(output.Unescape(t.next())))
		if err != nil {
			return err
		}
		start := t.entry() // one that lies ahead would make the next results look old
		t.about(objects[0], fold.Result{
			State: r.State, Passive: true, Stamped: t.c.Stamped, Output: r.Output, Long: r.Long, Perfdata: r.Perfdata,
			Start: start, Latency: int64(t.w.Now-start) * 1000,
		})
		return nil
	}
}
