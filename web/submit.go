package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/web/view"
	"jaque.sh/jaque/web/wire"
)

// ErrUnclaimed is an error of a Submitter: no engine said in time that it has the
// command, and one that is slow may still carry it out. 503
var ErrUnclaimed = errors.New("no engine has claimed the command in time")

// Submitter hands commands to engines elsewhere and does not wait for what becomes
// of them.
type Submitter interface {
	// Submit returns under which id an engine has claimed actions. The errors are
	// those of a Commander, and ErrUnclaimed.
	Submit(ctx context.Context, actions []operate.Action) (id string, err error)
	// Became tells how far a command is; false if it is not known, or not any more.
	Became(id string) (Submission, bool)
}

// SubmissionState is how far a submitted command is.
type SubmissionState string

// The states.
const (
	StateSubmitted   SubmissionState = "submitted"   // an engine has it
	StateApplied     SubmissionState = "applied"     // all of it stands on the log, or there was nothing to change
	StatePartly      SubmissionState = "partly"      // some of it does, the rest was refused or is not confirmed
	StateRefused     SubmissionState = "refused"     // nothing of it was done
	StateUnconfirmed SubmissionState = "unconfirmed" // nothing was heard in time; it may still take effect
)

// Submission is how far a command is, in numbers of its actions.
type Submission struct {
	ID          string
	State       SubmissionState
	At          time.Time
	Total       int
	Applied     int
	Refused     int
	Unconfirmed int
	Failures    []SubmissionFailure // the first of what was refused or is not confirmed
}

// SubmissionFailure is an action that was not done, or of which nobody knows.
type SubmissionFailure struct {
	Object      object.ID // "" = the whole program
	Why         string
	Unconfirmed bool
}

// takesCommands tells whether this process carries commands out or hands them on.
func (s *site) takesCommands() bool { return s.Commands != nil || s.Submit != nil }

// submits tells whether commands are handed on, so that nil as the error of a result
// says that an engine has the action, not that it is done.
func (s *site) submits() bool { return s.Commands == nil && s.Submit != nil }

// readsOnly says why this process takes no command.
func (s *site) readsOnly() string {
	if s.ReadsOnly != "" {
		return s.ReadsOnly
	}
	return "this process only reads; send the command to an engine"
}

// submit hands actions on.
func (s *site) submit(ctx context.Context, actions []operate.Action) (operate.Report, error) {
	id, err := s.Submit.Submit(ctx, actions)
	report := operate.Report{ID: id}
	if err != nil {
		return report, s.outcome(err)
	}
	report.Results = make([]operate.Result, len(actions))
	for i := range actions {
		report.Results[i].Object = actions[i].Object
	}
	return report, nil
}

// Bounds of what is kept of commands for whoever asks by id.
const (
	mostKept     = 1000
	mostFailures = 20 // of one
)

// kept is what became of the last commands that this process carried out itself.
type keptCommands struct {
	mu    sync.Mutex
	byID  map[string]Submission
	order []string
}

func (k *keptCommands) put(c Submission) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byID == nil {
		k.byID = map[string]Submission{}
	}
	k.byID[c.ID] = c
	if k.order = append(k.order, c.ID); len(k.order) > mostKept {
		delete(k.byID, k.order[0])
		k.order = k.order[1:]
	}
}

func (k *keptCommands) get(id string) (Submission, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c, ok := k.byID[id]
	return c, ok
}

// keep remembers what became of a command that was carried out here.
func (s *site) keep(report *operate.Report) {
	if s.submits() || report.ID == "" {
		return
	}
	c := Submission{ID: report.ID, At: s.Now(), Total: len(report.Results)}
	for _, r := range report.Results {
		said := s.result(r)
		switch {
		case r.Err == nil:
			c.Applied++
			continue
		case said.Outcome == "unconfirmed":
			c.Unconfirmed++
		default:
			c.Refused++
		}
		if len(c.Failures) < mostFailures {
			c.Failures = append(c.Failures, SubmissionFailure{Object: r.Object, Why: said.Detail, Unconfirmed: said.Outcome == "unconfirmed"})
		}
	}
	switch c.Total {
	case c.Applied:
		c.State = StateApplied
	case c.Refused:
		c.State = StateRefused
	case c.Unconfirmed:
		c.State = StateUnconfirmed
	default:
		c.State = StatePartly
	}
	s.kept.put(c)
}

// became tells how far a command is that was sent here.
func (s *site) became(id string) (Submission, bool) {
	if s.submits() {
		return s.Submit.Became(id)
	}
	return s.kept.get(id)
}

// oneCommand answers how far a command is.
func (s *site) oneCommand(w http.ResponseWriter, r *http.Request) error {
	if err := parameters(r); err != nil {
		return err
	}
	c, ok := s.became(r.PathValue("id"))
	if !ok {
		return faultf(http.StatusNotFound, "nothing is known here of a command %q; each process knows the last %d that were sent to it, /api/v1/events has the others",
			short(r.PathValue("id")), mostKept)
	}
	a := wire.Submission{
		ID: c.ID, State: string(c.State), Submitted: wire.Stamp(c.At),
		Total: c.Total, Applied: c.Applied, Refused: c.Refused, Unconfirmed: c.Unconfirmed, Results: []wire.Outcome{},
	}
	for _, f := range c.Failures {
		o := wire.Outcome{Object: f.Object, Outcome: "refused", Detail: f.Why}
		if f.Unconfirmed {
			o.Outcome = "unconfirmed"
		}
		a.Results = append(a.Results, o)
	}
	return s.json(w, r, a)
}

// located tells where one can ask for the command of an answer.
func located(h http.Header, body []byte) {
	var a struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(body, &a) == nil && a.ID != "" {
		h.Set("Location", root+"/commands/"+url.PathEscape(a.ID))
	}
}

// waiting tells whether the page after a command waits for what becomes of it.
func (s *site) waiting(r *http.Request) (id string, ok bool) {
	if id = r.URL.Query().Get("did"); id == "" || !s.submits() {
		return "", false
	}
	c, known := s.Submit.Became(id)
	return id, known && c.State == StateSubmitted
}

// settled returns what became of a command that was handed on, as far as it is known
// now.
func (s *site) settled(id string, o *outcome) *outcome {
	if !s.submits() || o == nil {
		return o
	}
	c, ok := s.Submit.Became(id)
	if !ok {
		return o
	}
	now := *o
	now.counts = map[string]int{"submitted": c.Total - c.Applied - c.Refused - c.Unconfirmed, "done": c.Applied, "refused": c.Refused, "not confirmed": c.Unconfirmed}
	for word, n := range o.counts {
		if word == "refused" {
			now.counts[word] += n // what was not there when it was sent
		}
	}
	wrong := make(map[object.ID]SubmissionFailure, len(c.Failures))
	for _, f := range c.Failures {
		wrong[f.Object] = f
	}
	rest := restWord(&c)
	now.results = make([]view.Result, 0, len(o.results))
	for _, line := range o.results {
		if line.Word != "submitted" {
			now.results = append(now.results, line)
			continue
		}
		word, detail := rest, ""
		f, bad := wrong[line.ID()]
		switch {
		case bad && f.Unconfirmed:
			word, detail = "not confirmed", sentence(f.Why)
		case bad:
			word, detail = "refused", sentence(f.Why)
		case word == "not confirmed":
			detail = sentence(unconfirmed)
		}
		now.results = append(now.results, line.Is(word, detail))
	}
	return &now
}

// restWord says what holds of the actions of a command that are not among its
// failures.
func restWord(c *Submission) string {
	switch {
	case c.State == StateRefused:
		return "refused"
	case c.State == StateSubmitted:
		return "submitted"
	case c.Unconfirmed > 0 && c.Applied == 0:
		return "not confirmed"
	}
	return "done"
}

// submittedText says that a command is under way.
func submittedText(heading, name string) string {
	return fmt.Sprintf("%s: submitted for %s. An engine has it; this page says so when it is applied.", heading, name)
}

// handedOn is what the page says after a command for one object that an engine has.
func handedOn(command string, id object.ID) *outcome {
	return &outcome{
		command: command, back: view.URL(id), counts: map[string]int{"submitted": 1},
		results: []view.Result{view.NewResult(id, "submitted", "")},
	}
}
