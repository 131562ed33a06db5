package web

import (
	"context"
	"errors"
	"strconv"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/filter"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/web/wire"
)

const (
	previewed = 100  // objects that a preview lists
	resulted  = 1000 // results that an answer lists
)

// preview says what a command would touch, and when a recurring downtime would
// begin.
func (s *site) preview(r *operate.Request, objects []object.ID) (wire.Preview, error) {
	p := wire.Preview{Total: len(objects), Items: []wire.Touched{}}
	if later := reach(r); later != "" {
		p.Note = "it touches " + strconv.Itoa(p.Total) + " now, " + later
	}
	for _, id := range objects[:min(len(objects), previewed)] {
		p.Items = append(p.Items, wire.Touched{Object: id})
	}
	if put, ok := r.Program.(program.PutRule); ok && len(put.Rule.Ranges) > 0 {
		var err error
		p.Occurrences, err = s.occurrences(&put.Rule)
		return p, err
	}
	return p, nil
}

// reach says whether a downtime is also for objects that are added later, "" for
// anything else and where the objects are named one by one.
func reach(r *operate.Request) string {
	if c, ok := r.Program.(program.PutRule); ok {
		if c.Rule.WithServices || c.Rule.Group+c.Rule.Filter != "" {
			return "and those that are added later"
		}
		return ""
	}
	if _, ok := r.Command.(fold.ScheduleDowntime); !ok || r.Target.Filter+r.Target.Group == "" {
		return ""
	}
	if f, err := filter.Parse(r.Target.Filter); err == nil {
		if field, _, yes := f.Stateful(); yes {
			return "only those that match now, because the filter asks for " + field
		}
	}
	return "only those that are there now"
}

// accepted says what became of a command. Of very many results those that failed
// come first, so that none of them is left out for the sake of one that did not.
func (s *site) accepted(report *operate.Report) wire.Accepted {
	a := wire.Accepted{ID: report.ID, Total: len(report.Results), Failed: report.Failed(), Results: []wire.Outcome{}}
	passes := []func(operate.Result) bool{func(operate.Result) bool { return true }}
	if a.Total > resulted {
		passes = []func(operate.Result) bool{
			func(r operate.Result) bool { return r.Err != nil }, func(r operate.Result) bool { return r.Err == nil },
		}
	}
	for _, wanted := range passes {
		for _, r := range report.Results {
			if len(a.Results) < resulted && wanted(r) {
				a.Results = append(a.Results, s.result(r))
			}
		}
	}
	return a
}

func (s *site) result(r operate.Result) wire.Outcome {
	o := wire.Outcome{Object: r.Object, Outcome: "done"}
	var refusal *fold.Refusal
	switch {
	case r.Err == nil:
	case errors.As(r.Err, &refusal):
		o.Outcome, o.Detail = "refused", refusal.Text
	case errors.Is(r.Err, ErrInvalid):
		o.Outcome, o.Detail = "refused", why(r.Err)
	case unknownOutcome(r.Err):
		o.Outcome, o.Detail = "unconfirmed", unconfirmed
	case errors.Is(r.Err, ErrUnavailable):
		o.Outcome, o.Detail = "failed", r.Err.Error()
	default:
		s.Logger.Error("command failed", "object", r.Object, "err", r.Err)
		o.Outcome, o.Detail = "failed", "something went wrong here; the log of this process says what"
	}
	return o
}

// unknownOutcome tells whether nobody knows what became of an action: the log did
// not answer in time, or whoever waited went away.
func unknownOutcome(err error) bool {
	return errors.Is(err, ErrUnconfirmed) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
