package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// When a member is removed, the server forms the groups of its streams anew with those who
// are left, and whoever leads such a group says what the stream holds. A copy that was away
// while the others went on would become the stream then, and what they had acknowledged
// meanwhile would be gone without a word. So before a removal all members that can be
// reached are asked which copies they hold and what they know to be acknowledged. A stream
// that has a leader is safe: a majority of its copies agrees with it. One without a leader
// is safe only if so many of its copies stay that every majority has one among them.

// copiesSubject is where members ask each other which copies they hold.
const copiesSubject = "jaque.cluster.copies"

// copyWord is what a member says of its copies.
type copyWord struct {
	Member string `json:"member"`
	// Acknowledged is the highest position of the log that this member knows to be
	// acknowledged; 0 = it knows of none.
	Acknowledged uint64         `json:"acknowledged,omitempty"`
	Streams      []StreamStatus `json:"streams"`
}

// tellCopiesHeld answers those who ask, until the connection ends.
func (p *peering) tellCopiesHeld() error {
	_, err := p.nc.Subscribe(copiesSubject, func(m *nats.Msg) {
		text, err := json.Marshal(p.holds())
		if err == nil {
			err = m.Respond(text)
		}
		if err != nil {
			p.b.log.Debug("who asks is not told of the copies here", "err", err)
		}
	})
	if err != nil {
		return fmt.Errorf("listen for who asks for copies of streams: %w", err)
	}
	return nil
}

// holds is what this member says of its copies.
func (p *peering) holds() copyWord {
	w := copyWord{Member: p.server.Name()}
	if e := p.b.embed; e != nil && e.guard != nil {
		w.Acknowledged = e.guard.highest()
	}
	var err error
	if w.Streams, err = p.streams(context.Background(), false); err != nil {
		p.b.log.Debug("the copies here are not known", "err", err)
	}
	return w
}

// askCopies asks all members for their copies, and returns what those say who can be
// reached. One of an earlier release says nothing.
func (p *peering) askCopies(ctx context.Context) ([]copyWord, error) {
	inbox := "jaque.cluster.copies-of." + nuid.Next()
	sub, err := p.nc.SubscribeSync(inbox)
	if err != nil {
		return nil, fmt.Errorf("ask the members for their copies: %w", err)
	}
	defer func() { _ = sub.Unsubscribe() }() // the connection ends too
	if err := p.nc.PublishRequest(copiesSubject, inbox, nil); err != nil {
		return nil, fmt.Errorf("ask the members for their copies: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	all := []copyWord{p.holds()}
	for len(all) < p.look().Online {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			break // who says nothing is not counted on
		}
		var w copyWord
		if json.Unmarshal(m.Data, &w) == nil && w.Member != all[0].Member {
			all = append(all, w)
		}
	}
	return all, nil
}

// fate is what becomes of one stream without a leader when members leave.
type fate struct {
	stream  string
	copies  int               // as the stream is declared; 0 = nobody says
	holders []string          // all who keep a copy, as far as that is known
	stays   map[string]uint64 // where the copies end that can be reached and stay
	away    []string          // holders that cannot be reached
	acked   uint64            // what is known to be acknowledged; 0 = nothing is, or it is not the log
	knows   string            // who knows that
}

// size is how many copies there are. While a member starts, it does not know yet who else
// keeps them.
func (f *fate) size() int { return max(f.copies, len(f.holders)) }

// known tells whether it is known who keeps the copies.
func (f *fate) known() bool { return len(f.holders) > 0 && len(f.holders) == f.size() }

// reached is how many copies can be reached.
func (f *fate) reached() int { return len(f.holders) - len(f.away) }

// led tells whether so many copies can be reached that they choose a leader.
func (f *fate) led() bool { return f.reached() > f.size()/2 }

// certain tells whether the copies that stay hold everything that was acknowledged: it
// stood on a majority of the copies, and every majority has one among those that stay.
func (f *fate) certain() bool {
	n := f.size()
	return n > 0 && n-len(f.stays) < n/2+1
}

// missing is how many positions are known to be missing from the copies that stay.
func (f *fate) missing() uint64 {
	return f.acked - min(f.acked, f.end())
}

// end is the last position of the copies that stay.
func (f *fate) end() (last uint64) {
	for _, at := range f.stays {
		last = max(last, at)
	}
	return last
}

// String says what is known, and what is not.
func (f *fate) String() string {
	if len(f.holders) == 0 {
		return fmt.Sprintf("no member that can be reached holds a copy of the stream %s", f.stream)
	}
	var ends []string
	for _, name := range f.holders {
		if last, stays := f.stays[name]; stays {
			ends = append(ends, fmt.Sprintf("the one at %s ends at %d", name, last))
		}
	}
	away := f.away
	if more := f.size() - len(f.holders); more > 0 {
		away = append(slices.Clone(away), fmt.Sprintf("%d more", more))
	}
	text := fmt.Sprintf("of the copies of the stream %s those at %s cannot be reached", f.stream, strings.Join(away, " and "))
	if len(ends) == 0 {
		return text + ", and no other one stays"
	}
	text += ", " + strings.Join(ends, ", ")
	switch missing := f.missing(); {
	case missing > 0:
		return fmt.Sprintf("%s, and %d was acknowledged, as %s knows: %d positions are missing at least", text, f.acked, f.knows, missing)
	case f.acked > 0:
		return fmt.Sprintf("%s; up to %d is known to be acknowledged, and there may be more that nobody knows of who can be reached", text, f.acked)
	}
	return text + "; whether more was acknowledged nobody knows who can be reached"
}

// fates returns what becomes of the streams without a leader if members leave. led are
// the streams whose leaders have answered.
func fates(words []copyWord, led, declared []string, log string, online map[string]bool, leave []string) []fate {
	by := map[string]*fate{}
	for _, name := range declared {
		by[name] = &fate{stream: name, stays: map[string]uint64{}}
	}
	for _, w := range words {
		for _, s := range w.Streams {
			f := by[s.Name]
			if f == nil {
				f = &fate{stream: s.Name, stays: map[string]uint64{}}
				by[s.Name] = f
			}
			f.holders = append(f.holders, w.Member)
			if s.Leader == "" { // with one it is known who keeps the copies
				f.copies = max(f.copies, s.Replicas)
			}
			if !slices.Contains(leave, w.Member) {
				f.stays[w.Member] = s.Last
			}
			for _, r := range s.Others {
				f.holders = append(f.holders, r.Name)
			}
			if s.Leader != "" {
				f.holders = append(f.holders, s.Leader)
			}
		}
		if f := by[log]; f != nil && w.Acknowledged > f.acked {
			f.acked, f.knows = w.Acknowledged, w.Member
		}
	}
	var all []fate
	for name, f := range by {
		if slices.Contains(led, name) {
			continue
		}
		slices.Sort(f.holders)
		f.holders = slices.Compact(f.holders)
		for _, h := range f.holders {
			if !online[h] {
				f.away = append(f.away, h)
			}
		}
		all = append(all, *f)
	}
	slices.SortFunc(all, func(a, b fate) int { return strings.Compare(a.stream, b.stream) })
	return all
}

// atRisk returns the streams of which something acknowledged may be lost if members leave,
// and fails with errNotNow while a leader is being chosen that will know.
func (p *peering) atRisk(ctx context.Context, leave []string) ([]fate, error) {
	var led []string
	v, able := p.look(), p.b.able.Load()
	if v.quorum() && able {
		one, done := context.WithTimeout(ctx, statusWait)
		all, err := p.list(one)
		done()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errNotNow, err)
		}
		for _, i := range all {
			if ledNow(i) {
				led = append(led, i.Config.Name)
			}
		}
	}
	if len(led) == len(p.declared()) {
		return nil, nil
	}
	words, err := p.askCopies(ctx)
	if err != nil {
		return nil, err
	}
	online := v.online()
	if !able { // this member still waits for its cluster
		led = ledBy(words, online)
	}
	var risky []fate
	for _, f := range fates(words, led, p.declared(), p.b.names.Log, online, leave) {
		switch {
		case v.quorum() && f.led():
			return nil, fmt.Errorf("%w: the stream %s has no leader yet", errNotNow, f.stream)
		case !f.known() && time.Since(p.began) < gatherMost:
			return nil, fmt.Errorf("%w: it is not known yet who keeps the stream %s", errNotNow, f.stream)
		}
		if !f.certain() {
			risky = append(risky, f)
		}
	}
	return risky, nil
}

// ledBy returns the streams of which a member says that one leads them who can be reached.
func ledBy(words []copyWord, online map[string]bool) (led []string) {
	for _, w := range words {
		for _, s := range w.Streams {
			if s.Leader != "" && online[s.Leader] && !slices.Contains(led, s.Name) {
				led = append(led, s.Name)
			}
		}
	}
	return led
}

// ledNow tells whether a stream has a leader, as whoever answered says.
func ledNow(i *jetstream.StreamInfo) bool {
	return i.Cluster == nil || i.Cluster.Leader != ""
}

// copiesPause is the time between two looks for the copies of the log.
const copiesPause = time.Second

// awaitCopies waits while the log has no leader and half of its copies or more cannot be
// reached: a copy that is here may have been away while those went on, and would be taken
// for a log that lost something. It waits for as long as it takes, as awaitLeader does.
func (p *peering) awaitCopies(ctx context.Context) error {
	told := ""
	for {
		words, err := p.askCopies(ctx)
		if err != nil {
			return err
		}
		text := waitsForCopies(words, p.b.names.Log, p.look())
		if text == "" {
			return nil
		}
		p.b.waits(text)
		if text != told {
			told = text
			p.b.log.Warn("the log cannot be written yet", "why", text)
		}
		select {
		case <-time.After(copiesPause):
		case <-p.folders.out:
			return fmt.Errorf("wait for the copies of the log: %w", p.removal())
		case <-ctx.Done():
			return fmt.Errorf("%s: %w: %w (%w)", text, ErrNoQuorum, context.Cause(ctx), ctx.Err())
		}
	}
}

// waitsForCopies says in a sentence which members the log needs, "" = enough of those that
// keep it are there, or nobody says who keeps it.
func waitsForCopies(words []copyWord, log string, v view) string {
	online := v.online()
	for _, f := range fates(words, ledBy(words, online), []string{log}, log, online, nil) {
		if f.stream != log || len(f.holders) == 0 || f.led() {
			continue
		}
		if len(f.away) == 0 {
			return fmt.Sprintf("waiting for the copies of the stream %s: %d of %d can be reached, and it is written again once more than half are there", log, f.reached(), f.size())
		}
		holds := ""
		if f.missing() > 0 {
			holds = fmt.Sprintf(", which hold the log up to %d at least (it ends at %d here)", f.acked, f.end())
		}
		return fmt.Sprintf("waiting for %s%s: %d of %d copies of the stream %s can be reached, and it is written again once more than half are there",
			strings.Join(f.away, " and "), holds, f.reached(), f.size(), log)
	}
	return ""
}

// keptFrom is the error of a removal that could lose what was acknowledged.
func (p *peering) keptFrom(name string, risky []fate) error {
	var away []string
	for i := range risky {
		for _, a := range risky[i].away {
			if !slices.Contains(away, a) {
				away = append(away, a)
			}
		}
	}
	if len(away) == 0 {
		away = p.look().away()
	}
	return fmt.Errorf("remove %s: %w: %s; nothing was changed: start %s with the data folder that it had; if that never comes back, \"jaque cluster remove %s -lost\" goes on with what is left, and what only the others held is lost",
		name, ErrBehind, p.fatesSaid(risky), strings.Join(away, " or "), name)
}

// fatesSaid says what is known of several streams: of the log first, of which every position
// counts, and of the others in one sentence.
func (p *peering) fatesSaid(all []fate) string {
	var texts, more []string
	for i := range all {
		if all[i].stream == p.b.names.Log {
			texts = append(texts, all[i].String())
		} else {
			more = append(more, all[i].stream)
		}
	}
	switch {
	case len(more) > 0 && len(texts) > 0:
		texts = append(texts, "of "+strings.Join(more, ", ")+" too what only those hold would be missing")
	case len(more) > 0:
		for i := range all {
			texts = append(texts, all[i].String())
		}
	}
	return strings.Join(texts, "; ")
}

// ErrBehind: a removal would leave a stream with a copy that may lack what was acknowledged.
var ErrBehind = errors.New("what was acknowledged could be lost")

// safe refuses to remove a member if that could lose what was acknowledged.
func (p *peering) safe(ctx context.Context, name string) error {
	var risky []fate
	err := p.patiently(ctx, "remove "+name, func() (err error) {
		risky, err = p.atRisk(ctx, []string{name})
		return err
	})
	if err == nil && len(risky) > 0 {
		err = p.keptFrom(name, risky)
	}
	return err
}

// missingShown is how long a member tells what a removal may have lost.
const missingShown = 15 * time.Minute

// lose goes on although a stream may lack what was acknowledged, as an operator wants, and
// says so.
func (p *peering) lose(what string, risky []fate) {
	var texts []string
	if len(risky) > 0 {
		texts = []string{what + " as gone for good: " + p.fatesSaid(risky)}
	}
	for i := range risky {
		p.b.log.Warn("members are removed although a stream may lack what was acknowledged", "stream", risky[i].stream,
			"why", risky[i].String(), "missing", risky[i].missing())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.missing, p.missingSince = texts, time.Now()
}

// lost says in sentences what a removal may have lost a moment ago.
func (p *peering) lost(now time.Time) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.missingSince) > missingShown {
		return nil
	}
	return p.missing
}
