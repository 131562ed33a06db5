package roles

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/probe"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/roles/engine"
)

// newHandlers makes what runs the handlers of one service, and the service's job.
func newHandlers(t *testing.T) (*checks, engine.HandlerJob) {
	t.Helper()
	host := &object.Object{ID: "web", Name: "web", Address: "192.0.2.1", Rule: &object.Rule{}, Vars: map[string]string{"OS": "linux"}}
	o := &object.Object{ID: "web!http", Name: "http", Host: host, Rule: &object.Rule{}}
	set := object.NewSet("g", object.DefaultSettings(), []*object.Object{host, o})
	r, err := probe.New(probe.Options{Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	st := fold.New(o)
	st.Status.State, st.Status.Type, st.Status.Attempt = object.Critical, object.Soft, 2
	st.Measure.Output = "down `touch /tmp/x`; $(id)"
	return newChecks(r, r, projection.New(set), &config.Config{Set: set}), engine.HandlerJob{Object: o, State: &st}
}

func TestAHandlerRunsWithTheMacrosOfItsEvent(t *testing.T) {
	script := filepath.Join(t.TempDir(), "restart")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$1 $NAGIOS_SERVICESTATE $NAGIOS__HOSTOS\"; exit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	x, j := newHandlers(t)
	j.Handler = &object.Handler{Plugin: []string{script, "$HOSTADDRESS$ $SERVICESTATETYPE$ $SERVICEATTEMPT$"}, Environ: true}
	ran := x.Handle(t.Context(), j)
	if ran.Exit != 3 || ran.Problem != "" || ran.Output != "192.0.2.1 SOFT 2 CRITICAL linux" {
		t.Errorf("%+v", ran)
	}
}

func TestAHandlersLineIsCleanedForTheShell(t *testing.T) {
	x, j := newHandlers(t)
	j.Handler = &object.Handler{Shell: "echo $SERVICEOUTPUT$ on $HOSTNAME$ | cat"}
	ran := x.Handle(t.Context(), j)
	if ran.Exit != 0 || !strings.HasPrefix(ran.Output, "down touch /tmp/x id") {
		t.Errorf("%+v", ran)
	}
}

func TestAHandlerThatDoesNotExistSaysSo(t *testing.T) {
	x, j := newHandlers(t)
	j.Handler = &object.Handler{Plugin: []string{"/nowhere/restart"}}
	if ran := x.Handle(t.Context(), j); !ran.NotRun || !strings.Contains(ran.Problem, "does not exist") {
		t.Errorf("%+v", ran)
	}
}
