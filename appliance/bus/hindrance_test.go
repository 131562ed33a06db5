package bus

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// What hindered a request is told by what this process knows: that its credentials are not
// right is said where the server refused it, and nowhere else.
func TestWhatTheServerRefusedIsToldWhereItHasToDoWithIt(t *testing.T) {
	t.Parallel()
	in := rightless(t)
	began := time.Now()
	if got := in.Hindrance(began, "JAQUE_MEMBERS"); got != "" {
		t.Errorf("before anything was asked: %q", got)
	}
	if err := in.Conn().Publish("$KV.JAQUE_MEMBERS.membership/member.carl", nil); err != nil {
		t.Fatal(err)
	}
	var got string
	until(t, "the refusal is known", func() bool { got = in.Hindrance(began, "JAQUE_MEMBERS"); return got != "" })
	if !strings.Contains(got, "the server refuses it") || !strings.Contains(got, "$KV.JAQUE_MEMBERS.membership/member.carl") || !strings.Contains(got, "-nats-creds") {
		t.Errorf("a refusal is told as %q", got)
	}
	if got := in.Hindrance(began, "JAQUE_STATE"); got != "" {
		t.Errorf("what has to do with something else: %q", got)
	}
	if got := in.Hindrance(time.Now().Add(time.Hour), "JAQUE_MEMBERS"); got != "" {
		t.Errorf("what was refused before: %q", got)
	}
}

func TestRefusalsAreKeptInBounds(t *testing.T) {
	t.Parallel()
	var r refusals
	now := time.Unix(1000, 0)
	for i := range 3 * mostRefusals {
		r.take(fmt.Errorf("%w: %d.", nats.ErrPermissionViolation, i), now)
	}
	r.take(errors.New("something else: 7."), now)
	if len(r.last) > mostRefusals {
		t.Errorf("%d are kept", len(r.last))
	}
	last := fmt.Sprintf(" %d.", 3*mostRefusals-1)
	if got := r.since(now, last); !strings.HasSuffix(got, last) || r.since(now.Add(1), last) != "" || r.since(now, "something else") != "" {
		t.Errorf("the newest is %q", got)
	}
}
