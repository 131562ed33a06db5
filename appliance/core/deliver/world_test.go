package deliver_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// start is when the tests' worlds begin.
const start object.Time = 1_700_000_000_000

// at is a number of seconds after the start.
func at(seconds int) object.Time { return start + object.Time(seconds)*1000 }

// byRoot is how jaque's own policies group.
var byRoot = object.Grouping{By: object.GroupRoot, Wait: 30 * time.Second, Interval: 5 * time.Minute}

// ask is one event that tells people.
type ask struct {
	id       object.ID
	second   int
	kind     string // "" = PROBLEM
	root     object.ID
	problem  int // second at which it began; 0 = with the event
	group    object.Grouping
	policy   string
	contacts []string // "ada" = ada over email, "ada/telegram"; none = ada
}

// log makes the events that the tests' requests come from.
type log struct {
	seq  uint64
	open deliver.Open
}

// event returns the next event of the log.
func (l *log) event(a ask) *event.Event {
	l.seq++
	e := &event.Event{
		Seq: l.seq, Version: 1, ID: fmt.Sprint("e", l.seq), Kind: event.CheckResult, Object: a.id, Time: at(a.second),
		Status:  &event.Status{State: object.Critical, Checked: true, Problem: at(a.second), Root: a.root},
		Measure: &event.Measure{Output: "it is broken"},
	}
	if a.problem != 0 {
		e.Status.Problem = at(a.problem)
	}
	if a.kind == "" {
		a.kind = "PROBLEM"
	}
	if a.kind != "PROBLEM" {
		e.Status.State, e.Status.Problem, e.Status.Root = object.OK, 0, ""
	}
	n := event.Note{Kind: a.kind, Send: true, Number: 1, Policy: a.policy, Group: a.group}
	if len(a.contacts) == 0 {
		a.contacts = []string{"ada"}
	}
	for _, c := range a.contacts {
		name, channel, _ := strings.Cut(c, "/")
		if channel == "" {
			channel = "email"
		}
		n.People = append(n.People, event.Person{Name: name, Told: true, Channels: []string{channel}, Gates: []event.Gate{{Name: "known", Verdict: event.GatePassed}}})
	}
	e.Notes = []event.Note{n}
	return e
}

// ask folds the next event and returns its requests.
func (l *log) ask(a ask) []*deliver.Pending {
	added, _ := l.open.Apply(l.event(a))
	return added
}

// outcome folds what became of a request of a message.
func (l *log) outcome(b *deliver.Batch, i int, k event.Kind, now object.Time) {
	l.seq++
	p := b.Requests[i]
	l.open.Apply(&event.Event{
		Seq: l.seq, Kind: k, Object: p.Event.Object, Time: now, Facts: map[string]string{
			event.FactRequest: p.ID, event.FactContact: b.Contact, event.FactChannel: b.Channel,
			event.FactGroup: b.GroupOf(i), event.FactThread: b.Thread, event.FactAttempts: fmt.Sprint(b.Attempt), event.FactReason: "refused",
		},
	})
}

// world is what the plan looks at; roots and labels may change while it runs.
type world struct {
	roots    map[object.ID]object.ID
	problems map[object.ID]object.Time
	labels   map[object.ID]map[string]string
	states   map[object.ID]*event.Status
	sent     func(deliver.GroupKey) deliver.Last
}

func (w *world) look() *deliver.World {
	return &deliver.World{
		Status: func(id object.ID) *event.Status {
			st := w.states[id]
			if st == nil || st.Root != w.roots[id] || st.Problem != w.problems[id] {
				st = &event.Status{Root: w.roots[id], Problem: w.problems[id]}
				if w.states == nil {
					w.states = map[object.ID]*event.Status{}
				}
				w.states[id] = st
			}
			return st
		},
		Object: func(id object.ID) *object.Object {
			if w.labels[id] == nil {
				return nil
			}
			return &object.Object{ID: id, Labels: w.labels[id], Rule: &object.Rule{}}
		},
		Sent: w.sent,
	}
}

// outgoing is one message as the tests write it: "0:30 ada/email root=sw1: sw1 web!http".
func outgoing(now object.Time, b *deliver.Batch) string {
	var what []string
	for _, p := range b.Requests {
		s := string(p.Event.Object)
		if p.Note.Kind != "PROBLEM" {
			s += " " + p.Note.Kind
		}
		what = append(what, s)
	}
	marks := ""
	if b.Repeat {
		marks += " repeat"
	}
	if b.Expired {
		marks += " expired"
	}
	if b.Attempt != 1 {
		marks += fmt.Sprint(" attempt ", b.Attempt)
	}
	second := int(now-start) / 1000
	return fmt.Sprintf("%d:%02d %s/%s%s [%s]: %s", second/60, second%60, b.Contact, b.Channel, marks, b.Group, strings.Join(what, ", "))
}

// run lets the planner go on by its own Next until a second and returns what went
// out; every message is sent.
func run(p *deliver.Planner, w *world, from, to int) (out []string, all []*deliver.Batch) {
	for now := at(from); now <= at(to); {
		for b, ok := p.Take(now, w.look()); ok; b, ok = p.Take(now, w.look()) {
			out, all = append(out, outgoing(now, b)), append(all, b)
			if b.Expired {
				p.Abandoned(b)
			} else {
				p.Done(b, now)
			}
		}
		next := p.Next(now)
		if next == 0 {
			break
		}
		now = max(next, now+1)
	}
	return out, all
}

func requestIDs(all []*deliver.Pending) []string {
	out := make([]string, len(all))
	for i, p := range all {
		out[i] = p.ID
	}
	slices.Sort(out)
	return out
}
