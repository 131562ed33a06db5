package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/audit"
	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/membership"
)

// found reports what must not be, each text with what is needed to look into it.
func (x *faults) found(format string, args ...any) {
	x.t.Helper()
	x.t.Errorf(format, args...)
}

// stored is one entry of a member's log.
type stored struct {
	seq uint64
	sum [32]byte
	ev  event.Event
	err error
}

// readFolder reads the log in the folder of a member that has ended.
func (x *faults) readFolder(m *faultMember) []stored {
	x.t.Helper()
	name := bus.NamesFor("").Log
	blocks, err := bus.StoredBlocks(m.data, name)
	if err != nil {
		x.t.Fatal(err)
	}
	var all []stored
	for _, k := range blocks {
		data, err := os.ReadFile(k.Path())
		if err == nil {
			err = bus.Records(name, k.Index(), data, func(r *bus.Record) bool {
				if r.Removed {
					return true
				}
				s := stored{seq: r.Seq, sum: sha256.Sum256(bytes.Join([][]byte{r.Subject, r.Headers, r.Data}, []byte{0}))}
				if s.err = journal.ReadStored(bytes.Clone(r.Headers), bytes.Clone(r.Data), &s.ev); s.err == nil {
					s.ev.Seq, s.ev.Stream = r.Seq, event.Log
				}
				all = append(all, s)
				return true
			})
		}
		if err != nil {
			x.found("%s: %s: %v", m.id(), k.Path(), err)
		}
	}
	return all
}

// verifyEach has every member's log checked against the invariants.
func (x *faults) verifyEach() {
	for _, m := range x.members {
		r, err := audit.Verify(x.t.Context(), &audit.Folder{Data: m.data}, audit.Options{Keep: 10})
		if err != nil {
			x.found("log verify of %s: %v", m.id(), err)
			continue
		}
		for _, v := range r.Violations {
			x.found("log of %s, position %d, %s, %s: %s", m.id(), v.Seq, v.Object, v.Rule, v.Text)
		}
		if r.Open > 0 {
			x.found("log of %s: %d of %d notifications have no outcome", m.id(), r.Open, r.Requests)
		}
		x.t.Logf("log of %s: positions %d to %d, %d accepted, %d stale, %d conflicts, %d notifications asked for, %d violations",
			m.id(), r.First, r.Last, r.Accepted, r.Stale, r.Conflicts, r.Requests, r.Count())
	}
}

// tails is by how many entries the log of a member that stopped first may be shorter.
const tails = 100

// sameLogs demands that the members' logs are the same, entry by entry. The longest is
// kept.
func (x *faults) sameLogs() {
	x.t.Helper()
	logs := make([][]stored, len(x.members))
	for i, m := range x.members {
		if logs[i] = x.readFolder(m); len(logs[i]) > len(x.log) {
			x.log = logs[i]
		}
	}
	for i, m := range x.members {
		if len(logs[i])+tails < len(x.log) {
			x.found("the log of %s has %d entries, another has %d", m.id(), len(logs[i]), len(x.log))
		}
		for n, s := range logs[i] {
			if o := x.log[n]; s.seq != o.seq || s.sum != o.sum {
				x.found("the log of %s differs at position %d: event %s of %s by %s; another has position %d, event %s of %s by %s",
					m.id(), s.seq, s.ev.ID, s.ev.Object, s.ev.Writer, o.seq, o.ev.ID, o.ev.Object, o.ev.Writer)
				break
			}
		}
	}
}

// foldLog folds the log as every reader does, and keeps what stands in it.
func (x *faults) foldLog() {
	x.t.Helper()
	c, problems := config.Load(x.site, config.Options{AllZonesLocal: true})
	if len(problems) > 0 {
		x.t.Fatal(problems)
	}
	x.state = projection.New(c.Set)
	x.accepted, x.delivered = map[string]uint64{}, map[string]string{}
	for i := range x.log {
		e := &x.log[i].ev
		if x.log[i].err != nil {
			continue
		}
		out := x.state.Apply(e)
		switch {
		case e.Kind == event.NotificationDelivered:
			x.delivered[e.Facts[event.FactRequest]] = e.Facts[event.FactMessage]
		case e.Kind == event.NotificationAbandoned:
			x.found("position %d: %s of %s was given up: %s", e.Seq, e.Facts[event.FactRequest], e.Object, e.Text)
		case out == fold.Stale || out == fold.Conflict:
		case x.accepted[e.ID] != 0:
			x.found("event %s of %s is accepted at position %d and again at %d", e.ID, e.Object, x.accepted[e.ID], e.Seq)
		default:
			x.accepted[e.ID] = e.Seq
		}
		if f := e.Facts; f["members"] != "" {
			x.view(e, f["epoch"], f["members"])
		}
	}
}

// view takes in who the members were from an event on.
func (x *faults) view(e *event.Event, epoch, members string) {
	n, err := strconv.ParseUint(epoch, 10, 64)
	if err != nil || len(x.views) > 0 && n <= x.views[len(x.views)-1].Epoch {
		return // it was told by another one before
	}
	v := membership.View{Epoch: n}
	for id := range strings.SplitSeq(members, ",") {
		v.Members = append(v.Members, membership.Member{ID: id})
	}
	x.views = append(x.views, v)
}

// handovers is how often an object's owner has changed.
func (x *faults) handovers(object string) int {
	n := 0
	for i := 1; i < len(x.views); i++ {
		if x.views[i].Owner(object) != x.views[i-1].Owner(object) {
			n++
		}
	}
	return n
}

// commandsKept demands of each command what its client was told.
func (x *faults) commandsKept() {
	x.t.Helper()
	texts := map[string]int{} // in the state at the end
	for i := range x.log {
		e := &x.log[i].ev
		if x.accepted[e.ID] == e.Seq && e.Object != "" && e.Status != nil {
			for _, t := range faultTexts(e) {
				texts[string(e.Object)+t]++
			}
		}
	}
	outcomes, slowest := map[string]int{}, time.Duration(0)
	for _, c := range x.commands {
		outcomes[c.name+" "+string(c.outcome)]++
		slowest = max(slowest, c.took)
		n := texts[c.object+c.text]
		told := fmt.Sprintf("%s of %s, sent to %s at %s and answered after %s with %s", c.text, c.object, c.via, c.at.Format("15:04:05.000"), c.took.Round(time.Millisecond), c.answer)
		switch {
		case c.outcome == answeredDone && !c.silent && x.accepted[c.id] == 0:
			x.found("%s %s is not on the log", c.name, told)
		case n > 1:
			x.found("%s %s was done %d times", c.name, told, n)
		case c.outcome == answeredRefused && n > 0:
			x.found("%s %s was done although it was refused", c.name, told)
		}
		if c.outcome == answeredDone && (c.name == "add-comment" || c.name == "schedule-downtime") && !x.stands(c) {
			x.found("%s %s is not in the state", c.name, told)
		}
	}
	x.t.Logf("%d commands: %v; slowest answer %s", len(x.commands), outcomes, slowest.Round(time.Millisecond))
}

// faultTexts is the text of the command that an event has carried out, if it has.
func faultTexts(e *event.Event) []string {
	switch e.Kind {
	case event.CommentAdded, event.DowntimeScheduled, event.AckSet:
		if strings.HasPrefix(e.Text, "text-") {
			return []string{e.Text}
		}
	}
	return nil
}

// stands tells whether what a command has made is in the state, once.
func (x *faults) stands(c *faultCommand) bool {
	s, n := x.state.State(object.ID(c.object)).Status.Extra, 0
	if s == nil {
		return false
	}
	for _, one := range s.Comments {
		if one.Text == c.text {
			n++
		}
	}
	for _, one := range s.Downtimes {
		if one.Text == c.text {
			n++
		}
	}
	return n == 1
}

// runsKept compares how often each object was checked with its schedule. When a clock
// jumps, to and fro, it goes ahead once and back once: what it has passed by is checked
// at once, and so is what then has its last check ahead of it.
func (x *faults) runsKept() {
	x.t.Helper()
	of := map[string][]time.Time{}
	for _, r := range x.runs() {
		of[r.object] = append(of[r.object], r.at)
	}
	gaps := x.gaps(time.Time{})
	extra, total, handovers := 0, 0, 0
	for object, at := range of {
		slices.SortFunc(at, time.Time.Compare)
		grid, h := int(at[len(at)-1].Sub(at[0])/x.interval)+1, x.handovers(object)
		total, handovers = total+len(at), handovers+h
		extra += max(0, len(at)-grid)
		if len(at) > grid+h+1+2*x.leaps {
			x.found("%s was checked %d times within %s, and its owner changed %d times", object, len(at), at[len(at)-1].Sub(at[0]), h)
		}
	}
	if len(of) != x.hosts {
		x.found("%d of %d services were checked", len(of), x.hosts)
	}
	x.t.Logf("%d checks of %d services, %d more than the schedule has, %d handovers in %d views; longest time without a check: median %s, longest %s",
		total, len(of), extra, handovers, len(x.views), gaps[len(gaps)/2].Round(time.Millisecond), gaps[len(gaps)-1].Round(time.Millisecond))
}

// messagesKept demands that nothing was told twice without a mark and that what the log
// says was delivered came.
func (x *faults) messagesKept() {
	x.t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	came, marked := map[string]int{}, 0
	for _, m := range x.messages {
		if came[m.id]++; came[m.id] > 1 && !m.repeat {
			x.found("the message %s (%s) came again at %s and is not marked", m.id, m.what, m.at.Format("15:04:05.000"))
		}
		if m.repeat {
			marked++
		}
	}
	for request, message := range x.delivered {
		if came[message] == 0 {
			x.found("%s was delivered, says the log, and message %s never came", request, message)
		}
	}
	x.t.Logf("%d notifications delivered by %d messages, %d of them marked as possibly sent before, %d sent twice", len(x.delivered), len(x.messages), marked, len(x.messages)-len(came))
}
