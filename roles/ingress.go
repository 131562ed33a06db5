package roles

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/ingress"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/appliance/service"
	"jaque.sh/jaque/roles/engine"
	"jaque.sh/jaque/web"
)

// ingressStop bounds the wait for submitted commands that are under way at a stop.
const ingressStop = 15 * time.Second

// takeCommands makes what claims commands that other processes submit: on the server
// of the coordination, else on the log's if others can reach one.
func (a *appliance) takeCommands(ctx context.Context) error {
	b, err := a.ingressBus(ctx)
	if b == nil || err != nil {
		return err
	}
	s, err := ingress.NewServer(b.Conn(), ingress.ServerOptions{
		ID: a.s.EngineID, Engine: taker{a.engine}, Logger: a.p.Logger, Registerer: a.reg,
		Over: a.over,
	})
	if err != nil {
		return err
	}
	a.add(service.Service{Name: "ingress", Needs: a.names(), StopTimeout: ingressStop, Run: s.Run})
	return nil
}

// ingressBus returns the connection on which commands are submitted, nil if there is
// none.
func (a *appliance) ingressBus(ctx context.Context) (*bus.Bus, error) {
	if a.s.Coordination == "memory" {
		return a.bus, nil
	}
	b, err := a.link(ctx, "ingress-server", a.s.Coordination)
	if err != nil {
		return nil, fmt.Errorf("connect for the commands of other processes: %w", err)
	}
	return b, nil
}

// taker carries out what others submitted.
type taker struct{ engine *engine.Engine }

// Take carries out a command under its own id. What was refused goes on the log too,
// because whoever submitted it may be gone.
func (t taker) Take(ctx context.Context, c *ingress.Command) []ingress.Failure {
	report, err := t.engine.DoAs(ctx, c.ID, c.Actions)
	if err != nil { // nothing was begun
		report.Results = make([]operate.Result, len(c.Actions))
		for i := range c.Actions {
			report.Results[i] = operate.Result{Object: c.Actions[i].Object, Err: err}
		}
	}
	failures, refused := failuresOf(report.Results)
	if len(refused) > 0 {
		facts := map[string]string{
			ingress.FactCommand: c.ID, ingress.FactTotal: strconv.Itoa(len(c.Actions)), ingress.FactRefused: strconv.Itoa(len(refused)),
		}
		if n := len(failures) - len(refused); n > 0 {
			facts[ingress.FactUnknown] = strconv.Itoa(n)
		}
		t.engine.Reject(engine.Rejection{Author: c.Author(), Reason: refused[0].Why, Object: refused[0].Object, Facts: facts})
	}
	return failures
}

// failuresOf returns what was not done, or is not known to be, and of it what surely
// was not.
func failuresOf(results []operate.Result) (failures, refused []ingress.Failure) {
	for i, r := range results {
		if r.Err == nil {
			continue
		}
		f := ingress.Failure{Index: i, Object: r.Object, Why: reason(r.Err)}
		f.Unknown = errors.Is(r.Err, engine.ErrUnconfirmed) || errors.Is(r.Err, context.Canceled) || errors.Is(r.Err, context.DeadlineExceeded)
		if failures = append(failures, f); !f.Unknown {
			refused = append(refused, f)
		}
	}
	return failures, refused
}

// reason says what was refused, without the words that say only that it was.
func reason(err error) string {
	var r *fold.Refusal
	if errors.As(err, &r) {
		return r.Text
	}
	return err.Error()
}

// submitting is how this process hands the web's commands to the engines.
type submitting struct {
	client  *ingress.Client
	tracker *ingress.Tracker
}

// openSubmitting connects to where engines take commands; without -coordination
// there is no such place.
func (a *appliance) openSubmitting(ctx context.Context) error {
	if !external(a.s.Coordination) {
		return nil
	}
	b, err := a.ingressBus(ctx)
	if err != nil {
		return err
	}
	s := &submitting{tracker: ingress.NewTracker(time.Now)}
	s.client, err = ingress.NewClient(b.Conn(), ingress.ClientOptions{
		From: a.s.Host, Ended: s.tracker.Ended, Logger: a.p.Logger, Registerer: a.reg,
	})
	if err != nil {
		return err
	}
	a.submitting, a.heard = s, append(a.heard, s.tracker.See)
	a.add(service.Service{Name: "commands", Needs: a.names(), Run: s.client.Run})
	return nil
}

// Submit hands actions to the engines; see web.Submitter.
func (s *submitting) Submit(ctx context.Context, actions []operate.Action) (string, error) {
	id := ingress.NewID()
	s.tracker.Add(id, len(actions))
	err := s.client.Submit(ctx, id, actions)
	switch {
	case err == nil:
		return id, nil
	case errors.Is(err, ingress.ErrUnclaimed):
		return id, fmt.Errorf("%w: %w", web.ErrUnclaimed, err)
	}
	s.tracker.Drop(id)
	if errors.Is(err, ingress.ErrRefused) {
		return "", fmt.Errorf("%w: %w", web.ErrInvalid, err)
	}
	return "", fmt.Errorf("%w: %w", web.ErrUnavailable, err)
}

// Became tells how far a command is; see web.Submitter.
func (s *submitting) Became(id string) (web.Submission, bool) {
	p, ok := s.tracker.Look(id)
	out := web.Submission{
		ID: p.ID, State: web.SubmissionState(p.Stage), At: p.At, Total: p.Total, Applied: p.Applied, Refused: p.Refused, Unconfirmed: p.Unknown,
	}
	for _, f := range p.Failures {
		out.Failures = append(out.Failures, web.SubmissionFailure{Object: f.Object, Why: f.Why, Unconfirmed: f.Unknown})
	}
	return out, ok
}
