package roles

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/probe"
	"jaque.sh/jaque/appliance/queue"
	"jaque.sh/jaque/appliance/remote"
	"jaque.sh/jaque/appliance/rule/veil"
	"jaque.sh/jaque/appliance/service"
)

// makeWorker makes what takes checks from the queue and executes them. It has no
// config: plugins are looked for where distributions and hand-made installations
// put them, everything else travels with the check.
func (a *appliance) makeWorker(ctx context.Context) error {
	q, err := a.jetQueue(ctx)
	if err != nil {
		return err
	}
	b, err := a.link(ctx, "queue-server", a.s.Queue)
	if err != nil {
		return err
	}
	capacity := checksAtOnce(len(a.s.Zones))
	if err := a.newRunner(probe.Options{Concurrency: capacity}); err != nil {
		return err
	}
	w, err := remote.NewWorker(remote.WorkerOptions{
		Queue: q, Prober: a.runner, Logger: a.p.Logger,
		Worker: queue.Worker{ID: a.memberID(), Version: a.p.Version, Zones: a.s.Zones, Capacity: capacity},
	})
	if err != nil {
		return fmt.Errorf("start the worker: %w", err)
	}
	server := a.asked("answers", "the server of the queue "+veil.Servers(a.s.Queue), b)
	a.troubles = append(a.troubles, func() []string {
		if silent := server.trouble(); len(silent) > 0 && b.Conn().IsConnected() {
			return silent // the reason of whatever else is wrong
		}
		return w.Trouble()
	})
	a.add(service.Service{Name: "worker", Needs: a.names(), StopTimeout: workerStop, Run: afterConnection(b, w.Run)})
	return nil
}

// connection is what ends by itself with a reason.
type connection interface {
	Failed() <-chan struct{}
}

// connectionTells is how long the end of a connection may come after that of what uses it.
const connectionTells = time.Second

// afterConnection runs what uses a connection and lets that tell first why it ended: with
// it every subscription ends, which would be told as the reason.
func afterConnection(c connection, run func(context.Context, func()) error) func(context.Context, func()) error {
	return func(ctx context.Context, ready func()) error {
		// Not a child of ctx, so that run cannot tell of its end before it returns.
		inner, cancel := context.WithCancel(context.Background())
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		err := run(inner, ready)
		if err == nil || ctx.Err() != nil {
			return err
		}
		select {
		case <-c.Failed():
			return errors.New("its connection ended")
		case <-time.After(connectionTells):
			return err
		}
	}
}

// workerID tells workers apart: several may run on one machine, and a restart is
// another one, since what its forerunner held is not in its hands.
func workerID(host, instance string) string {
	return host + "-" + strings.ToLower(instance[:5])
}

// Bounds of the checks that a worker executes at once. Most wait for an answer
// from far away; what a plugin costs while it runs is memory.
const (
	checksPerProcessor = 128
	mostChecks         = 1024
	leastPerZone       = 16
)

// checksAtOnce returns how many checks a worker of so many zones executes at once.
func checksAtOnce(zones int) int {
	return max(min(checksPerProcessor*runtime.GOMAXPROCS(0), mostChecks), leastPerZone*zones)
}
