package cluster

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/command"
)

// Subjects of the conversation inside a cluster. Nobody but the members' own
// connections, and commands that come over the socket of a data folder, may use them.
const (
	whoSubject = "jaque.cluster.who" // every member answers
	askSubject = "jaque.cluster.ask" // + "." + id: one member answers
)

// Bounds of the conversation inside a cluster.
const (
	whoWait   = time.Second
	askWait   = 90 * time.Second // a removal waits for the cluster
	learnEach = 15 * time.Second
)

// Keeper is the server's part in the cluster, as *bus.Bus is.
type Keeper interface {
	Status(ctx context.Context) (bus.Status, error)
	Remove(ctx context.Context, name string) error
	RemoveLost(ctx context.Context, names ...string) error
	Trouble() []string
	// Barred are names that were taken out so lately that they cannot come back yet, with
	// the time that is left.
	Barred() map[string]time.Duration
}

// Answers tells commands and the other members of this member, removes members when it
// is asked to, and keeps the addresses of all of them in the data folder.
type Answers struct {
	Conn    *nats.Conn // inside the process
	Keeper  Keeper
	Self    Member // of this member
	Version string
	// Data is the data folder whose settings are kept right; "" = they are flags.
	Data string
	// Engines tells how the engines share the objects; nil = this member runs none.
	Engines func() *Engines
	// Users tells who may connect here; nil = the member does not say.
	Users func() *UserList
	// Driller moves the objects of this member away for a drill; nil = it runs no engine.
	Driller Driller
	Logger  *slog.Logger

	mu sync.Mutex // held while the settings change

	end      context.CancelFunc // of the answers; nil = Listen was not called
	start    sync.Once
	instance string // of this process
	since    time.Time
	twin     chan error // of a process that has the same id

	lately sync.Mutex          // guards what follows
	others []Other             // as they were last heard, also those that are away
	double []string            // what is wrong with ids, as of the last look
	letIn  map[string]admitted // by id
}

// begin gives the process what tells it from others with its id.
func (a *Answers) begin() {
	a.start.Do(func() { a.instance, a.since, a.twin = rand.Text(), time.Now().UTC(), make(chan error, 1) })
}

// Question is what a command wants of a member.
type Question struct {
	Remove string `json:"remove,omitempty"` // this member is to be taken out; "" = the report is wanted
	Lost   bool   `json:"lost,omitempty"`   // without a quorum
	// Drill is about a drill of the failover, and not for the report; nil = it is not.
	Drill *DrillOrder `json:"drill,omitempty"`
	// Twin tells that another process has the member's id; nil = it is about something else.
	Twin *Twin `json:"twin,omitempty"`
}

// Reply is the answer.
type Reply struct {
	Error  string       `json:"error,omitempty"`
	Report *Report      `json:"report,omitempty"`
	Drill  *DrillReport `json:"drill,omitempty"`
}

// ErrSilent: a process serves the data folder, and does not answer as a member.
var ErrSilent = errors.New("the process of this data folder does not answer: it is no member of a cluster, was not let into one yet, or is just starting; its log says which")

// ErrEnded: the process that was asked is gone before it has answered.
var ErrEnded = errors.New("the member that was asked was itself removed from the cluster, or its process has ended; whether anything was done is not known: ask another member, with -data and its folder")

// ErrOutside: the member that was asked is itself none of the cluster's.
var ErrOutside = errors.New("the member that was asked was itself removed from the cluster, or is not let in yet; ask another member, with -data and its folder")

// Ask asks the member of a connection. Without an answer it fails with ErrSilent.
func Ask(ctx context.Context, nc *nats.Conn, q Question) (*Report, error) {
	r, err := askMember(ctx, nc, nc.ConnectedServerName(), q)
	if errors.Is(err, nats.ErrNoResponders) {
		return nil, ErrSilent
	}
	if err != nil {
		return nil, err
	}
	return r.Report, nil
}

// Refused tells whether a login was refused. Over the socket of a data folder that happens
// only in the moment in which the server takes in other users: try again.
func Refused(err error) bool { return errors.Is(err, nats.ErrAuthorization) }

// goneAfter is how long a connection may be lost until the process at its other end counts
// as gone: a server that takes in other users is there again within a second.
const (
	goneAfter = 3 * time.Second
	goneLook  = 200 * time.Millisecond
)

// whileThere ends a context with ErrEnded when the process of a connection is gone, or
// another one has taken its place: nobody is left to answer what was asked of it.
func whileThere(ctx context.Context, nc *nats.Conn) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	process, heard := nc.ConnectedServerId(), time.Now()
	go func() {
		tick := time.NewTicker(goneLook)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			switch now := nc.ConnectedServerId(); {
			case now == process && now != "":
				heard = time.Now()
			case now != "" || time.Since(heard) > goneAfter:
				end(ErrEnded)
				return
			}
		}
	}()
	return ctx, func() { end(context.Canceled) }
}

// askMember asks one member.
func askMember(ctx context.Context, nc *nats.Conn, id string, q Question) (*Reply, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	ctx, stop := whileThere(ctx, nc)
	defer stop()
	m, err := nc.RequestWithContext(ctx, askSubject+"."+id, body)
	switch cause := context.Cause(ctx); {
	case err != nil && errors.Is(cause, ErrEnded):
		return nil, fmt.Errorf("ask the member %s: %w", id, cause)
	case err != nil:
		return nil, fmt.Errorf("ask the member %s: %w", id, err)
	}
	r := &Reply{}
	switch err := json.Unmarshal(m.Data, r); {
	case err != nil:
		return nil, fmt.Errorf("ask the member %s: %w", id, err)
	case r.Error != "":
		return nil, errors.New(r.Error)
	}
	return r, nil
}

// Listen answers from now on, as Run does: a member that waits for its cluster is asked
// what it waits for, and told who never comes back. What was done once is not done again.
func (a *Answers) Listen() error {
	if a.end != nil {
		return nil
	}
	a.begin()
	a.recall()
	ctx, end := context.WithCancel(context.Background())
	for subject, take := range map[string]nats.MsgHandler{
		whoSubject:                   a.who,
		askSubject + "." + a.Self.ID: func(m *nats.Msg) { go a.answer(ctx, m) },
	} {
		sub, err := a.Conn.Subscribe(subject, take)
		if err != nil {
			end()
			return fmt.Errorf("answer the other members and commands: %w", err)
		}
		context.AfterFunc(ctx, func() { _ = sub.Unsubscribe() }) // the connection ends too
	}
	a.end = end
	return nil
}

// Run answers until ctx ends, or until an older process turns out to have the same id.
func (a *Answers) Run(ctx context.Context, ready func()) error {
	if err := a.Listen(); err != nil {
		return err
	}
	defer a.end()
	defer context.AfterFunc(ctx, a.end)()
	ready()
	tick := time.NewTicker(learnEach)
	defer tick.Stop()
	for {
		if err := a.learn(ctx); err != nil && ctx.Err() == nil {
			a.Logger.Debug("the addresses of the members are not known", "err", err)
		}
		select {
		case <-tick.C:
		case err := <-a.twin:
			return err
		case <-ctx.Done():
			return nil
		}
	}
}

// who answers another member.
func (a *Answers) who(m *nats.Msg) {
	if command.Sent(m) {
		a.send(m, a.self())
	}
}

func (a *Answers) self() self {
	a.begin()
	s := self{
		ID: a.Self.ID, Address: a.Self.Listen, Witness: a.Self.Witness, Version: a.Version, Barred: a.Keeper.Barred(),
		Instance: a.instance, Since: a.since, Admitted: a.admissions(nil, time.Now()),
	}
	if a.Engines != nil {
		s.Engines = a.Engines()
	}
	if a.Users != nil {
		s.Users = a.Users()
	}
	s.Drill = a.Driller != nil && a.Driller.Away()
	return s
}

func (a *Answers) send(m *nats.Msg, what any) {
	text, err := json.Marshal(what)
	if err == nil {
		err = m.Respond(text)
	}
	if err != nil {
		a.Logger.Debug("a question about the cluster is not answered", "err", err)
	}
}

func (a *Answers) answer(ctx context.Context, m *nats.Msg) {
	if !command.Sent(m) {
		a.Logger.Warn("a message is no question to a member, nobody waits for its answer", "subject", m.Subject, "bytes", len(m.Data))
		return
	}
	var q Question
	if err := json.Unmarshal(m.Data, &q); err != nil {
		a.send(m, Reply{Error: "this is no question to a member: " + err.Error()})
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	if q.Twin != nil {
		a.parted(q.Twin)
		return
	}
	if q.Drill != nil {
		a.send(m, a.drill(ctx, q.Drill))
		return
	}
	left := ""
	if q.Remove != "" {
		var err error
		left, err = a.remove(ctx, q)
		if errors.Is(err, context.Canceled) {
			err = fmt.Errorf("remove %s: the member %s, which was asked, ends; whether it was done is not known: look at `jaque cluster status` at another member, and write the command there if %s is still one", q.Remove, a.Self.ID, q.Remove)
		}
		if err != nil {
			a.send(m, Reply{Error: err.Error()})
			return
		}
	}
	r, err := a.Report(ctx)
	if err != nil {
		a.send(m, Reply{Error: err.Error()})
		return
	}
	r.Left = left
	a.send(m, Reply{Report: r})
}

// remove takes a member out, and says what is left open by it.
func (a *Answers) remove(ctx context.Context, q Question) (left string, err error) {
	if q.Remove == a.Self.ID {
		return "", fmt.Errorf("remove %s: that is the member that was asked, which ends when it is removed; write the command at another member", q.Remove)
	}
	if q.Lost {
		err = a.Keeper.RemoveLost(ctx, a.lostWith(ctx, q.Remove)...)
	} else {
		left = a.relieve(ctx, q.Remove)
		err = a.Keeper.Remove(ctx, q.Remove)
	}
	if errors.Is(err, bus.ErrNoMember) && a.outside(ctx) {
		return "", fmt.Errorf("remove %s: ask the member %s: %w", q.Remove, a.Self.ID, ErrOutside)
	}
	if err != nil {
		return "", err
	}
	if err := a.learn(ctx); err != nil {
		a.Logger.Debug("the addresses of the members are not known", "err", err)
	}
	return left, nil
}

// lostWith returns a member that never comes back, with those of which an operator said so
// before: none of several can be removed alone if the others are not enough.
func (a *Answers) lostWith(ctx context.Context, id string) []string {
	all := []string{id}
	if a.Data == "" {
		return all
	}
	m, err := Read(a.Data)
	if err != nil {
		return all
	}
	st, err := a.Keeper.Status(ctx)
	if err != nil && st.Cluster == "" {
		return all
	}
	for _, name := range m.Lost {
		is := func(o bus.Member) bool { return o.Name == name && !o.Online }
		if name != id && slices.ContainsFunc(st.Members, is) {
			all = append(all, name)
		}
	}
	return all
}

// outside tells whether this member is itself none of the cluster's.
func (a *Answers) outside(ctx context.Context) bool {
	st, err := a.Keeper.Status(ctx)
	return err == nil && !slices.ContainsFunc(st.Members, func(m bus.Member) bool { return m.Name == a.Self.ID })
}

// Bounds of what is done for a member before it is removed.
const (
	relieveWait = 10 * time.Second
	relieveHold = askWait // after a removal that failed it takes its objects back
)

// relieve has the others take the objects of a member that runs, before it is removed: it
// ends by itself then, and they would stand still for a heartbeat TTL. If it cannot, relieve
// says what follows.
func (a *Answers) relieve(ctx context.Context, id string) (left string) {
	owned := a.owned(id)
	ctx, cancel := context.WithTimeout(ctx, relieveWait)
	defer cancel()
	_, err := askDrill(ctx, a.Conn, id, DrillOrder{Hold: relieveHold, By: "jaque cluster remove", Removal: true})
	if err == nil || owned == 0 {
		return ""
	}
	a.Logger.Warn("a member that is removed does not hand its objects over; the others take them over after its -heartbeat-ttl", "member", id, "objects", owned, "err", err)
	return fmt.Sprintf("%s did not hand its %d objects over (%v): the others take them over after its -heartbeat-ttl, and nobody checks them until then", id, owned, err)
}

// owned is how many objects the engine of a member has, as far as this member knows.
func (a *Answers) owned(id string) int {
	if a.Engines == nil {
		return 0
	}
	e := a.Engines()
	if e == nil {
		return 0
	}
	if i := slices.IndexFunc(e.Members, func(m Engine) bool { return m.ID == id && m.Live }); i >= 0 {
		return e.Members[i].Objects
	}
	return 0
}

// Report tells of the cluster. What a member that does not answer would say is missing.
func (a *Answers) Report(ctx context.Context) (*Report, error) {
	st, err := a.Keeper.Status(ctx)
	if err != nil && st.Cluster == "" {
		return nil, err
	}
	r := newReport(&st, a.ask(ctx, &st))
	r.know(a.heard())
	r.Trouble = slices.Concat(a.Keeper.Trouble(), st.Missing, a.doubles(), r.Trouble, r.users())
	if err != nil {
		r.Trouble = append(r.Trouble, "not every leader of a stream has answered: "+err.Error())
	}
	if a.Data != "" {
		out, err := outstanding(a.Data, time.Now())
		if err != nil {
			r.Trouble = append(r.Trouble, err.Error())
		}
		r.Tokens = out
	}
	return r, nil
}

// ask asks all members who they are and waits for those that can be reached. Who answers
// and is no member, or not yet, does not count.
func (a *Answers) ask(ctx context.Context, st *bus.Status) map[string]self {
	said := map[string]self{}
	for _, s := range a.askAll(ctx, st, 0) {
		said[s.ID] = s
	}
	return said
}

// askAll returns every answer, that of this member first. It waits for more of them for a
// while after all members have answered.
func (a *Answers) askAll(ctx context.Context, st *bus.Status, linger time.Duration) []self {
	said := []self{a.self()}
	awaited := online(st)
	delete(awaited, a.Self.ID)
	inbox := a.Conn.NewInbox()
	sub, err := a.Conn.SubscribeSync(inbox)
	if err != nil {
		return said
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := a.Conn.PublishRequest(whoSubject, inbox, nil); err != nil {
		return said
	}
	ctx, cancel := context.WithTimeout(ctx, whoWait)
	defer cancel()
	for _, s := range everybody(ctx, sub, awaited, linger) {
		if s.ID != a.Self.ID || s.Instance != a.instance {
			said = append(said, s)
		}
	}
	return said
}

// learn keeps where the other members are, for the next start of this one.
func (a *Answers) learn(ctx context.Context) error {
	st, err := a.Keeper.Status(ctx)
	if err != nil || !st.Quorum {
		return err
	}
	said := map[string]self{}
	all := a.askAll(ctx, &st, lingers)
	for _, s := range slices.Backward(all) { // of two with one id the first counts
		said[s.ID] = s
	}
	a.part(twins(all))
	names := make([]string, 0, len(st.Members))
	for _, m := range st.Members {
		names = append(names, m.Name)
	}
	a.admissions(names, time.Now())
	others := a.hear(&st, said)
	if a.Data == "" {
		return nil
	}
	var at []string
	for _, o := range others {
		at = append(at, o.Listen)
	}
	complete := len(others) == len(st.Members)-1
	return a.keep(func(m *Member) bool {
		changed := m.learnt(at, complete)
		if !slices.Equal(m.Others, others) {
			m.Others, changed = others, true
		}
		return changed
	})
}

// learnt takes in where others are, and whether those are all there are: then every
// other address is forgotten.
func (m *Member) learnt(at []string, complete bool) (changed bool) {
	changed = len(m.Lost) > 0
	m.Lost = nil // there is a quorum
	if !complete {
		return m.Know(at...) || changed
	}
	slices.SortFunc(at, strings.Compare)
	if slices.Equal(m.Peers, at) {
		return changed
	}
	m.Peers = at // none is left beside the last member
	return true
}

// doubles are the ids that more than one process has.
func (a *Answers) doubles() []string {
	a.lately.Lock()
	defer a.lately.Unlock()
	return slices.Clone(a.double)
}

// keep changes the settings in the data folder, if change says that it did.
func (a *Answers) keep(change func(*Member) bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	m, err := Read(a.Data)
	if err != nil || !change(m) {
		return err
	}
	return m.Save(a.Data)
}

// Remember keeps the address of a machine that was let in, so that a restart of this
// member finds it.
func (a *Answers) Remember(other Member) {
	a.admit(other, time.Now())
	if err := a.keep(func(m *Member) bool { return m.Know(other.Listen) }); err != nil {
		a.Logger.Warn("the address of a further member is not kept; it is told by the others", "member", other.ID, "err", err)
	}
}
