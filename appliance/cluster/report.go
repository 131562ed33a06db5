package cluster

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/bus"
)

// Report is what a member says of its cluster.
type Report struct {
	Cluster string         `json:"cluster"`
	Self    string         `json:"self"`             // who says it
	Leader  string         `json:"leader,omitempty"` // "" = there is none
	Quorum  bool           `json:"quorum"`
	Copies  int            `json:"copies"` // of every stream, as they shall be
	Members []MemberReport `json:"members"`
	Streams []StreamReport `json:"streams"`
	Engines *Engines       `json:"engines,omitempty"` // nil = no member that was reached runs one
	Tokens  []Out          `json:"tokens,omitempty"`  // that this member gave out and nobody has used
	// Admitted are machines that were let in and have not started yet, by id.
	Admitted []Admitted `json:"admitted,omitempty"`
	// Outlook says in sentences what is lost, and what stops, if one more member dies.
	Outlook []string `json:"outlook"`
	// Left says in a sentence what a removal left open, if it is the answer to one.
	Left string `json:"left,omitempty"`
	// Missing says in sentences what a removal by force, a moment ago, may have lost. It is
	// part of Trouble.
	Missing []string `json:"missing,omitempty"`
	// Trouble says in sentences what is wrong now.
	Trouble []string `json:"trouble,omitempty"`
}

// MemberReport is one member.
type MemberReport struct {
	ID      string `json:"id"`
	Address string `json:"address,omitempty"` // "" = it does not answer and this member does not know
	Online  bool   `json:"online"`
	Leader  bool   `json:"leader,omitempty"`
	Witness bool   `json:"witness,omitempty"`
	Version string `json:"version,omitempty"`
	// Users are those that it lets in; nil = it did not say.
	Users *UserList `json:"users,omitempty"`
	// Drill tells that its engine is out of the membership for a drill.
	Drill bool `json:"drill,omitempty"`
}

// StreamReport is one stream and who keeps it.
type StreamReport struct {
	Name   string `json:"name"`
	Leader string `json:"leader,omitempty"`
	Copies int    `json:"copies"` // as declared
	Whole  bool   `json:"whole"`  // all wanted copies are there and have everything
	Last   uint64 `json:"last"`   // position
	Bytes  uint64 `json:"bytes"`
	Others []Copy `json:"others,omitempty"` // beside the leader's
}

// Copy is one copy of a stream.
type Copy struct {
	Member string `json:"member"`
	Online bool   `json:"online"`
	Lag    uint64 `json:"lag"` // appends that it lacks
}

// Engines is who shares the objects.
type Engines struct {
	Epoch   uint64   `json:"epoch"`
	Members []Engine `json:"members"` // by id
}

// Engine is one engine and its share.
type Engine struct {
	ID         string `json:"id"`
	Live       bool   `json:"live"`
	Objects    int    `json:"objects"` // that it owns
	Generation string `json:"generation,omitempty"`
	// Expires is when the others take its objects over, if it stays silent; zero = it is
	// heard. Until then nobody checks them.
	Expires time.Time `json:"expires,omitzero"`
}

// Out is a token that nobody has used yet.
type Out struct {
	Address string    `json:"address"` // where it is answered
	Expires time.Time `json:"expires"`
	Witness bool      `json:"witness,omitempty"`
}

// Admitted is a machine that was let in and has not started yet.
type Admitted struct {
	ID      string    `json:"id"`
	Address string    `json:"address"` // where it is to listen
	Until   time.Time `json:"until"`   // when its id is given to another one too
}

// self is what each member says of itself when all are asked.
type self struct {
	ID      string    `json:"id"`
	Address string    `json:"address"`
	Witness bool      `json:"witness,omitempty"`
	Version string    `json:"version,omitempty"`
	Engines *Engines  `json:"engines,omitempty"`
	Users   *UserList `json:"users,omitempty"`
	Drill   bool      `json:"drill,omitempty"`
	// Barred are names that cannot come back yet, with the time that is left.
	Barred map[string]time.Duration `json:"barred,omitempty"`
	// Instance tells this process from another one with the same id, and Since when it was
	// started by its clock; "" = the release does not say.
	Instance string    `json:"instance,omitempty"`
	Since    time.Time `json:"since,omitzero"`
	// Admitted are the machines that it let in and that have not started yet, by id.
	Admitted map[string]admitted `json:"admitted,omitempty"`
}

// newReport puts together what the server knows and what the members say.
func newReport(st *bus.Status, said map[string]self) *Report {
	r := &Report{Cluster: st.Cluster, Self: st.Self, Leader: st.Leader, Quorum: st.Quorum, Copies: st.Wanted, Missing: st.Missing, Outlook: outlook(st)}
	for _, m := range st.Members {
		s := said[m.Name]
		r.Members = append(r.Members, MemberReport{
			ID: m.Name, Address: s.Address, Online: m.Online, Leader: m.Name == st.Leader, Witness: s.Witness, Version: s.Version, Users: s.Users, Drill: s.Drill,
		})
		if s.Engines != nil && (r.Engines == nil || s.Engines.Epoch > r.Engines.Epoch) {
			r.Engines = s.Engines
		}
	}
	for _, s := range said {
		for id, in := range s.Admitted {
			if !r.Has(id) {
				r.Admitted = append(r.Admitted, Admitted{id, in.Listen, in.Until})
			}
		}
	}
	slices.SortFunc(r.Admitted, func(x, y Admitted) int { return strings.Compare(x.ID, y.ID) })
	if text := r.Engines.differing(); text != "" {
		r.Trouble = append(r.Trouble, text)
	}
	r.Trouble = append(r.Trouble, r.nobodys()...)
	online := online(st)
	for _, s := range st.Streams {
		one := StreamReport{Name: s.Name, Leader: s.Leader, Copies: s.Replicas, Whole: s.Whole(st.Wanted), Last: s.Last, Bytes: s.Bytes}
		for _, o := range s.Others {
			there := !o.Offline && online[o.Name]
			one.Others, one.Whole = append(one.Others, Copy{Member: o.Name, Online: there, Lag: o.Lag}), one.Whole && there
		}
		r.Streams = append(r.Streams, one)
	}
	return r
}

// outlook says what follows when one more member dies.
func outlook(st *bus.Status) []string {
	size, there := len(st.Members), len(online(st))
	all, lacking := []string(nil), unwhole(st)
	switch {
	case size <= 1:
		all = append(all, "this is the only member: if its disk is lost, so is everything since the last backup; if it stops, nothing is checked")
	case !st.Quorum, len(st.Streams) == 0: // or it waits for its cluster
		all = append(all, "nothing is written at present; what was acknowledged is on the members' disks and stays")
	case st.Unled() != "":
		all = append(all, st.Unled()+"; what was acknowledged is on their disks and stays")
	case size == 2:
		all = append(all, "two members: if one of them dies or is cut off, nothing is written until it is back, checks stop, "+
			"and what would have been measured meanwhile is lost; what was acknowledged is on both disks and stays; "+
			"a third member, which may be a witness (`jaque cluster token -witness`), changes that")
	case len(lacking) > 0: // that says what is lost
	case 2*(there-1) > size:
		all = append(all, "one more member may die: the others take over and nothing that was acknowledged is lost")
	default:
		all = append(all, "if one more member dies, nothing is written until one is back; nothing that was acknowledged is lost")
	}
	if len(st.Missing) > 0 { // a removal may have cost something
		for i := range all {
			all[i] = strings.ReplaceAll(all[i], "nothing that was acknowledged", "nothing more that was acknowledged")
		}
	}
	return append(all, lacking...)
}

// online are the members that can be reached.
func online(st *bus.Status) map[string]bool {
	names := map[string]bool{}
	for _, m := range st.Members {
		if m.Online {
			names[m.Name] = true
		}
	}
	return names
}

// unwhole names streams of which a member that is there lacks something. Those that are
// away have theirs on disk.
func unwhole(st *bus.Status) []string {
	var names []string
	there := online(st)
	for _, s := range st.Streams {
		s.Others = slices.Clone(s.Others)
		for i, o := range s.Others {
			if !there[o.Name] {
				s.Others[i] = bus.Replica{Name: o.Name, Current: true}
			}
		}
		if st.Wanted > 1 && st.Quorum && !s.Whole(st.Wanted) {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return []string{fmt.Sprintf("not every copy is made or filled yet of %s: until then the loss of a member that has all of it can lose what was acknowledged, "+
		"or stop it from being written", strings.Join(names, ", "))}
}
