package bus

import (
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// refusals are what the server last refused this process for want of a right. It says so
// beside the request, which itself gets no answer.
type refusals struct {
	mu   sync.Mutex
	last map[string]time.Time // by what it said
}

// mostRefusals is how many different ones are remembered.
const mostRefusals = 100

// take takes in an error of the connection.
func (r *refusals) take(err error, now time.Time) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil || len(r.last) >= mostRefusals {
		r.last = map[string]time.Time{}
	}
	r.last[err.Error()] = now
}

// since returns what was refused since a time and has to do with something.
func (r *refusals) since(began time.Time, about string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := ""
	for text, at := range r.last {
		if !at.Before(began) && strings.Contains(text, about) && (found == "" || text < found) {
			found = text
		}
	}
	return found
}

// Hindrance says in a sentence why requests about something, as about a bucket, may have
// had no answer since a time, as far as this process knows: the cluster has no quorum, the
// connection is lost, or the server refused them. "" = it does not know.
func (b *Bus) Hindrance(since time.Time, about string) string {
	if trouble := b.Trouble(); len(trouble) > 0 {
		return trouble[0]
	}
	if b.Clustered() {
		if text := b.embed.peering.unledYet(); text != "" {
			return text
		}
	}
	if refused := b.refused.since(since, about); refused != "" {
		return "the server refuses it (" + refused + "): the credentials of -nats-creds are not for this role and id, or give it less than this release needs; make new ones with \"jaque credentials\""
	}
	if b.nc != nil && !b.nc.IsConnected() {
		return "the connection to the server is lost"
	}
	return ""
}
