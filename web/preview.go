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
		p.Note = "it touches " + strconv.Itoa(p.Total) + map[bool]string{true: " object", false: " objects"}[p.Total == 1] + " now, " + later
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

// accepted says what became of a command: a line for each object, and for each
// rule that was cancelled. Of very many those that failed come first, so that none
// of them is left out for the sake of one that was done.
func (s *site) accepted(report *operate.Report, said []aside) wire.Accepted {
	a := wire.Accepted{ID: report.ID, Failed: report.Failed(), Results: []wire.Outcome{}}
	var wrong, fine []wire.Outcome
	ordered := make([]wire.Outcome, 0, len(report.Results))
	for i, r := range report.Results {
		lines := []wire.Outcome{s.result(r)}
		if i < len(said) && r.Err == nil {
			lines = said[i].lines(lines[0])
			if r.Object == "" && said[i].rule == "" && len(said[i].objects) > 0 {
				a.Rule = report.ID
			}
		}
		ordered = append(ordered, lines...)
		if r.Err != nil {
			wrong = append(wrong, lines...)
		} else {
			fine = append(fine, lines...)
		}
	}
	a.Total = len(ordered)
	if a.Total > resulted {
		ordered = append(wrong, fine...)
	}
	a.Results = append(a.Results, ordered[:min(len(ordered), resulted)]...)
	return a
}

// lines returns what the answer says of an action that was done.
func (a *aside) lines(done wire.Outcome) []wire.Outcome {
	var lines []wire.Outcome
	if done.Rule, done.Detail = a.rule, a.detail; a.rule != "" || len(a.objects) == 0 {
		lines = append(lines, done)
	}
	for _, id := range a.objects {
		lines = append(lines, wire.Outcome{Object: id, Rule: a.rule, Outcome: done.Outcome})
	}
	return lines
}

func (s *site) result(r operate.Result) wire.Outcome {
	o := wire.Outcome{Object: r.Object, Outcome: "done"}
	var refusal *fold.Refusal
	switch {
	case r.Err == nil && s.submits():
		o.Outcome = "submitted"
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
