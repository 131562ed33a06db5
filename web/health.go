package web

import (
	"fmt"
	"net/http"
	"strings"
)

// livez answers that the process runs.
func (s *site) livez(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := fmt.Fprintln(w, "ok")
	s.sent(r, err)
	return nil
}

// readyz answers 200 once every part is ready, else 503 with one line for
// each that is not.
func (s *site) readyz(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	text := "ok\n"
	if missing := s.Unready(); len(missing) > 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		text = "not ready: " + strings.Join(missing, "\nnot ready: ") + "\n"
	}
	_, err := fmt.Fprint(w, text)
	s.sent(r, err)
	return nil
}

func (s *site) serveMetrics(w http.ResponseWriter, r *http.Request) error {
	if s.Metrics == nil {
		return faultf(http.StatusNotFound, "this process has no metrics")
	}
	s.Metrics.ServeHTTP(w, r)
	return nil
}
