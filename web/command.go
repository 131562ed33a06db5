package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/operate"
)

// largest is how many bytes a command may have: output of 64 KiB, escaped.
const largest = 512 << 10

// request is the body of a command.
type request struct {
	Command  string          `json:"command"`
	Object   object.ID       `json:"object"`
	State    json.RawMessage `json:"state"` // submit-result: name or plugin exit code
	Output   string          `json:"output"`
	Long     string          `json:"long_output"`
	Perfdata string          `json:"perfdata"`
}

// later are commands of the stable API that this release cannot do.
var later = []string{
	"acknowledge", "remove-acknowledgement", "schedule-downtime", "cancel-downtime", "add-comment",
	"delete-comment", "enable", "disable", "notify",
}

func (s *site) command(w http.ResponseWriter, r *http.Request) error {
	if err := s.mayWrite(r); err != nil {
		return err
	}
	if err := parameters(r); err != nil {
		return err
	}
	q, err := readCommand(w, r)
	if err != nil {
		return err
	}
	known := []string{"check-now", "submit-result"}
	switch q.Command {
	case "check-now", "submit-result":
	case "":
		f := faultf(http.StatusBadRequest, "command is missing; write one of %s", strings.Join(known, ", "))
		f.Known = known
		return f
	default:
		f := faultf(http.StatusBadRequest, "no command is called %q; write one of %s", q.Command, strings.Join(known, ", "))
		for _, name := range later {
			if q.Command == name {
				f.Detail = fmt.Sprintf("%s is not available in this release", name)
			}
		}
		f.Known = known
		return f
	}
	id, err := s.run(r, q)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	s.sent(r, json.NewEncoder(w).Encode(map[string]string{"id": id}))
	return nil
}

func readCommand(w http.ResponseWriter, r *http.Request) (request, error) {
	var q request
	// A foreign page cannot send this type without asking first.
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return q, faultf(http.StatusBadRequest, "the body is %q; send application/json", r.Header.Get("Content-Type"))
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largest))
	if err != nil {
		return q, unread(err)
	}
	return decodeCommand(data)
}

// unread is the fault for a body that could not be read.
func unread(err error) error {
	var big *http.MaxBytesError
	if errors.As(err, &big) {
		return faultf(http.StatusRequestEntityTooLarge, "the body is larger than the %d bytes that are read; send less", big.Limit)
	}
	return faultf(http.StatusBadRequest, "the body ended too early; send it again")
}

// run hands a command to the engine.
func (s *site) run(r *http.Request, q request) (string, error) {
	if q.Object == "" {
		return "", faultf(http.StatusBadRequest, `object is missing; write "host" or "host!service"`)
	}
	item, ok := s.Projection.Get(q.Object)
	if !ok {
		return "", s.unknown(q.Object)
	}
	var result fold.Result
	if q.Command == "submit-result" {
		var err error
		if result, err = q.result(item.Object.Kind()); err != nil {
			return "", err
		}
		result.Start = object.At(s.Now())
	} else if q.State != nil || q.Output != "" || q.Long != "" || q.Perfdata != "" {
		return "", faultf(http.StatusBadRequest, "check-now takes nothing but object; use submit-result for a result")
	}
	if s.Commands == nil {
		return "", faultf(http.StatusServiceUnavailable, "this process only reads; send the command to an engine")
	}
	action := operate.Action{Object: q.Object, Command: fold.Reschedule{Forced: true}}
	if q.Command == "submit-result" {
		action.Command = result
	}
	report, err := s.Commands.Do(r.Context(), []operate.Action{action})
	id := report.ID
	if err == nil && len(report.Results) == 1 {
		err = report.Results[0].Err
	}
	switch {
	case errors.Is(err, ErrUnavailable):
		return "", faultf(http.StatusServiceUnavailable, "%v; try again", err)
	case errors.Is(err, ErrInvalid):
		return "", faultf(http.StatusBadRequest, "%v", err)
	case err != nil:
		return "", fmt.Errorf("%s %s: %w", q.Command, q.Object, err)
	}
	s.Logger.Info("command taken", "command", q.Command, "object", q.Object, "id", id, "from", r.RemoteAddr)
	return id, nil
}

// result reads the result of a submit-result.
func (q *request) result(k object.Kind) (fold.Result, error) {
	res := fold.Result{Passive: true, Output: q.Output, Long: q.Long, Perfdata: q.Perfdata}
	names := "OK, WARNING, CRITICAL, UNKNOWN"
	if k == object.Host {
		names = "UP, DOWN, UNREACHABLE"
	}
	bad := faultf(http.StatusBadRequest, "state is %s; write one of %s", orMissing(q.State), names)
	var name string
	var code int
	switch {
	case json.Unmarshal(q.State, &name) == nil:
		state, err := object.ParseState(k, strings.ToUpper(name))
		if err != nil {
			return res, bad
		}
		res.State = state
	case json.Unmarshal(q.State, &code) == nil && code >= 0 && code <= 3 && (k == object.Service || code < 3):
		res.State = object.State(code)
	default:
		return res, bad
	}
	if first, rest, cut := strings.Cut(res.Output, "\n"); cut {
		res.Output = first
		res.Long = strings.TrimPrefix(rest+"\n"+res.Long, "\n")
		res.Long = strings.TrimSuffix(res.Long, "\n")
	}
	return res, nil
}

func orMissing(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "missing"
	}
	return string(raw)
}
