package roles

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"jaque.sh/jaque/appliance/service"
)

// serve serves HTTP and makes the group of all services: it is the last step.
func (a *appliance) serve(h http.Handler, needs ...string) (err error) {
	a.add(onReady(a.listener.Service("http", h, needs...), func() {
		if a.p.Started != nil {
			a.p.Started(a.listener.Addr())
		}
	}))
	a.group, err = service.New(a.p.Logger, a.services)
	return err
}

// serveBare serves metrics and health, for the roles without a dashboard.
func (a *appliance) serveBare(context.Context) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.reg, promhttp.HandlerOpts{Registry: a.reg}))
	alive := func(http.ResponseWriter) []string { return nil }
	for path, missing := range map[string]func(http.ResponseWriter) []string{
		"/livez": alive, "/healthz": alive, "/readyz": func(http.ResponseWriter) []string { return append(a.group.NotReady(), a.trouble()...) },
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { health(w, missing(w)) })
	}
	return a.serve(mux)
}

// health answers 200, or 503 with a line for each thing that is missing.
func health(w http.ResponseWriter, missing []string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	text := "ok\n"
	if len(missing) > 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		text = "not ready: " + strings.Join(missing, "\nnot ready: ") + "\n"
	}
	_, _ = fmt.Fprint(w, text) // whoever asked may be gone
}
