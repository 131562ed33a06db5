package roles

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/cluster"
	"jaque.sh/jaque/appliance/service"
	"jaque.sh/jaque/web"
)

// Witness is no role of -target: it is the embedded server alone, as one more vote and
// one more copy of everything for two appliances. It has no config and no engine.
const Witness Name = "witness"

// RunWitness runs the witness whose data folder the settings name, until ctx ends. Of
// the settings it uses Data, Listen and those of the log lines.
func RunWitness(ctx context.Context, s Settings, p Process) error {
	m, err := cluster.Read(s.Data)
	switch {
	case errors.Is(err, cluster.ErrNone):
		return fmt.Errorf("%w: write `jaque cluster token -witness` at a member and `jaque cluster join TOKEN` here first", err)
	case err != nil:
		return err
	case !m.Witness:
		return fmt.Errorf("%s is the data folder of member %s of cluster %s, which runs an engine; start it with: jaque -data %s", s.Data, m.ID, m.Cluster, s.Data)
	}
	s.Role, s.EventLog, s.Coordination, s.EngineID = Role{Name: Witness, OwnLog: true, Released: true}, "embedded", "embedded", m.ID
	s.NATS, s.member = NATS{ClusterName: m.Cluster, ClusterListen: m.Listen, ClusterPeers: m.Peers}, true
	s.lost = m.Lost
	a := &appliance{s: s, p: p, started: time.Now(), reg: prometheus.NewRegistry()}
	return a.keepWatch(ctx)
}

// keepWatch puts the witness together and runs it.
func (a *appliance) keepWatch(ctx context.Context) error {
	for _, do := range []step{a.begin, a.openListener, a.openWitness, a.openDoor, a.serveBare} {
		if err := do(ctx); err != nil && (ctx.Err() == nil || !errors.Is(err, ctx.Err())) {
			return errors.Join(err, a.cleanUp())
		}
		if ctx.Err() != nil {
			a.p.Logger.Info("stopping", "reason", context.Cause(ctx).Error())
			return a.cleanUp()
		}
	}
	return causeOfEnd(a.group.Run(ctx))
}

// openWitness opens the server without a reader of the log.
func (a *appliance) openWitness(ctx context.Context) error {
	o, err := a.busOptions("embedded")
	if err != nil {
		return err
	}
	if a.bus, err = bus.Open(ctx, o); err != nil {
		return err
	}
	a.undo = append(a.undo, func() error { return a.bus.Close(context.Background()) })
	a.troubles = append(a.troubles, a.bus.Trouble)
	a.add(service.Service{Name: "bus", StopTimeout: 30 * time.Second, Run: a.bus.Run})
	return nil
}

// answerUnready answers while a member waits for the cluster: it lives, and serves
// nothing yet.
func (a *appliance) answerUnready() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { _ = web.Health(w, "", nil) })
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _ = web.Health(w, "", nil) })
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		what := "waiting for the other members of the cluster"
		if more := a.waiting.Load(); more != nil {
			what = *more
		}
		_ = web.Health(w, "", []string{what})
	})
	a.listener.Early(mux)
}
