package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/web/wire"
)

const streamHelp = "events as they are folded (server-sent events), resumed by Last-Event-ID. Every decision is told; measurements " +
	"that a killed process had not yet saved are lost, and the next one uses their numbers again. An event named open begins a stream " +
	"without a position; one named behind ends the stream of a client that did not keep up: come back with the last id"

// positionParams are the two ways to say where a stream goes on.
func positionParams() []wire.Param {
	return []wire.Param{
		{Name: "after", Type: "string", Help: "id of an event to start behind, 0 for the beginning of the log; default now. An id is the position " +
			"in the log, in the results and the run of the process that told it, as in 37-2.k3f9a2. Of another run, or without one, the " +
			"results are told from where this run found their end, if the position lies behind it. 400 if the log is shorter than the " +
			"position: it is of another log"},
		{Name: "Last-Event-ID", In: "header", Type: "string", Help: "the same; browsers send it by themselves. It counts over after"},
	}
}

// resumeAt returns the position that a client goes on behind. What it says of
// the results counts only as far as this process can vouch for it: numbers that
// an earlier one gave and lost are given again, and must be told again.
func (s *site) resumeAt(ctx context.Context, text string) (journal.Position, error) {
	at, run, err := parsePosition(text)
	if err != nil {
		return at, err
	}
	if s.History == nil {
		return at, faultf(http.StatusServiceUnavailable, "this process has no event log to resume from; leave the position out")
	}
	end, err := s.History.End(ctx)
	if err != nil {
		return at, fmt.Errorf("find the end of the log: %w", err)
	}
	if at.Log > end.Log {
		return at, faultf(http.StatusBadRequest,
			"position %s is from another log: this one ends at %d; leave the position out to go on from now, or write 0 for the beginning", text, end.Log)
	}
	known := end.Results
	if run == "" || run != s.Instance {
		known = s.History.Opened().Results
	}
	at.Results = min(at.Results, known)
	return at, nil
}

// eventID writes a position as the id of an event: log, results, run.
func (s *site) eventID(p journal.Position) string {
	if s.Instance == "" {
		return formatPosition(p)
	}
	return formatPosition(p) + "." + s.Instance
}

func formatPosition(p journal.Position) string { return fmt.Sprintf("%d-%d", p.Log, p.Results) }

// parsePosition reads the id of an event and the run that it names, "" if none.
func parsePosition(text string) (journal.Position, string, error) {
	var p journal.Position
	if text == "0" {
		return p, "", nil
	}
	place, run, named := strings.Cut(text, ".")
	n, err := fmt.Sscanf(place, "%d-%d", &p.Log, &p.Results)
	if err != nil || n != 2 || formatPosition(p) != place || named != (run != "") || strings.ContainsFunc(run, notOfRun) {
		return p, "", faultf(http.StatusBadRequest, "position is %q; write the id of an event, as in 17-2040.k3f9a2, or 0 for the beginning", text)
	}
	return p, run, nil
}

func notOfRun(r rune) bool {
	return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}
