package chain

import (
	"fmt"
	"slices"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Verifier checks the events of one log. The zero value is ready; it has one owner.
// Everything is handed over once and in the order of the positions: Add for an event,
// Foreign, Unreadable and Removed for positions without one. What it keeps of an event
// is bounded for each object and each request.
type Verifier struct {
	// Keep bounds the violations that Report lists; 0 = 1000. All are counted.
	Keep int

	report   Report
	begun    bool
	objects  map[string]*history
	requests map[uint64]bool // by hash of the ID: whether there is a final outcome
	writers  map[string]*uint64
}

// Entry is an event of the log as Verifier needs it. Nothing in it is kept.
type Entry struct {
	Seq     uint64
	Subject []byte // what stands behind the root of the log's subjects; nil = not known
	event.Glance
	Whole *event.Event // of an event with notes or facts, else it may be nil
}

// baseKept is how many accepted positions of an object are remembered, idsKept how
// many ids of its decisions.
const (
	baseKept = 4
	idsKept  = 8
)

// history is what is remembered of one object.
type history struct {
	fence    uint64 // newest epoch
	writer   string // of the newest epoch
	instance string
	last     uint64           // newest accepted position
	bases    [baseKept]uint64 // accepted positions, a ring
	ids      [idsKept]uint64  // hashes of accepted ids, a ring
	accepted int
	token    string // of the object's subject, once it was asked for
}

// Add checks an event of the log, which need not have been decoded as a whole.
func (v *Verifier) Add(e *Entry) {
	if !v.arrive(e.Seq, e.Seq) {
		return
	}
	r := &v.report
	r.Events++
	if e.Version > event.Version {
		r.Newer++
	}
	v.signed(e)
	switch {
	case len(e.Object) == 0:
		r.System++
		v.onSystem(e)
	case e.Kind.Outcome():
		r.Outcomes++
		v.placed(v.object(e.Object), e, ".outcome")
		v.outcome(e)
	default:
		v.decision(e)
	}
}

// fact returns a fact of the event, "" if it has not got it.
func (e *Entry) fact(name string) string {
	if e.Whole == nil {
		return ""
	}
	return e.Whole.Facts[name]
}

// Foreign takes a message that nobody has published as an event. It is counted: every
// reader passes it over.
func (v *Verifier) Foreign(seq uint64) {
	if v.arrive(seq, seq) {
		v.report.Foreign++
	}
}

// Unreadable takes a message that is no event that can be read.
func (v *Verifier) Unreadable(seq uint64, why error) {
	if v.arrive(seq, seq) {
		v.report.Unreadable++
		v.violate(Decode, seq, "", "the event cannot be read: %v", why)
	}
}

// Damaged takes bytes that cannot be read, in front of a position, and that held no
// position which is missing, as far as can be told.
func (v *Verifier) Damaged(seq uint64, why error) {
	v.violate(Decode, seq, "", "what stands in front of the position cannot be read: %v", why)
}

// Begins takes the oldest position that must be there, and why.
func (v *Verifier) Begins(at uint64, why string) {
	if first := v.report.First; v.begun && first > at {
		v.lack(at, first-1, why)
	}
}

// Reaches takes the newest position that must be there, and why. Nothing may follow.
func (v *Verifier) Reaches(to uint64, why string) {
	if last := v.report.Last; to > last {
		v.lack(last+1, to, why)
	}
}

// lack takes positions that must be there, in front of the first or behind the last.
func (v *Verifier) lack(from, to uint64, why string) {
	v.report.Missing += to - from + 1
	v.report.Complete = false
	text := fmt.Sprintf("the positions %d to %d are missing", from, to)
	if from == to {
		text = fmt.Sprintf("the position %d is missing", from)
	}
	v.violate(Gap, from, "", "%s: %s", text, why)
}

// Removed takes positions that are not there, for a reason that is known: "" is no
// reason.
func (v *Verifier) Removed(from, to uint64, why string) {
	if why != "" && v.arrive(from, to) {
		v.report.Removed += to - from + 1
		v.report.Complete = false
	}
}

// arrive takes positions in. Those that were passed over on the way are missing; one
// that was there before is refused.
func (v *Verifier) arrive(from, to uint64) bool {
	r := &v.report
	if !v.begun {
		v.begun = true
		r.First, r.Last, r.Complete = from, from-1, from == 1
		v.objects, v.requests, v.writers = map[string]*history{}, map[uint64]bool{}, map[string]*uint64{}
	}
	switch {
	case from <= r.Last:
		v.violate(Gap, from, "", "the position was read behind position %d", r.Last)
		return false
	case from > r.Last+1:
		r.Missing += from - r.Last - 1
		v.violate(Gap, r.Last+1, "", "the positions %d to %d are missing", r.Last+1, from-1)
	}
	r.Last = to
	return true
}

// signed checks that the event says who decided it, when and in which run.
func (v *Verifier) signed(e *Entry) {
	if len(e.Writer) == 0 || len(e.ID) == 0 {
		v.violate(Writer, e.Seq, e.About(), "the event does not say who has written it, or has no id")
		return
	}
	if n := v.writers[string(e.Writer)]; n != nil {
		*n++
	} else {
		n := uint64(1)
		v.writers[string(e.Writer)] = &n
	}
	v.report.Epoch = max(v.report.Epoch, e.Epoch)
}

func (v *Verifier) object(id []byte) *history {
	h := v.objects[string(id)]
	if h == nil {
		h = &history{}
		v.objects[string(id)] = h
	}
	return h
}

// onSystem checks the subject of an event without an object.
func (v *Verifier) onSystem(e *Entry) {
	topic := e.fact("topic")
	if want := "_system." + object.ID(topic).Token(); e.Subject != nil && string(e.Subject) != want {
		v.violate(Subject, e.Seq, "", "an event about %q stands on subject %s instead of %s", topic, e.Subject, want)
	}
}

// placed checks that an event of an object stands where everybody else looks for it,
// because positions are compared by subject.
func (v *Verifier) placed(h *history, e *Entry, suffix string) {
	subject := e.Subject
	if subject == nil {
		return
	}
	if h.token == "" {
		h.token = e.About().Token()
	}
	if len(subject) != len(h.token)+len(suffix) || string(subject[:len(h.token)]) != h.token || string(subject[len(h.token):]) != suffix {
		v.violate(Subject, e.Seq, e.About(), "an event of the object stands on subject %s instead of %s%s", subject, h.token, suffix)
	}
}

// decision checks one decision about an object as every reader takes it in, §3 of the
// protocol: an older epoch is discarded, another base too, but that raises the fence.
func (v *Verifier) decision(e *Entry) {
	h := v.object(e.Object)
	v.placed(h, e, "")
	first := h.accepted == 0
	if e.Epoch < h.fence {
		v.report.Stale++
		v.violate(Epoch, e.Seq, e.About(), "engine %s has written under epoch %d behind an event of epoch %d", e.Writer, e.Epoch, h.fence)
		return
	}
	v.oneWriter(h, e, first)
	if e.Prev != h.last && !first {
		v.report.Conflicts++
		v.base(h, e)
		return
	}
	if first && e.Prev != 0 && (v.report.Complete || e.Prev >= v.report.First) {
		v.violate(Chain, e.Seq, e.About(), "the object's first event was decided on position %d, where no accepted event of it stands", e.Prev)
	}
	v.accept(h, e)
}

// oneWriter checks that one process run writes about the object in one epoch.
func (v *Verifier) oneWriter(h *history, e *Entry, first bool) {
	switch {
	case first || e.Epoch > h.fence:
		h.fence = e.Epoch
		if h.writer != string(e.Writer) {
			h.writer = string(e.Writer)
		}
		if h.instance != string(e.Instance) {
			h.instance = string(e.Instance)
		}
	case h.writer != string(e.Writer):
		v.violate(Writer, e.Seq, e.About(), "engine %s has written under epoch %d, in which engine %s wrote about the object", e.Writer, e.Epoch, h.writer)
	case h.instance != string(e.Instance):
		v.violate(Writer, e.Seq, e.About(), "two processes (%s and %s) of engine %s have written about the object under epoch %d", h.instance, e.Instance, e.Writer, e.Epoch)
	}
}

// base checks on what a discarded decision was based. An older accepted event is what
// a writer meant whose append the log should have refused; anything else is no state
// that any reader has ever held.
func (v *Verifier) base(h *history, e *Entry) {
	switch {
	case e.Prev == 0, slices.Contains(h.bases[:min(h.accepted, baseKept)], e.Prev):
		return
	case e.Prev < h.oldest() && (h.accepted > baseKept || e.Prev < v.report.First):
		return // too long ago to tell
	}
	v.violate(Chain, e.Seq, e.About(), "it was decided on position %d, where no accepted event of the object stands; the last one is %d", e.Prev, h.last)
}

// oldest returns the oldest accepted position that is remembered.
func (h *history) oldest() uint64 {
	if h.accepted <= baseKept {
		return h.bases[0]
	}
	return h.bases[h.accepted%baseKept]
}

// accept takes a decision into the object's chain.
func (v *Verifier) accept(h *history, e *Entry) {
	r := &v.report
	r.Accepted++
	if !e.Status {
		r.Unknown++
	}
	id := hash(e.ID)
	for _, other := range h.ids[:min(h.accepted, idsKept)] {
		if other == id {
			v.violate(Twice, e.Seq, e.About(), "the decision %s was accepted a second time", e.ID)
		}
	}
	h.ids[h.accepted%idsKept], h.bases[h.accepted%baseKept] = id, e.Seq
	h.accepted++
	h.last = e.Seq
	if e.Whole != nil && len(e.Whole.Notes) > 0 {
		v.ask(e)
	}
}

// ask takes in what an accepted decision wants to be delivered.
func (v *Verifier) ask(e *Entry) {
	for _, q := range e.Whole.Requests() {
		v.report.Requests++
		id := hash(q.ID)
		if _, known := v.requests[id]; known {
			v.violate(Twice, e.Seq, e.About(), "the notification %s was asked for a second time", q.ID)
			continue
		}
		v.requests[id] = false
		v.report.Open++
	}
}

// outcome checks what became of a request. Only the first final outcome counts, as for
// every reader; more of them are what a handover of the delivery leaves.
func (v *Verifier) outcome(e *Entry) {
	if e.Kind == event.HandlerRan {
		return
	}
	r := &v.report
	request := e.fact(event.FactRequest)
	id := hash(request)
	done, known := v.requests[id]
	switch {
	case !known && r.Complete || request == "":
		v.violate(Outcome, e.Seq, e.About(), "%s of a notification that no accepted event has asked for: %q", e.Kind, request)
	case !known:
		r.Earlier++
	case e.Kind == event.NotificationFailed:
	case done:
		r.Repeated++
	default:
		v.requests[id] = true
		r.Open--
	}
}

func (v *Verifier) violate(rule Rule, seq uint64, id object.ID, format string, args ...any) {
	r := &v.report
	if r.ByRule == nil {
		r.ByRule = map[Rule]uint64{}
	}
	r.ByRule[rule]++
	keep := v.Keep
	if keep == 0 {
		keep = defaultKeep
	}
	if len(r.Violations) < keep {
		r.Violations = append(r.Violations, Violation{Rule: rule, Seq: seq, Object: id, Text: fmt.Sprintf(format, args...)})
	}
}

// hash is 64-bit FNV-1a.
func hash[T string | []byte](text T) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(text); i++ {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}
