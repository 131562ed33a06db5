package roles

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/veil"
	"jaque.sh/jaque/appliance/service"
)

// newInstance returns the id of one run of a process.
func newInstance() string { return rand.Text()[:12] }

// openLog opens the server and the journal on it. The journal closes before the
// server, after everything that writes.
func (a *appliance) openLog(ctx context.Context) error {
	a.proj = projection.New(a.config.Set)
	if a.s.EventLog == "memory" {
		a.useJournal(journal.NewMemory(a.journalOptions()))
		return nil
	}
	b, err := a.busOptions(a.s.EventLog)
	if err != nil {
		return err
	}
	if err := a.openBus(ctx, b); err != nil {
		return err
	}
	if !a.bus.Embedded() {
		a.watchAnswers()
	}
	return a.openDoor(ctx)
}

// attachLog opens a log that another process serves and declares.
func (a *appliance) attachLog(ctx context.Context) error {
	a.proj = projection.New(a.config.Set)
	b, err := a.busOptions(a.s.EventLog)
	if err != nil {
		return err
	}
	b.Attach, b.Waiting = true, a.waitsFor
	if err := a.openBus(ctx, b); err != nil {
		return err
	}
	a.watchAnswers()
	return nil
}

// busOptions are those of a connection of this process: where is embedded or an
// address.
func (a *appliance) busOptions(where string) (b bus.Options, err error) {
	b = bus.Options{
		Logger: a.p.Logger, Registerer: a.reg, ClientName: "jaque " + string(a.s.Role.Name) + " " + a.memberID(),
	}
	if !external(where) {
		if b.Data = a.s.Data; b.Data == "" {
			return b, errors.New("there is no home folder to keep the event log in; name a folder with -data")
		}
		b.Door = true
		if err = a.listenForOthers(&b); err == nil {
			err = a.joinPeers(&b)
		}
		return b, err
	}
	b.URL, b.Heartbeat = where, a.keepsUp()
	if b.TLS, err = a.s.NATS.tlsConfig(); err != nil {
		return b, err
	}
	err = a.identify(&b)
	return b, err
}

// keepsUp is the TTL of the heartbeats of this process, 0 for a role without any.
func (a *appliance) keepsUp() time.Duration {
	if a.s.Role.Name == Worker || a.s.Role.Name == UI {
		return 0
	}
	return a.s.HeartbeatTTL
}

// memberID is the name of this process among those of its role.
func (a *appliance) memberID() string {
	switch a.s.Role.Name {
	case Sink:
		return a.s.SinkID
	case Notifier:
		return a.s.NotifierID
	case Worker:
		return workerID(a.s.Host, a.instance)
	}
	return a.s.EngineID
}

func (a *appliance) journalOptions() journal.Options {
	reads := a.s.Role.Name == UI || a.s.Role.Name == Sink
	return journal.Options{Logger: a.p.Logger, Registerer: a.reg, Zone: a.zone, ReadOnly: reads, Instance: a.instance}
}

func (a *appliance) openBus(ctx context.Context, o bus.Options) (err error) {
	if a.bus, err = bus.Open(ctx, o); err != nil {
		return err
	}
	a.undo = append(a.undo, func() error { return a.bus.Close(context.Background()) })
	a.troubles = append(a.troubles, a.bus.Trouble)
	a.add(service.Service{Name: "bus", StopTimeout: 30 * time.Second, Last: true, Run: a.bus.Run})
	// Without a bound each answer would have 5 s, which is short on a busy machine.
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	j, err := journal.OpenJetStream(ctx, a.bus, a.journalOptions())
	if errors.Is(err, context.DeadlineExceeded) && !a.bus.Embedded() {
		return fmt.Errorf("open the log on the server %s: %w; see whether that server hangs, and start again", veil.Servers(a.s.EventLog), err)
	}
	if err != nil {
		return err
	}
	a.useJournal(j)
	return nil
}

func (a *appliance) useJournal(j journal.Journal) {
	a.journal = j
	closing := func() error {
		most := 10 * time.Second
		if a.bus != nil && !a.bus.Conn().IsConnected() {
			most = time.Second // nothing that is in flight will land
		}
		end, cancel := context.WithTimeout(context.Background(), most)
		defer cancel()
		return a.journal.Close(end)
	}
	a.undo = append(a.undo, closing)
	var needs []string
	if a.bus != nil {
		needs = append(needs, "bus")
	}
	a.add(service.Service{Name: "journal", Needs: needs, Last: true, Run: func(ctx context.Context, ready func()) error {
		ready()
		<-ctx.Done()
		return closing()
	}})
}

// link returns a connection to the server that a flag names, for what is no part of
// the log: that of the log if it is the same server, else one of its own, which is a
// service of the name.
func (a *appliance) link(ctx context.Context, name, where string) (*bus.Bus, error) {
	if a.bus != nil && (where == "embedded" && a.bus.Embedded() || where == a.s.EventLog) {
		return a.bus, nil
	}
	if b := a.links[where]; b != nil {
		return b, nil
	}
	o, err := a.busOptions(where)
	if err != nil {
		return nil, err
	}
	// A worker has no other connection; elsewhere the metrics are those of the log's.
	if o.Bare = true; a.s.Role.Name != Worker {
		o.Registerer = nil
	}
	b, err := bus.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	if a.links == nil {
		a.links = map[string]*bus.Bus{}
	}
	a.links[where] = b
	a.undo = append(a.undo, func() error { return b.Close(context.Background()) })
	a.add(service.Service{Name: name, StopTimeout: 30 * time.Second, Last: true, Run: b.Run})
	return b, nil
}

// zone returns the zone of an object of the running generation.
func (a *appliance) zone(id object.ID) string {
	if o := a.proj.Set().Get(id); o != nil {
		return o.Zone
	}
	return "default"
}
