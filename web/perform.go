package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/operate"
)

// unasked is how many objects a command may touch that names them by a group, a
// filter or a scope, before it must be confirmed with their number.
const unasked = 50

// world returns what requests are read against: how things stand now.
func (s *site) world() *operate.World {
	return &operate.World{
		Set: s.Projection.Set(), State: s.Projection.State, Extras: s.Projection.Extras(), Program: s.Projection.Program(),
		Now: object.At(s.Now()),
	}
}

// plan returns the actions of a request, at least one. An error is a fault.
func (s *site) plan(r *operate.Request) ([]operate.Action, error) {
	w := s.world()
	var actions []operate.Action
	var err error
	switch c := r.Command.(type) {
	case fold.CancelDowntimes:
		actions, err = cancels(w, r, c)
	case fold.RemoveComments:
		if c.ID != "" {
			actions, err = w.ByComment(c.ID, c.Author)
			err = within("id", err)
			break
		}
		actions, err = operate.Plan(w, r)
	case nil:
		// Whom a rule is for stands in the rule; the target is for counting.
		actions, err = operate.Plan(w, &operate.Request{Program: r.Program})
	default:
		actions, err = operate.Plan(w, r)
	}
	return actions, refused(err)
}

// touched returns the objects that a planned request is about, each once: those
// of its actions, those that a rule would be for now, or those with a downtime of a
// rule that goes.
func (s *site) touched(r *operate.Request, actions []operate.Action) ([]object.ID, error) {
	var ids []object.ID
	if _, ok := r.Program.(program.PutRule); ok {
		objects, err := s.world().Objects(&r.Target)
		for _, o := range objects {
			ids = append(ids, o.ID)
		}
		return ids, refused(err)
	}
	seen := make(map[object.ID]bool, len(actions))
	add := func(id object.ID) {
		if id != "" && !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	for _, a := range actions {
		add(a.Object)
		if c, ok := a.Program.(program.RemoveRule); ok {
			for _, id := range s.madeBy(c.ID) {
				add(id)
			}
		}
	}
	return ids, nil
}

// confirmation refuses a command for more objects than may be touched unasked,
// and one that was confirmed for another number: what matches has changed since.
func confirmation(q *request, touched int) error {
	confirmed, err := q.confirmed()
	if err != nil {
		return err
	}
	widened := q.Group != "" || q.Filter != "" || q.Scope != ""
	var f *fault
	switch {
	case confirmed == touched, confirmed < 0 && (!widened || touched <= unasked):
		return nil
	case confirmed < 0:
		f = badField("confirm", "the command touches %d objects, more than %d; send it again with confirm: %d", touched, unasked, touched)
	default:
		f = badField("confirm", "the command touches %d objects now, not %d; look at the preview again, then send confirm: %d", touched, confirmed, touched)
	}
	f.Status, f.Title, f.Total = http.StatusConflict, http.StatusText(http.StatusConflict), &touched
	return f
}

// carryOut hands actions to the engine. An error is that of the whole, as a
// fault where the client can do something about it; that of each action stands
// in the report.
func (s *site) carryOut(ctx context.Context, actions []operate.Action) (operate.Report, error) {
	switch {
	case !s.takesCommands():
		return operate.Report{}, faultf(http.StatusServiceUnavailable, "%s", s.readsOnly())
	case s.submits():
		return s.submit(ctx, actions)
	}
	report, err := s.Commands.Do(ctx, actions)
	return report, s.outcome(err)
}

// outcome turns an error of the engine into a fault; an internal one stays as it
// is, because its text is not for the client.
func (s *site) outcome(err error) error {
	var r *fold.Refusal
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrUnclaimed):
		return faultf(http.StatusServiceUnavailable, "%s", unclaimed)
	case unknownOutcome(err): // also of an engine that ends meanwhile
		return faultf(http.StatusServiceUnavailable, "%s", unconfirmed)
	case errors.Is(err, ErrUnavailable):
		return faultf(http.StatusServiceUnavailable, "%v; try again", err)
	case errors.As(err, &r) && r.Object != "":
		return faultf(http.StatusBadRequest, "%s: %s", r.Object, r.Text)
	case errors.As(err, &r):
		return faultf(http.StatusBadRequest, "%s", r.Text)
	case errors.Is(err, ErrInvalid):
		return faultf(http.StatusBadRequest, "%s", why(err))
	}
	return fmt.Errorf("carry out: %w", err)
}

// unconfirmed says what to do about a command whose outcome is not known.
const unconfirmed = "the log has not confirmed it yet and it may still take effect; look at the object before you send it again"

// unclaimed says the same of a command that no engine claimed.
const unclaimed = "no engine takes commands: none has claimed this one in time. One that is slow may still carry it out; look at the object before you send it again"

// why says what an engine refused, without the words that say only that it did.
func why(err error) string {
	if text, more := strings.CutPrefix(err.Error(), ErrInvalid.Error()+": "); more {
		return text
	}
	return err.Error()
}

// run carries out a command for one object from a form. It returns the id that
// names it on the log.
func (s *site) run(r *http.Request, q request) (string, error) {
	wish, err := s.wish(&q)
	if err != nil {
		return "", err
	}
	actions, err := s.plan(&wish)
	if err != nil {
		return "", err
	}
	report, err := s.perform(r, &q, actions)
	return report.ID, err
}

// perform carries out planned actions and writes what was asked for to the log
// of the process. A single action that fails is the failure of the whole.
func (s *site) perform(r *http.Request, q *request, actions []operate.Action) (operate.Report, error) {
	report, err := s.carryOut(r.Context(), actions)
	if err == nil && len(actions) == 1 && len(report.Results) == 1 && len(q.missing) == 0 {
		err = s.outcome(report.Results[0].Err)
	}
	if err != nil {
		return report, err
	}
	report.Results = append(report.Results, q.missing...)
	s.keep(&report)
	s.Logger.Info("command taken", "command", q.Command, "object", actions[0].Object, "actions", len(actions),
		"failed", report.Failed(), "author", q.Author, "id", report.ID, "from", r.RemoteAddr)
	return report, nil
}
