package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"jaque.sh/jaque/appliance/core/event"
)

// Sizes of reading backwards: a stream is read in windows of positions, from its
// end to its front, each one larger than the one before because events of one
// object may be rare.
const (
	windowFirst  = 1 << 10
	windowGrowth = 4
	windowMax    = 1 << 20
	getBatch     = 1024
	// twinMargin is how many decisions in front of a page's bound are looked at,
	// so that a measurement whose decision stood on the page before is left out.
	twinMargin = 1000
	// late is how much earlier than its neighbours an event may have been decided:
	// behind a stretch that is all older than that nothing newer is looked for.
	late = time.Minute
	// getAtOnce is how many single events are asked for before the answers are read.
	getAtOnce = 256
)

// History reads each stream backwards until it has enough, then merges. It
// creates no consumer and leaves nothing on the server.
func (j *jetStream) History(ctx context.Context, q Query) ([]event.Event, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*j.opts.Timeout)
	defer cancel()
	q.ready()
	if q.Object == "" && !q.Results {
		log, err := j.sift(ctx, &q)
		if err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		return q.merge(log, nil), nil
	}
	token := ">"
	if q.Object != "" {
		token = q.Object.Token()
	}
	filters := []string{j.names.LogRoot + "." + token}
	if q.Object != "" {
		filters = append(filters, filters[0]+"."+outcomeToken)
	}
	margin := uint64(0)
	if q.Results && q.Before.Log != 0 {
		margin = twinMargin
	}
	var log []event.Event
	for _, f := range filters {
		events, err := j.backwards(ctx, event.Log, f, q.Before.Log+margin, &q)
		if err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		log = append(log, events...)
	}
	slices.SortFunc(log, func(a, b event.Event) int { return cmp.Compare(b.Seq, a.Seq) })
	var results []event.Event
	if q.Results {
		filter := j.names.ResultRoot + ".>"
		if q.Object != "" {
			filter = j.names.ResultRoot + ".*." + token
		}
		var err error
		if results, err = j.backwards(ctx, event.Results, filter, q.Before.Results, &q); err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
	}
	return q.merge(log, results), nil
}

// backwards reads events of one subject filter, newest first, until enough of
// them are selected or nothing older can be.
func (j *jetStream) backwards(ctx context.Context, s event.Stream, filter string, before uint64, q *Query) ([]event.Event, error) {
	st, err := j.state(ctx, s)
	if err != nil || st.Msgs == 0 {
		return nil, err
	}
	end := st.LastSeq
	if before != 0 {
		end = min(end, before-1)
	}
	var all []event.Event
	enough, size := 0, uint64(windowFirst)
	for end >= st.FirstSeq && enough < q.limit() {
		begin := st.FirstSeq
		if end-st.FirstSeq >= size {
			begin = end - size + 1
		}
		part, oldest, _, err := j.window(ctx, s, filter, begin, end)
		if err != nil {
			return nil, err
		}
		slices.Reverse(part)
		for i := range part {
			if q.selects(&part[i]) {
				enough++
			}
		}
		all = append(all, part...)
		if !oldest.IsZero() && oldest.Before(q.Since) {
			break // stored before Since, so decided before it, and so is all in front
		}
		end = begin - 1
		size = min(size*windowGrowth, windowMax)
	}
	return all, nil
}

// window reads the events of a filter, "" = all, between two positions in order,
// when the first of them was stored, and up to which position the answers say what there is.
func (j *jetStream) window(ctx context.Context, s event.Stream, filter string, begin, end uint64) (events []event.Event, oldest time.Time, seen uint64, err error) {
	inbox := j.nc.NewInbox()
	sub, err := j.nc.SubscribeSync(inbox)
	if err != nil {
		return nil, time.Time{}, 0, err
	}
	defer func() { _ = sub.Unsubscribe() }()
	for begin <= end {
		batch := map[string]any{"seq": begin, "batch": min(getBatch, end-begin+1)}
		if filter != "" {
			batch["next_by_subj"] = filter
		}
		ask, err := json.Marshal(batch)
		if err != nil {
			return nil, oldest, 0, err
		}
		if err := j.nc.PublishRequest("$JS.API.DIRECT.GET."+j.streamName(s), inbox, ask); err != nil {
			return nil, oldest, 0, err
		}
		for more := true; more; {
			m, err := sub.NextMsgWithContext(ctx)
			if err != nil {
				return nil, oldest, 0, err
			}
			var seq uint64
			if seq, more, err = directSeq(m); err != nil {
				return nil, oldest, 0, err
			}
			if !more && seq == 0 {
				return events, oldest, seen, nil // nothing further matches
			}
			seen = max(seen, seq)
			if !more || seq > end {
				begin = max(begin, seq+1)
				continue
			}
			if at, err := time.Parse(time.RFC3339Nano, own(m, "Nats-Time-Stamp")); err == nil && oldest.IsZero() {
				oldest = at
			}
			begin = seq + 1
			e := event.Event{Stream: s, Seq: seq}
			if decodeMessage(m, direct, &e) == nil {
				e.Stream, e.Seq = s, seq
				events = append(events, e)
			}
		}
	}
	return events, oldest, seen, nil
}

// fetch reads the events of the log at positions, which are in descending order;
// those that are not there any more are left out.
func (j *jetStream) fetch(ctx context.Context, positions []uint64) ([]event.Event, error) {
	var all []event.Event
	for len(positions) > 0 {
		n := min(len(positions), getAtOnce)
		begin, end := positions[n-1], positions[0]
		var part []event.Event
		var err error
		if end-begin < uint64(2*n) {
			if part, _, _, err = j.window(ctx, event.Log, "", begin, end); err == nil {
				part = slices.DeleteFunc(part, func(e event.Event) bool { return !slices.Contains(positions[:n], e.Seq) })
			}
		} else {
			part, err = j.single(ctx, positions[:n])
		}
		if err != nil {
			return nil, err
		}
		slices.SortFunc(part, func(a, b event.Event) int { return cmp.Compare(b.Seq, a.Seq) })
		all, positions = append(all, part...), positions[n:]
	}
	return all, nil
}

// single asks for each position on its own, for all of them before it waits.
func (j *jetStream) single(ctx context.Context, positions []uint64) ([]event.Event, error) {
	inbox := j.nc.NewInbox()
	sub, err := j.nc.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer func() { _ = sub.Unsubscribe() }()
	for _, seq := range positions {
		if err := j.nc.PublishRequest("$JS.API.DIRECT.GET."+j.names.Log, inbox, fmt.Appendf(nil, `{"seq":%d}`, seq)); err != nil {
			return nil, err
		}
	}
	events := make([]event.Event, 0, len(positions))
	for range positions {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			return nil, err
		}
		seq, there, err := directSeq(m)
		if err != nil {
			return nil, err
		}
		e := event.Event{Stream: event.Log, Seq: seq}
		if there && decodeMessage(m, direct, &e) == nil {
			events = append(events, e)
		}
	}
	return events, nil
}

// own returns a header as the server has set it: its own come behind those that are
// stored with the message.
func own(m *nats.Msg, name string) string {
	all := m.Header[name]
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// directSeq reads one answer to a direct get: a message with its position, or
// the end of the batch (more = false) with the last position, 0 if nothing is
// left behind it.
func directSeq(m *nats.Msg) (seq uint64, more bool, err error) {
	if at := own(m, "Nats-Sequence"); at != "" { // a message of the log may claim a status too
		seq, err = strconv.ParseUint(at, 10, 64)
		return seq, true, err
	}
	switch status := m.Header.Get("Status"); status {
	case "204":
		if m.Header.Get("Nats-Num-Pending") == "0" {
			return 0, false, nil
		}
		seq, err = strconv.ParseUint(m.Header.Get("Nats-Last-Sequence"), 10, 64)
		return seq, false, err
	case "404":
		return 0, false, nil
	case "503":
		return 0, false, jetstream.ErrStreamNotFound
	default:
		return 0, false, errors.New("log server answers " + status + " " + m.Header.Get("Description"))
	}
}
