package web

import (
	"fmt"
	"net/http"
	"strings"
)

// livez answers 200 while the process runs with all its parts, 503 as soon as one of
// them has ended by itself: nobody may count on a process that is on its way out.
func (s *site) livez(w http.ResponseWriter, r *http.Request) error {
	s.sent(r, Health(w, s.Failed(), nil))
	return nil
}

// readyz answers 200 once every part is ready, else 503 with one line for
// each that is not.
func (s *site) readyz(w http.ResponseWriter, r *http.Request) error {
	s.sent(r, Health(w, s.Failed(), s.Unready()))
	return nil
}

// Health answers a question after health: 200, or 503 with a line for the part that
// failed, if one has, and for each that is not ready. Why it failed stands in the
// process's log: anybody may ask here. The error is that of writing.
func Health(w http.ResponseWriter, failed string, unready []string) error {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	var text strings.Builder
	if failed != "" {
		fmt.Fprintf(&text, "failed: %s\n", failed)
	}
	for _, name := range unready {
		fmt.Fprintf(&text, "not ready: %s\n", name)
	}
	if text.Len() == 0 {
		text.WriteString("ok\n")
	} else {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, err := fmt.Fprint(w, text.String())
	return err
}

func (s *site) serveMetrics(w http.ResponseWriter, r *http.Request) error {
	if s.Metrics == nil {
		return faultf(http.StatusNotFound, "this process has no metrics")
	}
	s.Metrics.ServeHTTP(w, r)
	return nil
}
