package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"
)

// How much is kept of the commands that carried a key, so that none of them is
// carried out twice.
const (
	mostOnces     = 4096
	mostOnceBytes = 16 << 20
	longestKey    = 255 // bytes
)

// onceTime is how long a command with a key goes on after whoever sent it went
// away: a second press makes a browser drop the first one, which is under way.
const onceTime = time.Minute

// onces keeps what became of commands by the key that they carried. It is lost
// with the process, like the pages that the keys stand in.
type onces struct {
	mu    sync.Mutex
	byKey map[string]*once
	order []string
	bytes int
}

// once is one command with a key. What is behind done may be read once that is
// closed.
type once struct {
	content [sha256.Size]byte // of the command, to tell a repeat from another one
	done    chan struct{}
	answer  []byte // the body, or where to go
	err     error
}

// errOtherContent says that a key came before with another command.
var errOtherContent = errors.New("the key was used for another command")

// do runs a command unless one with its key came before. A repeat waits for that
// one and gets its answer. What was surely not done is forgotten, so that it may
// be sent again; a command whose outcome nobody knows is not run a second time.
func (o *onces) do(ctx context.Context, key string, content [sha256.Size]byte, run func() ([]byte, error)) ([]byte, error) {
	o.mu.Lock()
	if first := o.byKey[key]; first != nil {
		o.mu.Unlock()
		return first.wait(ctx, content)
	}
	one := &once{content: content, done: make(chan struct{}), err: faultf(http.StatusServiceUnavailable, "%s", unconfirmed)}
	if o.byKey == nil {
		o.byKey = map[string]*once{}
	}
	o.byKey[key] = one
	o.order = append(o.order, key)
	o.mu.Unlock()
	defer o.finish(key, one) // also when run panics: then nobody knows
	one.answer, one.err = run()
	return one.answer, one.err
}

// find waits for a command that came before with the key; found tells whether
// one did.
func (o *onces) find(ctx context.Context, key string, content [sha256.Size]byte) (answer []byte, found bool, err error) {
	o.mu.Lock()
	first := o.byKey[key]
	o.mu.Unlock()
	if first == nil {
		return nil, false, nil
	}
	answer, err = first.wait(ctx, content)
	return answer, true, err
}

func (one *once) wait(ctx context.Context, content [sha256.Size]byte) ([]byte, error) {
	if one.content != content {
		return nil, errOtherContent
	}
	select {
	case <-one.done:
		return one.answer, one.err
	case <-ctx.Done():
		return nil, faultf(http.StatusServiceUnavailable, "%s", unconfirmed)
	}
}

// finish lets repeats have the answer, and forgets the oldest ones.
func (o *onces) finish(key string, one *once) {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(one.done)
	o.bytes += len(one.answer)
	if f := asFault(one.err); f != nil && f.Detail != unconfirmed && f.Detail != unclaimed {
		o.forget(key)
	}
	for i := 0; i < len(o.order) && (len(o.order) > mostOnces || o.bytes > mostOnceBytes); {
		select {
		case <-o.byKey[o.order[i]].done:
			o.forget(o.order[i])
		default:
			i++ // still under way
		}
	}
}

func (o *onces) forget(key string) {
	o.bytes -= len(o.byKey[key].answer)
	delete(o.byKey, key)
	for i, k := range o.order {
		if k == key {
			o.order = append(o.order[:i:i], o.order[i+1:]...)
			return
		}
	}
}

// once returns the key of a form that is shown: the one that it had, unless that
// one is used up.
func (d *draft) once() string {
	if key, _ := d.key(); key != "" && !d.site.onces.has(key) {
		return d.values.Get("once")
	}
	return rand.Text()
}

func (o *onces) has(key string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.byKey[key] != nil
}

// key returns under what the form is remembered, "" if it has no key. A form that
// was changed and sent again, from a page that the browser kept, is another one.
func (d *draft) key() (string, [sha256.Size]byte) {
	id := d.values.Get("once")
	if id == "" || len(id) > longestKey {
		return "", [sha256.Size]byte{}
	}
	var b strings.Builder
	for _, name := range sortedNames(d.values) {
		if ofTheWay(name) {
			continue
		}
		text, _ := json.Marshal(d.values[name]) // texts have JSON
		b.WriteString(name + string(text))
	}
	sum := sha256.Sum256([]byte(b.String()))
	return "form " + id + string(sum[:]), sum
}

// ofTheWay tells whether a value says how far a form has come, not what it asks
// for.
func ofTheWay(name string) bool {
	switch name {
	case "step", "reviewed", "confirm", "back", "shown", "seen":
		return true
	}
	return false
}

// again answers a form that was sent before as it was answered then, and tells
// whether it was.
func (d *draft) again(w http.ResponseWriter) (bool, error) {
	key, content := d.key()
	if key == "" {
		return false, nil
	}
	to, found, err := d.site.onces.find(d.request.Context(), key, content)
	if !found {
		return false, nil
	}
	if err != nil {
		return true, d.refuse(w, err)
	}
	d.leave(w, string(to))
	return true, nil
}

// idempotent answers a command of the API with a key: a repeat gets the answer of
// the first one.
func (s *site) idempotent(r *http.Request, q *request, key string) ([]byte, error) {
	if len(key) > longestKey {
		return nil, faultf(http.StatusBadRequest, "Idempotency-Key has %d bytes; write at most %d", len(key), longestKey)
	}
	r, cancel := detached(r)
	defer cancel()
	body, err := s.onces.do(r.Context(), "api "+key, q.content, func() ([]byte, error) { return s.take(r, q) })
	if errors.Is(err, errOtherContent) {
		return nil, faultf(http.StatusUnprocessableEntity, "Idempotency-Key %q came with another command before; write a new one", short(key))
	}
	return body, err
}

// detached returns a request whose command goes on when the sender goes away.
func detached(r *http.Request) (*http.Request, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), onceTime)
	return r.WithContext(ctx), cancel
}
