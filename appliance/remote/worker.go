package remote

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/probe"
	"jaque.sh/jaque/appliance/queue"
	"jaque.sh/jaque/appliance/service"
)

// WorkerOptions of a Worker. Every field without a default is required.
type WorkerOptions struct {
	Queue  queue.Queue
	Worker queue.Worker
	Prober Prober
	Logger *slog.Logger
	// Grace is how long a stop waits for the checks that run; the rest is given
	// back to other workers. Default 10 s.
	Grace time.Duration
}

// Worker takes checks from the queue and executes them. Create it with NewWorker.
type Worker struct {
	opt    WorkerOptions
	source atomic.Pointer[queue.Source] // while Run takes checks
}

// NewWorker checks the options. It connects to nothing.
func NewWorker(o WorkerOptions) (*Worker, error) {
	if o.Queue == nil || o.Prober == nil || o.Logger == nil {
		return nil, errors.New("worker: queue, prober and logger are required")
	}
	if o.Grace <= 0 {
		o.Grace = 10 * time.Second
	}
	return &Worker{opt: o}, nil
}

// Run executes checks until ctx ends: then it asks for no more, waits for those
// that run and returns nil. It calls ready once it takes checks, and returns an
// error when the queue ends by itself.
func (w *Worker) Run(ctx context.Context, ready func()) error {
	src, err := w.opt.Queue.Source(ctx, w.opt.Worker)
	if err != nil {
		return err
	}
	// Checks outlive ctx by the grace.
	running, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	var all sync.WaitGroup
	w.source.Store(&src)
	ready()
	w.opt.Logger.Info("worker takes checks", "worker", w.opt.Worker.ID, "zones", w.opt.Worker.Zones, "capacity", w.opt.Worker.Capacity)
	for items := src.Items(); ; {
		select {
		case d := <-items:
			if d == nil {
				return errors.Join(service.Fail(ctx, errors.New("worker: the queue ended by itself")), src.Err())
			}
			all.Go(func() { w.execute(running, d) })
			continue
		case <-src.Failed():
			err := service.Fail(ctx, src.Err()) // before it is waited for what runs
			kill()
			all.Wait()
			return errors.Join(err, src.Close())
		case <-ctx.Done():
		}
		return w.stop(src, running, kill, &all)
	}
}

// Trouble says in sentences why no checks arrive at present.
func (w *Worker) Trouble() []string {
	src := w.source.Load()
	if src == nil {
		return nil
	}
	return (*src).Trouble()
}

// stop lets running checks finish, and gives back what has not begun or does not
// end within the grace.
func (w *Worker) stop(src queue.Source, running context.Context, kill func(), all *sync.WaitGroup) error {
	src.Drain()
	for range len(src.Items()) {
		(<-src.Items()).Return()
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	grace := time.NewTimer(w.opt.Grace)
	defer grace.Stop()
	select {
	case <-done:
		return src.Close()
	case <-src.Failed():
	case <-grace.C:
		w.opt.Logger.Warn("checks still run, they are given back to other workers", "worker", w.opt.Worker.ID)
	}
	err := src.Close()
	kill()
	<-done
	return errors.Join(src.Err(), err)
}

// execute runs one check and sends its result.
func (w *Worker) execute(ctx context.Context, d queue.Delivery) {
	it := d.Item()
	if d.Stale() {
		d.Return()
		return
	}
	res := w.opt.Prober.Do(ctx, requestFor(it))
	if ctx.Err() != nil {
		d.Return() // what it says was caused by the stop
		return
	}
	w.name(it, &res)
	if err := d.Answer(ctx, &queue.Result{Result: res}); err != nil {
		w.opt.Logger.Warn("result was not taken", "item", it, "err", err)
	}
}

// requestFor makes of an item what is executed. The worker knows no objects:
// what a check needs of its own came with the item.
func requestFor(it *queue.Item) probe.Request {
	rule := &object.Rule{Check: it.Check, Timeout: it.Timeout}
	o := &object.Object{ID: it.Object, Name: it.Object.Host(), Address: it.Address, Rule: rule, Zone: it.Zone}
	if it.Object.Kind() == object.Service {
		o = &object.Object{ID: it.Object, Name: it.Object.Service(), Host: hostOf(o), Rule: rule, Zone: it.Zone}
	}
	settings := object.DefaultSettings()
	settings.AggressiveHostChecking, settings.TimeoutState = it.AggressiveHostChecking, it.TimeoutState
	return probe.Request{Object: o, Check: it.Check, Timeout: it.Timeout, Env: it.Env, Settings: &settings}
}

func hostOf(o *object.Object) *object.Object {
	return &object.Object{ID: object.HostID(o.Name), Name: o.Name, Address: o.Address, Rule: &object.Rule{}, Zone: o.Zone}
}

// name says in a result on which worker a check could not be carried out: a
// plugin may be missing on one worker and stand on another. The probe's texts for
// that speak of the plugin or of this machine.
func (w *Worker) name(it *queue.Item, res *fold.Result) {
	bad, word := object.Unknown, "UNKNOWN"
	if it.Object.Kind() == object.Host {
		bad, word = object.Down, "DOWN"
	}
	text, ours := strings.CutPrefix(res.Output, "UNKNOWN - ")
	if res.State != bad || !ours {
		return
	}
	if strings.HasPrefix(text, "plugin ") || strings.Contains(text, "this machine") || strings.Contains(text, "executed here") {
		res.Output = word + " - on worker " + w.opt.Worker.ID + ": " + text
	}
}
