package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Two machines can be given one id, each with a token of its own. The log server refuses
// the connection between the two and nothing else: for all others they answer as one
// member, whose one vote and one copy would then stand on two disks, with different things
// on them. So every member compares who answers to a name, says so, and has the process
// end that was started later.

// lingers is how long a second answer to a name is waited for.
const lingers = 300 * time.Millisecond

// admission is how long an id is kept for a machine that was let in and has not started.
const admission = TokenLife

// admitted is a machine that was let in.
type admitted struct {
	Listen string    `json:"listen"`
	Until  time.Time `json:"until"`
}

// twins returns the processes that answer to one name, oldest first, for each name to
// which more than one does. Who says nothing of when it was started is of a release that
// does not know of this.
func twins(all []self) [][]self {
	by := map[string][]self{}
	for _, s := range all {
		known := slices.ContainsFunc(by[s.ID], func(o self) bool { return o.Instance == s.Instance })
		if s.Instance != "" && !known {
			by[s.ID] = append(by[s.ID], s)
		}
	}
	var more [][]self
	for _, same := range by {
		if len(same) < 2 {
			continue
		}
		slices.SortFunc(same, func(a, b self) int {
			return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.Instance, b.Instance))
		})
		more = append(more, same)
	}
	slices.SortFunc(more, func(a, b []self) int { return strings.Compare(a[0].ID, b[0].ID) })
	return more
}

// sayTwins says in a sentence that two processes have one id.
func sayTwins(same []self) string {
	var at []string
	for _, s := range same {
		at = append(at, s.Address)
	}
	return fmt.Sprintf("%d processes are member %s, at %s: each has a data folder of its own, and they would vote as one. What was started later ends; give it another id: "+
		"empty its folder and join again with a new token and another -engine-id", len(same), same[0].ID, strings.Join(at, " and "))
}

// part has all but the oldest of those end that answer to one name.
func (a *Answers) part(more [][]self) {
	var texts []string
	for _, same := range more {
		text := sayTwins(same)
		texts = append(texts, text)
		a.Logger.Error("two processes have one id", "member", same[0].ID, "why", text)
		for _, s := range same[1:] {
			body, err := json.Marshal(Question{Twin: &Twin{Instance: s.Instance, Other: same[0].Address}})
			if err == nil { // the inbox tells that it was sent here; nobody listens there
				err = a.Conn.PublishRequest(askSubject+"."+s.ID, a.Conn.NewInbox(), body)
			}
			if err != nil {
				a.Logger.Warn("a process with an id that is taken is not told", "member", s.ID, "err", err)
			}
		}
	}
	a.lately.Lock()
	defer a.lately.Unlock()
	a.double = texts
}

// Twin tells a process that another one has its id.
type Twin struct {
	Instance string `json:"instance"` // which of those that have the id
	Other    string `json:"other"`    // where the other one listens
}

// parted ends this process, if it is meant.
func (a *Answers) parted(t *Twin) {
	if t.Instance != a.self().Instance {
		return
	}
	select {
	case a.twin <- fmt.Errorf("another process is member %s of this cluster, at %s: this one, at %s, was started later and ends, or the two would vote as one. Give it another id: empty its data folder and join again with a new token and another -engine-id",
		a.Self.ID, t.Other, a.Self.Listen):
	default: // it ends already
	}
}

// admit keeps the id of a machine for it until it has started.
func (a *Answers) admit(other Member, now time.Time) {
	a.lately.Lock()
	defer a.lately.Unlock()
	if a.letIn == nil {
		a.letIn = map[string]admitted{}
	}
	a.letIn[other.ID] = admitted{other.Listen, now.Add(admission)}
}

// admissions are the ids that are kept for machines. Those that are members need it no
// more, and those whose time is over have not come.
func (a *Answers) admissions(members []string, now time.Time) map[string]admitted {
	a.lately.Lock()
	defer a.lately.Unlock()
	out := map[string]admitted{}
	for id, in := range a.letIn {
		if slices.Contains(members, id) || !now.Before(in.Until) {
			delete(a.letIn, id)
			continue
		}
		out[id] = in
	}
	return out
}

// everybody collects what all say who answer, until those have answered that are awaited
// and a while is over.
func everybody(ctx context.Context, sub *nats.Subscription, awaited map[string]bool, linger time.Duration) (all []self) {
	for {
		one, cancel := ctx, context.CancelFunc(func() {})
		if len(awaited) == 0 {
			if linger <= 0 {
				return all
			}
			one, cancel = context.WithTimeout(ctx, linger)
		}
		m, err := sub.NextMsgWithContext(one)
		cancel()
		if err != nil {
			return all
		}
		var s self
		if json.Unmarshal(m.Data, &s) == nil && s.ID != "" {
			all = append(all, s)
			delete(awaited, s.ID)
		}
	}
}
