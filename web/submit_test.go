package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/web/sample"
	"jaque.sh/jaque/web/view"
)

// elsewhere takes every command and says what it is told.
type elsewhere struct {
	err   error
	state Submission
}

func (e *elsewhere) Submit(context.Context, []operate.Action) (string, error) { return "c1", e.err }

func (e *elsewhere) Became(id string) (Submission, bool) {
	s := e.state
	s.ID, s.At = id, time.Unix(0, 0)
	return s, id == "c1"
}

func TestWhatBecameOfASubmittedCommandIsSaidOfItsObject(t *testing.T) {
	failed := []SubmissionFailure{{Object: "web01", Why: "it is up"}}
	for _, c := range []struct {
		state Submission
		want  string
	}{
		{Submission{State: StateSubmitted, Total: 1}, "submitted"},
		{Submission{State: StateApplied, Total: 1, Applied: 1}, "done"},
		{Submission{State: StateRefused, Total: 1, Refused: 1, Failures: failed}, "refused It is up."},
		{Submission{State: StateUnconfirmed, Total: 1, Unconfirmed: 1}, "not confirmed"},
	} {
		t.Run(string(c.state.State), func(t *testing.T) {
			s := &site{Options: Options{Submit: &elsewhere{state: c.state}}}
			sent := operate.Report{ID: "c1", Results: []operate.Result{{Object: "web01"}}}
			if got := s.result(sent.Results[0]).Outcome; got != "submitted" {
				t.Errorf("at first it is %q, want submitted", got)
			}
			o := &outcome{counts: map[string]int{"submitted": 1}}
			o.results = append(o.results, view.NewResult("web01", "submitted", ""))
			line := s.settled("c1", o).results[0]
			if got := strings.TrimSpace(line.Word + " " + line.Detail); !strings.HasPrefix(got, c.want) {
				t.Errorf("then it is %q, want %q", got, c.want)
			}
		})
	}
}

func TestWhyACommandWasNotSubmittedIsTold(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		want   string
	}{
		{fmt.Errorf("%w: no engine takes commands", ErrUnavailable), http.StatusServiceUnavailable, "no engine takes commands"},
		{ErrUnclaimed, http.StatusServiceUnavailable, "may still carry it out"},
		{fmt.Errorf("%w: too big", ErrInvalid), http.StatusBadRequest, "too big"},
	} {
		s := &site{Options: Options{Submit: &elsewhere{err: c.err}}}
		_, err := s.carryOut(t.Context(), make([]operate.Action, 1))
		if f := asFault(err); f == nil || f.Status != c.status || !strings.Contains(f.Detail, c.want) {
			t.Errorf("%v is told as %v, want %d with %q", c.err, err, c.status, c.want)
		}
	}
}

func TestTheOldestCommandsThatWereCarriedOutAreForgotten(t *testing.T) {
	s := &site{Options: Options{Now: time.Now, Commands: &commands{}}}
	for i := range mostKept + 1 {
		s.keep(&operate.Report{ID: fmt.Sprint("c", i), Results: []operate.Result{{Object: "a"}, {Object: "b", Err: ErrInvalid}}})
	}
	if _, ok := s.became("c0"); ok {
		t.Error("the first of them is known still")
	}
	if c, ok := s.became("c1"); !ok || c.State != StatePartly || c.Applied != 1 || c.Refused != 1 || len(c.Failures) != 1 {
		t.Errorf("the second is %+v (%t), want partly", c, ok)
	}
}

func TestTheCheckButtonLeadsToWhatBecomesOfTheCommand(t *testing.T) {
	e := &elsewhere{state: Submission{State: StateSubmitted, Total: 1}}
	o := options(sample.Office())
	o.Commands, o.Submit = nil, e
	srv := serve(t, o)
	resp, _ := ask(t, http.MethodPost, srv.URL+"/services/web03/disk/check", "", "Content-Type", "application/x-www-form-urlencoded")
	if to := resp.Header.Get("Location"); resp.StatusCode != http.StatusSeeOther || to != "/services/web03/disk?did=c1" {
		t.Fatalf("the button leads to %q: %s", to, resp.Status)
	}
	for _, c := range []struct {
		state Submission
		want  string
	}{
		{Submission{State: StateSubmitted, Total: 1}, "submitted for"},
		{Submission{State: StateApplied, Total: 1, Applied: 1}, "will be checked"},
		{Submission{State: StateRefused, Total: 1, Refused: 1, Failures: []SubmissionFailure{{Object: "web03!disk", Why: "it has no check"}}}, "refused. It has no check."},
	} {
		e.state = c.state
		if _, page := ask(t, http.MethodGet, srv.URL+"/services/web03/disk?did=c1", ""); !strings.Contains(page, c.want) {
			t.Errorf("%s: the page does not say %q", c.state.State, c.want)
		}
	}
}
