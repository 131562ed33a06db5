package queue

import (
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Timing of pull requests. A member of a cluster that is killed or frozen takes the requests
// along that wait at it, and says nothing: until they are over, no check of the zone runs.
const (
	pullLife   = 3 * time.Second  // how long one request waits at the server
	pullGrace  = 1 * time.Second  // after which a request that is not ended counts as lost
	pullPause  = time.Second / 10 // after a request that the server refused; doubles with each
	pullPauses = time.Second      // the longest
	pullAgain  = time.Second / 2  // how long the first request after that waits, which shows whether all is well
)

// puller asks the server for the items of one zone, never for more than its
// share of the worker's capacity. Requests of its own, on one subscription, cost
// a fraction of the client library's, which makes a subscription for each.
type puller struct {
	queue   *JetStream
	zone    string
	share   int
	inbox   string
	sub     *nats.Subscription
	missing func() // tells that the queue is not there; called on a goroutine

	mu      sync.Mutex
	held    int    // items in the worker's hands
	asked   int    // items that the server was asked for and has not sent
	pulls   []pull // what asked consists of, oldest first
	stopped bool
	resting bool   // after a refusal
	refused int    // requests since the server has sent something else
	reason  string // of the last refusal, "" once the server has sent something else
}

type pull struct {
	left int
	ends time.Time
}

// ask requests as many items as fit in. While requests are open it waits until
// it is worth another one, so that few are open.
func (p *puller) ask() {
	p.mu.Lock()
	now := time.Now()
	for len(p.pulls) > 0 && now.After(p.pulls[0].ends) {
		p.asked -= p.pulls[0].left
		p.pulls = p.pulls[1:]
	}
	n := p.share - p.held - p.asked
	if p.stopped || p.resting || n < 1 || p.asked > 0 && n < p.asked/2 {
		p.mu.Unlock()
		return
	}
	life := pullLife
	if p.reason != "" {
		life = pullAgain
	}
	p.asked += n
	p.pulls = append(p.pulls, pull{left: n, ends: now.Add(life + pullGrace)})
	p.mu.Unlock()

	request, err := json.Marshal(struct {
		Batch   int           `json:"batch"`
		Expires time.Duration `json:"expires"`
	}{n, life})
	if err == nil {
		err = p.queue.nc.PublishRequest("$JS.API.CONSUMER.MSG.NEXT."+p.queue.names.stream+"."+p.queue.names.consumer(p.zone), p.inbox, request)
	}
	if err != nil { // the connection is away; its return asks again
		p.queue.log.Debug("items could not be asked for", "zone", p.zone, "err", err)
		p.forget()
	}
}

// got counts an item that arrived; false if there is no room for it.
func (p *puller) got() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answered(1)
	p.reason, p.refused = "", 0
	if p.stopped || p.held >= p.share {
		return false
	}
	p.held++
	return true
}

// answered takes n off the oldest requests.
func (p *puller) answered(n int) {
	n = min(n, p.asked)
	p.asked -= n
	for n > 0 && len(p.pulls) > 0 {
		k := min(n, p.pulls[0].left)
		n -= k
		if p.pulls[0].left -= k; p.pulls[0].left == 0 {
			p.pulls = p.pulls[1:]
		}
	}
}

// released counts an item that left the worker's hands and asks for another one.
func (p *puller) released() {
	p.mu.Lock()
	p.held--
	p.mu.Unlock()
	p.ask()
}

// forget counts every request as lost.
func (p *puller) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked, p.pulls = 0, nil
}

// stop asks for nothing more.
func (p *puller) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
}

// status takes a message that is no item: the end of a request, or a refusal.
func (p *puller) status(m *nats.Msg) {
	status := m.Header.Get("Status")
	switch status {
	case "100": // the server lives
		return
	case "408": // the request's time is over, or it has no items
		left, err := strconv.Atoi(m.Header.Get("Nats-Pending-Messages"))
		p.mu.Lock()
		if err != nil {
			left = p.asked
		}
		p.answered(left)
		p.reason, p.refused = "", 0
		p.mu.Unlock()
		p.ask()
		return
	}
	reason := m.Header.Get("Description")
	if status == "503" { // nobody answers at the consumer's subject
		reason = noQueue
	}
	p.rest(status, reason)
}

// noQueue is why no items arrive before an engine has made the queue of the zone, and
// after a restart of its server.
const noQueue = "no engine has made the queue of the zone yet"

// trouble says why no items arrive, "" if nothing is known to keep them.
func (p *puller) trouble() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason == "" {
		return ""
	}
	if p.reason == noQueue {
		return "no engine has made the queue of zone " + p.zone + " yet; start one"
	}
	return "no checks of zone " + p.zone + " arrive: " + p.reason
}

// queueless tells whether the server has no queue of the zone.
func (p *puller) queueless() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reason == noQueue
}

// rest waits a moment after a refusal and goes on. A queue that is not there, which a
// server that was restarted has forgotten, is asked for.
func (p *puller) rest(status, reason string) {
	p.mu.Lock()
	if p.reason != reason {
		p.queue.log.Warn("the server sends no items, trying again", "zone", p.zone, "status", status, "reason", reason)
	}
	p.asked, p.pulls, p.reason = 0, nil, reason
	if p.resting || p.stopped {
		p.mu.Unlock()
		return
	}
	p.resting = true
	pause := min(pullPause<<p.refused, pullPauses)
	p.refused = min(p.refused+1, 10)
	p.mu.Unlock()
	if reason == noQueue {
		go p.missing()
	}
	time.AfterFunc(pause, func() {
		p.mu.Lock()
		p.resting = false
		p.mu.Unlock()
		p.ask()
	})
}

// running returns how many items are in the worker's hands.
func (p *puller) running() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held
}

// String names the zone, for logs.
func (p *puller) String() string { return fmt.Sprintf("zone %s", p.zone) }
