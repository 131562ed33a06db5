package deliver_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// process is one life of a planner with what was done to it.
type process struct {
	t      *rapid.T
	l      *log
	w      *world
	p      *deliver.Planner
	now    object.Time
	limits deliver.Limits
	under  []*deliver.Batch         // taken and not back
	taken  map[string]bool          // requests in them
	times  map[string][]object.Time // when messages of a lane were taken in this life
	// left are requests that went out in a life that ended before their outcome
	// was written.
	left  map[string]bool
	sets  map[string]string      // IDs of messages by their requests
	tries map[string]object.Time // when requests first went out in this life
	old   map[string]bool        // requests that were open when it began
	// rounds are the newest of heartbeats.
	rounds map[string]uint64
}

func grouping() *rapid.Generator[object.Grouping] {
	return rapid.SampledFrom([]object.Grouping{
		{},
		byRoot, byRoot, byRoot,
		{By: object.GroupHost, Wait: 10 * time.Second, Interval: time.Minute},
		{By: object.GroupPolicy, Interval: 20 * time.Second},
		{By: "label:site", Wait: 20 * time.Second},
		{By: object.GroupRoot, Wait: time.Minute},
	})
}

var names = []object.ID{"sw1", "web", "web!http", "web!disk", "db", "db!pg"}

func limits() *rapid.Generator[deliver.Limits] {
	return rapid.Custom(func(t *rapid.T) deliver.Limits {
		return deliver.Limits{
			Deadline: rapid.SampledFrom([]time.Duration{0, 0, time.Second, 5 * time.Minute}).Draw(t, "deadline"),
			Queue:    rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "queue"),
			PerWay:   rapid.SampledFrom([]int{0, 1, 2}).Draw(t, "per way"),
			PerKind:  rapid.SampledFrom([]int{0, 1, 3}).Draw(t, "per kind"),
			Failing:  rapid.SampledFrom([]int{0, 1, 2}).Draw(t, "failing"),
			Rates: map[string]deliver.Rate{
				"email":    rapid.SampledFrom([]deliver.Rate{{}, {Messages: 1, Per: 30 * time.Second}, {Messages: 3, Per: time.Minute}}).Draw(t, "rate"),
				"telegram": {Messages: 1, Per: 10 * time.Second},
			},
		}
	})
}

func (s *process) draw() ask {
	kind := rapid.SampledFrom([]string{"", "", "RECOVERY", "CUSTOM", "ACKNOWLEDGEMENT", "HEARTBEAT"}).Draw(s.t, "kind")
	return ask{
		id: rapid.SampledFrom(names).Draw(s.t, "object"), second: int(s.now-start) / 1000, kind: kind,
		root:  rapid.SampledFrom([]object.ID{"", "", "sw1", "web"}).Draw(s.t, "root"),
		group: grouping().Draw(s.t, "group"), policy: rapid.SampledFrom([]string{"ops", "db"}).Draw(s.t, "policy"),
		contacts: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"ada", "ada/telegram", "ada/command:page", "bob"}), 1, 3, rapid.ID[string]).Draw(s.t, "contacts"),
	}
}

// take takes everything that is due and holds it against the laws.
func (s *process) take() {
	for {
		b, ok := s.p.Take(s.now, s.w.look())
		if !ok {
			break
		}
		s.check(b)
		s.under = append(s.under, b)
		s.sets[fmt.Sprint(requestIDs(b.Requests))] = b.ID
	}
	full := s.limits.Queue > 0 && len(s.under) >= s.limits.Queue
	if next := s.p.Next(s.now); next != 0 && next <= s.now || full && next != 0 {
		s.t.Fatalf("nothing was due at %d, and the next is at %d", s.now, next)
	}
}

func (s *process) check(b *deliver.Batch) {
	if len(b.Requests) == 0 || s.limits.Queue > 0 && len(s.under) >= s.limits.Queue {
		s.t.Fatalf("%d requests, with %d under way", len(b.Requests), len(s.under))
	}
	if was := s.sets[fmt.Sprint(requestIDs(b.Requests))]; was != "" && was != b.ID {
		s.t.Fatal("the same requests have another ID")
	}
	ready := false
	for i, r := range b.Requests {
		switch {
		case s.taken[r.ID]:
			s.t.Fatalf("%s is in two messages", r.ID)
		case s.l.open.Get(r.ID) == nil:
			s.t.Fatalf("%s is not open", r.ID)
		case r.Contact != b.Contact || r.Channel != b.Channel:
			s.t.Fatalf("%s is in a message to %s over %s", r.ID, b.Contact, b.Channel)
		case b.Expired && !s.over(r):
			s.t.Fatalf("%s is given up early", r.ID)
		case !b.Expired && r.Note.Kind == "HEARTBEAT" && (s.newer(r) || nextRound(r) <= s.now):
			s.t.Fatalf("%s is over and goes out", r.ID)
		case !b.Repeat && !b.Expired && s.left[r.ID]:
			s.t.Fatalf("%s went out before and is not marked", r.ID)
		case i > 0 && b.Requests[i-1].Seq > r.Seq:
			s.t.Fatal("the requests are not in the order of the log")
		}
		s.taken[r.ID] = true
		if s.tries[r.ID] == 0 && !b.Expired {
			s.tries[r.ID] = s.now
		}
		ready = ready || b.GroupOf(i) == "" || r.Note.Kind == "CUSTOM" || r.Note.Kind == "ACKNOWLEDGEMENT" || r.Time.Add(r.Note.Group.Wait) <= s.now
	}
	lane := b.Contact + "/" + b.Channel
	if b.Expired {
		return
	}
	s.places(b)
	if !ready {
		s.t.Fatal("the message did not wait")
	}
	if b.Requests[0].Note.Kind == "HEARTBEAT" {
		return
	}
	s.times[lane] = append(s.times[lane], s.now)
	if r := s.limits.Rates[b.Channel]; r.Messages > 0 {
		if n := len(s.times[lane]) - 1 - r.Messages; n >= 0 && s.times[lane][n].Add(r.Per) > s.now {
			s.t.Fatalf("more than %d messages in %v to %s", r.Messages, r.Per, lane)
		}
	}
}

// places holds a message against the bounds of what may be under way beside it.
func (s *process) places(b *deliver.Batch) {
	way, kind := 1, 1
	for _, o := range s.under {
		beat := o.Requests[0].Note.Kind == "HEARTBEAT" // has a way of its own
		switch {
		case o.Expired:
		case o.Contact == b.Contact && o.Channel == b.Channel && beat == (b.Requests[0].Note.Kind == "HEARTBEAT"):
			way++
			fallthrough
		case kindOf(o.Channel) == kindOf(b.Channel):
			kind++
		}
	}
	most := s.limits.PerKind
	if most == 1 && s.limits.Failing > 0 {
		most = 2 // one of them on a way that fails
	}
	if s.limits.PerWay > 0 && way > s.limits.PerWay || most > 0 && kind > most {
		s.t.Fatalf("%d messages to %s over %s at once, %d over the kind", way, b.Contact, b.Channel, kind)
	}
}

func kindOf(channel string) string {
	kind, _, _ := strings.Cut(channel, ":")
	return kind
}

func nextRound(r *deliver.Pending) object.Time { return r.Time.Add(5 * time.Minute) }

// roundOf names a heartbeat to somebody.
func roundOf(r *deliver.Pending) string {
	return fmt.Sprint(r.Event.Object, " ", r.Contact, " ", r.Channel)
}

// newer tells whether a newer round of a heartbeat is open.
func (s *process) newer(r *deliver.Pending) bool {
	return slices.ContainsFunc(s.l.open.All(), func(o *deliver.Pending) bool {
		return o.Seq > r.Seq && o.Note.Kind == r.Note.Kind && roundOf(o) == roundOf(r)
	})
}

// over tells whether a request may be given up: a heartbeat as soon as its next round
// is due or there, anything else when it has been tried for long enough. What was
// open when the process began was perhaps tried before.
func (s *process) over(r *deliver.Pending) bool {
	if r.Note.Kind == "HEARTBEAT" {
		return s.rounds[roundOf(r)] > r.Seq || nextRound(r) <= s.now
	}
	deadline := s.limits.Deadline
	if deadline == 0 {
		deadline = 24 * time.Hour
	}
	first := s.tries[r.ID]
	return first != 0 && (s.old[r.ID] || first.Add(deadline) <= s.now)
}

// back gives one message back, as a channel may.
func (s *process) back(i int, how string) {
	b := s.under[i]
	s.under = slices.Delete(s.under, i, i+1)
	for _, r := range b.Requests {
		delete(s.taken, r.ID)
	}
	if b.Expired && how != "failed" {
		how = "abandoned"
	}
	switch how {
	case "failed":
		after := rapid.SampledFrom([]time.Duration{0, 0, 20 * time.Second}).Draw(s.t, "retry after")
		first := 4 * time.Second
		if b.Requests[0].Note.Kind == "HEARTBEAT" {
			first = 800 * time.Millisecond
		}
		if again := s.p.Failed(b, s.now, after); again < s.now.Add(max(first, after)) {
			s.t.Fatalf("tried again at once")
		}
		for i := range b.Requests {
			s.l.outcome(b, i, event.NotificationFailed, s.now)
		}
		return
	case "sent":
		s.p.Done(b, s.now)
	default:
		s.p.Abandoned(b)
	}
	kind := event.NotificationDelivered
	if how == "abandoned" {
		kind = event.NotificationAbandoned
	}
	for i := range b.Requests {
		s.l.outcome(b, i, kind, s.now)
	}
}

// die begins anew from what the log knows. Of the messages under way some went out,
// with all, some or none of their outcomes written.
func (s *process) die() {
	for _, b := range s.under {
		if b.Expired || !rapid.Bool().Draw(s.t, "went out") {
			continue
		}
		written := rapid.IntRange(0, len(b.Requests)).Draw(s.t, "outcomes written")
		for i, r := range b.Requests {
			if i < written && s.l.open.Get(r.ID) != nil {
				s.l.outcome(b, i, event.NotificationDelivered, s.now)
			}
			s.left[r.ID] = true
		}
	}
	data := deliver.AppendOpen(nil, &s.l.open)
	if err := deliver.DecodeOpen(data, &s.l.open); err != nil {
		s.t.Fatal(err)
	}
	s.begin()
}

// begin makes a new planner of what is open.
func (s *process) begin() {
	s.p, s.under = deliver.NewPlanner(s.limits), nil
	s.taken, s.times = map[string]bool{}, map[string][]object.Time{}
	s.tries, s.old = map[string]object.Time{}, map[string]bool{}
	s.w.sent = s.l.open.Sent
	all := s.l.open.All()
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, r := range all {
		s.old[r.ID] = true
		s.p.Add(r, true)
	}
	s.take()
}

func (s *process) step() {
	switch rapid.IntRange(0, 9).Draw(s.t, "step") {
	case 0, 1, 2:
		for _, r := range s.l.ask(s.draw()) {
			if r.Note.Kind == "HEARTBEAT" {
				s.rounds[roundOf(r)] = r.Seq
			}
			s.p.Add(r, false)
		}
		s.p.Pass(s.now)
	case 3:
		s.w.roots[rapid.SampledFrom(names).Draw(s.t, "object")] = rapid.SampledFrom([]object.ID{"", "sw1", "web"}).Draw(s.t, "root")
	case 4, 5, 6:
		s.now += 1000 * object.Time(rapid.IntRange(1, 90).Draw(s.t, "seconds"))
		s.take()
	case 7:
		if len(s.under) > 0 {
			s.back(rapid.IntRange(0, len(s.under)-1).Draw(s.t, "which"), rapid.SampledFrom([]string{"sent", "failed", "abandoned"}).Draw(s.t, "how"))
		}
	case 8:
		// Somebody else settles what is not under way here.
		all := slices.DeleteFunc(s.l.open.All(), func(r *deliver.Pending) bool { return s.taken[r.ID] })
		if len(all) > 0 {
			r := rapid.SampledFrom(all).Draw(s.t, "ended")
			s.l.seq++
			k := deliver.KeyOf(r, s.w.look())
			s.l.open.Apply(&event.Event{Seq: s.l.seq, Kind: event.NotificationDelivered, Object: r.Event.Object, Time: s.now, Facts: map[string]string{
				event.FactRequest: r.ID, event.FactContact: k.Contact, event.FactChannel: k.Channel, event.FactGroup: k.Group,
			}})
			s.p.End(r.ID)
		}
	default:
		s.die()
	}
}

// Whatever happens, and however often the process dies: every request ends, none is
// in two messages at once, nothing goes out that is settled, no rate is exceeded,
// what may have gone out before is marked, nothing is given up that was not tried,
// and of a heartbeat only the newest round goes out, in its time.
func TestNothingIsLostAndNothingIsDoubledUnmarked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &process{
			t: t, l: &log{}, limits: limits().Draw(t, "limits"), now: start, left: map[string]bool{}, sets: map[string]string{}, rounds: map[string]uint64{},
			w: &world{roots: map[object.ID]object.ID{}, labels: map[object.ID]map[string]string{"web!http": {"site": "berlin"}}},
		}
		s.begin()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			s.step()
		}
		for range 10000 {
			s.take()
			for len(s.under) > 0 {
				s.back(0, "sent")
			}
			next := s.p.Next(s.now)
			if next == 0 {
				break
			}
			s.now = max(next, s.now+1)
		}
		if n, w := s.l.open.Len(), s.p.Waiting(s.now); n != 0 || w.Open != 0 || w.InFlight != 0 {
			t.Fatalf("%d requests are left open, with the planner %+v", n, w)
		}
	})
}

// What goes out depends on the requests, not on the order in which they were added
// or on how a map is gone through.
func TestThePlanDoesNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, limits := &log{}, limits().Draw(t, "limits")
		limits.Queue = 0
		w := &world{roots: map[object.ID]object.ID{}}
		byTime := map[int][]*deliver.Pending{}
		draw := &process{t: t}
		for range rapid.IntRange(1, 40).Draw(t, "asks") {
			second := rapid.IntRange(0, 20).Draw(t, "when") * 7
			draw.now = at(second)
			byTime[second] = append(byTime[second], l.ask(draw.draw())...)
		}
		for _, id := range names {
			w.roots[id] = rapid.SampledFrom([]object.ID{"", "", "sw1"}).Draw(t, "root")
		}
		var first []string
		for round := range 3 {
			p, out, last := deliver.NewPlanner(limits), []string(nil), 0
			for _, second := range slices.Sorted(maps.Keys(byTime)) {
				some, _ := run(p, w, last, second-1)
				out, last = append(out, some...), second
				all := slices.Clone(byTime[second])
				rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
				for _, r := range all {
					p.Add(r, false)
				}
			}
			some, all := run(p, w, last, 86400)
			for _, b := range all {
				some = append(some, b.ID+b.Thread)
			}
			if out = append(out, some...); round == 0 {
				first = out
			} else if !slices.Equal(out, first) {
				t.Fatalf("once\n%q\nthen\n%q", first, out)
			}
		}
	})
}

// Twice as many requests cost about twice as much looking at objects, whether they
// are one group or each its own, and become due at once or one after the other.
func TestTheWorkGrowsWithTheRequests(t *testing.T) {
	looks := func(n int, root object.ID, spread int) int {
		l, p := &log{}, deliver.NewPlanner(deliver.Limits{})
		for i := range n {
			add(l, p, false, ask{id: object.ServiceID(fmt.Sprint("h", i), "x"), second: i * spread / n, root: root, group: byRoot})
		}
		count := 0
		w := deliver.World{Status: func(object.ID) *event.Status { count++; return &event.Status{Root: root} }}
		for now := at(0); now < at(7200); now = max(now+1, p.Next(now)) {
			for b, ok := p.Take(now, &w); ok; b, ok = p.Take(now, &w) {
				p.Done(b, now)
			}
			if p.Next(now) == 0 {
				return count
			}
		}
		t.Fatalf("%+v are left", p.Waiting(at(7200)))
		return 0
	}
	for _, root := range []object.ID{"", "sw1"} {
		for _, spread := range []int{0, 60} {
			if once, twice := looks(500, root, spread), looks(1000, root, spread); twice > 3*once || once > 500*400 { // each second, for some minutes
				t.Errorf("behind %q over %d s: %d looks for 500, %d for 1000", root, spread, once, twice)
			}
		}
	}
}
