package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// ErrUnfounded: every member that could have founded the cluster is new and waits to be
// let in by another one.
var ErrUnfounded = errors.New("nobody has founded the cluster")

// newcomersSubject is where members say that they wait, among the servers' own
// connections.
const newcomersSubject = "jaque.cluster.waiting"

// Times of the wait for a cluster.
const (
	newcomersSay    = time.Second
	newcomersForget = 5 * time.Second // what was said longer ago counts no more
	newcomersWarn   = 5 * time.Second // after the start, when nobody let this member in
	newcomersSure   = 3 * time.Second // how long it must look as if nobody had founded it
)

// waitingMember is what a member says while it waits for a leader.
type waitingMember struct {
	Name  string   `json:"name"`
	At    []string `json:"at"`    // its address, as others may write it
	Peers []string `json:"peers"` // that it was told of
	New   bool     `json:"new"`   // it was never let in
	heard time.Time
}

// newcomers finds out whether all members wait for each other.
type newcomers struct {
	p     *peering
	began time.Time
	said  time.Time
	since time.Time // since when nobody can have founded the cluster; zero = somebody can
	told  string

	mu  sync.Mutex // guards what follows
	all map[string]waitingMember
}

// newNewcomers begins to listen; stop ends it.
func newNewcomers(p *peering) (n *newcomers, stop func(), err error) {
	n = &newcomers{p: p, began: time.Now(), all: map[string]waitingMember{}}
	sub, err := p.nc.Subscribe(newcomersSubject, n.hear)
	if err != nil {
		return nil, nil, fmt.Errorf("listen for others that wait for the cluster: %w", err)
	}
	return n, func() { _ = sub.Unsubscribe() }, nil // the connection ends too
}

func (n *newcomers) hear(m *nats.Msg) {
	var w waitingMember
	if json.Unmarshal(m.Data, &w) != nil || w.Name == "" {
		return
	}
	w.heard = time.Now()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all[w.Name] = w
}

// look says that this member waits, and is an error if it would do so for ever.
func (n *newcomers) look() error {
	now := time.Now()
	if now.Sub(n.said) < newcomersSay {
		return nil
	}
	n.said = now
	if err := n.say(); err != nil {
		return err
	}
	if n.p.look().outside() && now.Sub(n.began) >= newcomersWarn {
		n.warnOfBar()
	}
	if !n.p.unadmitted() {
		return nil
	}
	unknown, others := n.reached(now)
	if len(unknown) > 0 {
		n.since = time.Time{}
		if now.Sub(n.began) >= newcomersWarn {
			n.warn(unknown)
		}
		return nil
	}
	if n.since.IsZero() {
		n.since = now
	}
	if now.Sub(n.since) < newcomersSure {
		return nil
	}
	return fmt.Errorf("%w %s: this member and all that -cluster-peers names (%s) are new and wait for each other; start one of them once without -cluster-peers, "+
		"which founds it, and then the others as they are; or, without certificates of your own, write `jaque cluster init` on one and `jaque cluster join` on the others, each with an empty data folder",
		ErrUnfounded, n.p.at.Name, strings.Join(others, ", "))
}

func (n *newcomers) say() error {
	at := []string{n.p.at.Listen, n.p.address(), n.p.own()}
	if n.p.at.Advertise != "" {
		at = append(at, n.p.at.Advertise)
	}
	text, err := json.Marshal(waitingMember{Name: n.p.server.Name(), At: at, Peers: n.p.at.Peers, New: n.p.unadmitted()})
	if err == nil {
		err = n.p.nc.Publish(newcomersSubject, text)
	}
	if err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		return fmt.Errorf("tell others that this member waits for the cluster: %w", err)
	}
	return nil
}

// reached follows the addresses that this member was told of, and those that new ones
// behind them were: unknown are those where nobody says to be new.
func (n *newcomers) reached(now time.Time) (unknown, others []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	behind := map[string]waitingMember{} // by address
	for _, w := range n.all {
		if w.New && now.Sub(w.heard) < newcomersForget {
			for _, a := range w.At {
				behind[a] = w
			}
		}
	}
	ahead, seen := slices.Clone(n.p.at.Peers), map[string]bool{}
	for len(ahead) > 0 {
		a := ahead[0]
		ahead = ahead[1:]
		if seen[a] {
			continue
		}
		seen[a] = true
		w, ok := behind[a]
		if !ok {
			unknown = append(unknown, a)
			continue
		}
		others = append(others, a)
		ahead = append(ahead, w.Peers...)
	}
	slices.Sort(unknown)
	slices.Sort(others)
	return unknown, others
}

// warn says once for whom this member waits.
func (n *newcomers) warn(unknown []string) {
	text := strings.Join(unknown, ", ")
	if text == n.told {
		return
	}
	n.told = text
	n.p.b.log.Warn("nobody has let this member into the cluster yet; a founder that runs does within seconds, and if there is none, "+
		"one is made with \"jaque cluster init\" or by a start without -cluster-peers", "cluster", n.p.at.Name, "waiting_for", text)
	n.p.b.waits("waiting to be let into the cluster " + n.p.at.Name + " by " + text)
}

// unadmitted tells whether this member was never let into the cluster.
func (p *peering) unadmitted() bool {
	info, err := p.server.Jsz(nil)
	return err == nil && info.Meta != nil && info.Meta.Size == unadmitted
}

// waits tells whoever asked for it what the start waits for.
func (b *Bus) waits(what string) {
	b.awaits.Store(&what)
	if b.opts.Waiting != nil {
		b.opts.Waiting(what)
	}
}

// awaitLet waits like awaitLeader, and does not do so for ever if nobody can come.
func (p *peering) awaitLet(ctx context.Context) error {
	n, stop, err := newNewcomers(p)
	if err != nil {
		return err
	}
	defer stop()
	return p.awaitLeader(ctx, n.look)
}
