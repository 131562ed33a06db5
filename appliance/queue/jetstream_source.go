package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// jetSource is a worker's side on JetStream.
type jetSource struct {
	*side
	Worker
	items   chan Delivery
	pullers []*puller

	announcing sync.Mutex // so that nothing is announced after the leave

	mu      sync.Mutex
	held    map[*jetDelivery]bool
	drained bool
	closed  bool
	gone    bool // tests: the process is dead
}

// Source begins to pull. The capacity is divided evenly among the zones, with at
// least one item for each. Until an engine has made the queue of a zone the worker
// waits for it.
func (q *JetStream) Source(_ context.Context, w Worker) (Source, error) {
	w.Zones = slices.Clone(w.Zones)
	if err := w.check(); err != nil {
		return nil, err
	}
	share := max(w.Capacity/len(w.Zones), 1)
	s := &jetSource{side: newSide(q), Worker: w, held: map[*jetDelivery]bool{}}
	s.items = make(chan Delivery, share*len(w.Zones))
	for _, zone := range w.Zones {
		p := &puller{queue: q, zone: zone, share: share, inbox: q.nc.NewInbox()}
		p.missing = func() { s.announce(false) }
		s.pullers = append(s.pullers, p)
		var err error
		if p.sub, err = s.subscribe(p.inbox, func(m *nats.Msg) { s.receive(p, m) }); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	if _, err := s.subscribe(q.names.hello(), func(*nats.Msg) { s.announce(false) }); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.follow()
	for _, p := range s.pullers {
		p.ask()
	}
	go s.live()
	return s, nil
}

// live announces the worker and asks again what was lost on the way.
func (s *jetSource) live() {
	s.announce(false)
	tick := time.NewTicker(s.queue.timing.announce)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.back:
			for _, p := range s.pullers {
				p.forget()
			}
		case <-s.over:
			return
		}
		s.announce(false)
		for _, p := range s.pullers {
			p.ask()
		}
	}
}

// announce tells each zone of the worker.
func (s *jetSource) announce(leaving bool) {
	s.announcing.Lock()
	defer s.announcing.Unlock()
	s.mu.Lock()
	silent := s.gone || s.drained && !leaving
	s.mu.Unlock()
	if silent {
		return
	}
	running := 0
	for _, p := range s.pullers {
		running += p.running()
	}
	for _, p := range s.pullers {
		data, err := json.Marshal(announcement{
			Version: Version, ID: s.ID, Program: s.Version, Zone: p.zone, Understands: Version,
			Capacity: s.Capacity, Running: running, Leaving: leaving, Queueless: p.queueless(),
		})
		if err == nil {
			err = s.queue.nc.Publish(s.queue.names.worker(p.zone), data)
		}
		if err != nil {
			s.queue.log.Debug("worker could not be announced, trying again", "zone", p.zone, "err", err)
		}
	}
}

// receive takes what the server sends: items, and news of the requests.
func (s *jetSource) receive(p *puller, m *nats.Msg) {
	if !strings.HasPrefix(m.Reply, "$JS.ACK.") {
		p.status(m)
		return
	}
	s.mu.Lock()
	gone, refuse := s.gone, s.drained
	s.mu.Unlock()
	if gone {
		return
	}
	if !p.got() {
		s.say(m, "-NAK")
		return
	}
	if redelivered(m.Reply) {
		s.queue.metrics.again.Inc()
	}
	s.queue.metrics.running.Inc()
	it, err := decodeItem(m.Data)
	if len(m.Header["Nats-Stream"]) > 0 {
		it, err = nil, errStored // no engine has sent it
	}
	if it != nil && it.Zone != p.zone {
		err = fmt.Errorf("it is for zone %s", it.Zone)
	}
	d := &jetDelivery{source: s, puller: p, message: m, item: it, since: time.Now()}
	var future *TooNew
	switch {
	case errors.As(err, &future):
		go d.refuse(future)
	case err != nil:
		s.queue.log.Warn("work item cannot be read", "zone", p.zone, "err", err)
		d.end(itemBad, "+TERM")
	case refuse || !s.hand(d):
		d.end(itemReturned, "-NAK")
	}
}

// hand gives a delivery to the worker, false if it has ended.
func (s *jetSource) hand(d *jetDelivery) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.held[d] = true
	d.timer = time.AfterFunc(s.queue.timing.lease/3, d.progress)
	s.items <- d // never blocks: it has room for every share
	return true
}

// redelivered reads the number of deliveries off the subject for acknowledgements:
// $JS.ACK.<stream>.<consumer>.<delivered>… or with two more tokens in front.
func redelivered(reply string) bool {
	parts := strings.Split(reply, ".")
	at := 4
	if len(parts) >= 11 {
		at = 6
	}
	if at >= len(parts) {
		return false
	}
	n, err := strconv.Atoi(parts[at])
	return err == nil && n > 1
}

// say answers the server about an item. What is lost is made good by the lease.
func (s *jetSource) say(m *nats.Msg, word string) {
	if err := s.queue.nc.Publish(m.Reply, []byte(word)); err != nil {
		s.queue.log.Debug("the server could not be told about an item", "word", word, "err", err)
	}
}

// Items delivers what is to be executed.
func (s *jetSource) Items() <-chan Delivery { return s.items }

// Trouble tells a connection that is away and zones whose items are not sent.
func (s *jetSource) Trouble() []string {
	if !s.queue.nc.IsConnected() {
		return []string{"the connection to the queue's server is away"}
	}
	var all []string
	for _, p := range s.pullers {
		if why := p.trouble(); why != "" {
			all = append(all, why)
		}
	}
	return all
}

// Drain asks for nothing more.
func (s *jetSource) Drain() {
	s.mu.Lock()
	first := !s.drained
	s.drained = true
	s.mu.Unlock()
	if !first {
		return
	}
	s.leaving.Store(true)
	for _, p := range s.pullers {
		p.stop()
		// Without the subscription the server forgets the requests: what is given
		// back from now on must not be sent here again.
		if err := p.sub.Drain(); err != nil {
			s.queue.log.Debug("requests could not be taken back, they end by themselves", "zone", p.zone, "err", err)
		}
	}
	s.announce(true)
}

// Close gives back what is not answered.
func (s *jetSource) Close() error {
	return s.end(func() {
		s.Drain()
		s.mu.Lock()
		s.closed = true
		close(s.items)
		open := make([]*jetDelivery, 0, len(s.held))
		for d := range s.held {
			open = append(open, d)
		}
		s.mu.Unlock()
		for _, d := range open {
			d.Return()
		}
		if err := s.queue.flush(context.Background()); err != nil {
			s.queue.log.Debug("items could not be given back, others get them after a while", "err", err)
		}
	})
}

// jetDelivery is an item in the hands of a worker.
type jetDelivery struct {
	source  *jetSource
	puller  *puller
	message *nats.Msg
	item    *Item
	since   time.Time
	timer   *time.Timer
	once    sync.Once
}

// Item returns the item.
func (d *jetDelivery) Item() *Item { return d.item }

// Stale measures the wait here: until it came here the server has seen to its
// life, and the clocks of engine and worker may differ.
func (d *jetDelivery) Stale() bool { return time.Since(d.since) >= d.item.Life }

// progress tells the server that the worker still has the item, and the engine who
// that is, each time: one message may be lost.
func (d *jetDelivery) progress() {
	s := d.source
	s.mu.Lock()
	mine := s.held[d] && !s.gone
	if mine {
		d.timer.Reset(s.queue.timing.lease / 3)
	}
	s.mu.Unlock()
	if !mine {
		return
	}
	s.say(d.message, "+WPI")
	data, err := json.Marshal(wireResult{Version: Version, ID: d.item.ID, Worker: s.ID, Begun: true})
	if err == nil {
		err = s.queue.nc.Publish(s.queue.names.result(d.item.Engine, d.item.Zone), data)
	}
	if err != nil {
		s.queue.log.Debug("the engine could not be told who has an item", "item", d.item, "err", err)
	}
}

// Answer sends the result until the engine acknowledges it.
func (d *jetDelivery) Answer(ctx context.Context, r *Result) error {
	s := d.source
	r.ID, r.Worker = d.item.ID, s.ID
	data, err := encodeResult(r, int(s.queue.nc.MaxPayload())-headerRoom)
	if err != nil {
		d.end(itemBad, "+TERM")
		return err
	}
	subject := s.queue.names.result(d.item.Engine, d.item.Zone)
	for pause := sendPause / 2; ; pause = min(2*pause, 4*sendPause) {
		err := d.ask(ctx, subject, data)
		if err == nil {
			d.end(itemAnswered, "+ACK")
			return nil
		}
		if time.Since(d.since) >= d.item.wanted() {
			d.end(itemUnwanted, "+TERM")
			return fmt.Errorf("send result of %s to engine %s: %w", d.item.Object, d.item.Engine, err)
		}
		select {
		case <-time.After(pause):
		case <-s.over:
			return ErrClosed
		case <-ctx.Done():
			d.Return()
			return fmt.Errorf("send result of %s to engine %s: %w", d.item.Object, d.item.Engine, ctx.Err())
		}
	}
}

// ask sends the result once. Whatever the engine says of it, it has it.
func (d *jetDelivery) ask(ctx context.Context, subject string, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, d.source.queue.timing.answer)
	defer cancel()
	m, err := d.source.queue.nc.RequestWithContext(ctx, subject, data)
	if err != nil {
		return err
	}
	if verdict := string(m.Data); verdict != resultAccepted {
		d.source.queue.log.Info("the engine did not take a result", "item", d.item, "verdict", verdict)
	}
	return nil
}

// refuse answers an item that this program is too old for.
func (d *jetDelivery) refuse(why *TooNew) {
	r := &Result{Result: fold.Result{State: unknownFor(d.item.Object), Output: "UNKNOWN - worker " + d.source.ID + " is too old for this check: " + why.Error(), Start: object.At(d.since)}}
	d.source.queue.metrics.items.WithLabelValues(itemTooNew).Inc()
	if err := d.Answer(context.Background(), r); err != nil {
		d.source.queue.log.Warn("an item for a newer worker could not be refused", "item", d.item, "err", err)
	}
}

// unknownFor is the state of an object whose check could not be carried out.
func unknownFor(id object.ID) object.State {
	if id.Kind() == object.Service {
		return object.Unknown
	}
	return object.Down
}

// Return gives the item back at once.
func (d *jetDelivery) Return() { d.end(itemReturned, "-NAK") }

// end tells the server what became of the item, once, and makes room.
func (d *jetDelivery) end(outcome, word string) {
	d.once.Do(func() {
		s := d.source
		s.mu.Lock()
		if d.timer != nil {
			d.timer.Stop()
		}
		delete(s.held, d)
		gone := s.gone
		s.mu.Unlock()
		s.queue.metrics.running.Dec()
		s.queue.metrics.items.WithLabelValues(outcome).Inc()
		if !gone {
			s.say(d.message, word)
		}
		d.puller.released()
	})
}
