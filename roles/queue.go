package roles

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/queue"
	"jaque.sh/jaque/appliance/remote"
	"jaque.sh/jaque/appliance/service"
)

// openQueue opens the queue on which the engine's checks wait for workers.
func (a *appliance) openQueue(ctx context.Context) error {
	if a.s.Queue == "memory" {
		q := queue.NewMemory(queue.MemoryOptions{Registerer: a.reg})
		if err := a.dispatch(ctx, q); err != nil {
			return err
		}
		a.workers = newLocalWorkers(a, q)
		a.add(service.Service{Name: "workers", Needs: []string{"queue", "checks"}, StopTimeout: workerStop, Run: a.workers.run})
		return nil
	}
	q, err := a.jetQueue(ctx)
	if err != nil {
		return err
	}
	return a.dispatch(ctx, q)
}

// jetQueue opens the queue on the server that -queue names.
func (a *appliance) jetQueue(ctx context.Context) (*queue.JetStream, error) {
	b, err := a.link(ctx, "queue-server", a.s.Queue)
	if err != nil {
		return nil, fmt.Errorf("open the queue: %w", err)
	}
	return queue.NewJetStream(b.Conn(), queue.JetStreamOptions{Logger: a.p.Logger, Registerer: a.reg, Settled: b.Settled})
}

// dispatch makes the engine's side of a queue. It closes after the engine, whose
// last checks still wait for their results.
func (a *appliance) dispatch(ctx context.Context, q queue.Queue) (err error) {
	if a.dispatcher, err = q.Dispatcher(ctx, a.s.EngineID); err != nil {
		return fmt.Errorf("open the queue: %w", err)
	}
	a.undo = append(a.undo, a.dispatcher.Close)
	a.add(service.Service{Name: "queue", Needs: a.names(), Run: func(ctx context.Context, ready func()) error {
		ready()
		select {
		case <-a.dispatcher.Failed():
			return errors.Join(service.Fail(ctx, a.dispatcher.Err()), a.dispatcher.Close())
		case <-ctx.Done():
			return a.dispatcher.Close()
		}
	}})
	return nil
}

// localWorkers take the checks of -queue memory in the engine's own process: one
// worker for the zones of the config, and another one whenever a reload brings
// zones that nobody serves yet.
type localWorkers struct {
	a      *appliance
	queue  queue.Queue
	wanted chan []string

	mu    sync.Mutex // guards zones
	zones map[string]bool
}

func newLocalWorkers(a *appliance, q queue.Queue) *localWorkers {
	w := &localWorkers{a: a, queue: q, wanted: make(chan []string, 1), zones: map[string]bool{}}
	w.wanted <- w.missing(a.config.Set)
	return w
}

// use has the zones of a config generation served. It is nil-safe, for roles
// without workers of their own.
func (w *localWorkers) use(ctx context.Context, set *object.Set) {
	if w == nil {
		return
	}
	zones := w.missing(set)
	if len(zones) == 0 {
		return
	}
	select {
	case w.wanted <- zones:
	case <-ctx.Done():
	}
}

// missing returns the zones of a config that nobody serves, and takes them as
// served.
func (w *localWorkers) missing(set *object.Set) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var zones []string
	for _, o := range set.Objects {
		if zone := zoneOf(o); !w.zones[zone] {
			w.zones[zone] = true
			zones = append(zones, zone)
		}
	}
	slices.Sort(zones)
	return zones
}

// zoneOf returns where the checks of an object are executed.
func zoneOf(o *object.Object) string {
	if o.Zone == "" {
		return remote.DefaultZone
	}
	return o.Zone
}

// run executes checks until ctx ends. It fails as soon as one worker does.
func (w *localWorkers) run(ctx context.Context, ready func()) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error)
	var all sync.WaitGroup
	defer all.Wait()
	ready()
	for n := 1; ; {
		select {
		case zones := <-w.wanted:
			if len(zones) == 0 {
				continue
			}
			worker, err := remote.NewWorker(remote.WorkerOptions{
				Queue: w.queue, Prober: w.a.runner, Logger: w.a.p.Logger,
				Worker: queue.Worker{ID: fmt.Sprintf("%s-%d", w.a.s.EngineID, n), Version: w.a.p.Version, Zones: zones, Capacity: checksAtOnce(len(zones))},
			})
			if err != nil {
				stop()
				return err
			}
			n++
			all.Go(func() {
				err := worker.Run(ctx, func() {})
				select {
				case ended <- err:
				case <-ctx.Done():
				}
			})
		case err := <-ended:
			err = service.Fail(ctx, err)
			stop()
			return err
		case <-ctx.Done():
			return nil
		}
	}
}

// workerStop is how long the end of a worker may take: running checks have their
// grace, and what is left is given back.
const workerStop = 25 * time.Second
