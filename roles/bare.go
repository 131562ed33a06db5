package roles

import (
	"context"
	"errors"
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"jaque.sh/jaque/appliance/rule/veil"
	"jaque.sh/jaque/appliance/service"
	"jaque.sh/jaque/web"
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
	alive := func() []string { return nil }
	for path, missing := range map[string]func() []string{
		"/livez": alive, "/healthz": alive, "/readyz": func() []string { return a.withPeers(append(a.group.NotReady(), a.trouble()...)) },
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			_ = web.Health(w, a.failed(), missing()) // whoever asked may be gone
		})
	}
	return a.serve(mux)
}

// answerEarly answers for a process that waits for an engine to make the log: it lives,
// and serves nothing yet.
func (a *appliance) answerEarly(context.Context) error {
	a.waitsFor("connecting to the log server " + veil.Servers(a.s.EventLog))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { _ = web.Health(w, "", nil) })
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _ = web.Health(w, "", nil) })
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		_ = web.Health(w, "", []string{*a.waiting.Load()})
	})
	a.listener.Early(mux)
	return nil
}

// waitsFor notes what the start waits for.
func (a *appliance) waitsFor(what string) { a.waiting.Store(&what) }

// failed is the service that ended by itself, "" while none has.
func (a *appliance) failed() string {
	var e *service.Error
	if errors.As(a.group.Err(), &e) {
		return e.Service
	}
	return ""
}
