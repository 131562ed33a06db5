package coordination

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"jaque.sh/jaque/appliance/bucket"
	"jaque.sh/jaque/appliance/rule/membership"
)

// denying is a store that answers every request with an error.
type denying struct{ err error }

func (d denying) Get(context.Context, string) (bucket.Entry, error) { return bucket.Entry{}, d.err }
func (d denying) Put(context.Context, string, []byte, uint64, time.Duration) (uint64, error) {
	return 0, d.err
}
func (d denying) Remove(context.Context, string, uint64) error { return d.err }

// Why a member could not begin is said by whoever knows the server, and credentials are
// suspected by nobody else.
func TestWhyNoHeartbeatWasWrittenIsSaidByWhoeverKnows(t *testing.T) {
	const lost = "the cluster site has no quorum: 1 of 3 members can be reached, b and c cannot"
	for name, c := range map[string]struct {
		err  error
		why  func(time.Time) string
		want string
	}{
		"the process knows":                {errCut, func(time.Time) string { return lost }, "cut off; " + lost},
		"nobody knows":                     {errCut, func(time.Time) string { return "" }, "cut off; see whether the coordination server answers"},
		"nobody can know":                  {errCut, nil, "cut off; see whether the coordination server answers"},
		"the server says it cannot decide": {&jetstream.APIError{Code: 503, Description: "unavailable"}, nil, "one of a cluster without enough members"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				why := c.why
				if why != nil {
					why = func(since time.Time) string {
						if since.Before(began) || since.After(began.Add(time.Minute)) {
							t.Errorf("it is asked about what was since %s, and began at %s", since, began)
						}
						return c.why(since)
					}
				}
				s := open(denying{c.err}, Options{Path: Engines, TTL: testTTL, Why: why})
				_, err := s.Register(t.Context(), membership.Member{ID: "a", Instance: "1"}, 0)
				if !errors.Is(err, c.err) || !strings.Contains(err.Error(), "no heartbeat could be written for 1m0s: ") || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "credentials") {
					t.Errorf("it ends with %v, want %q", err, c.want)
				}
			})
		})
	}
}

// A member that ends says why its heartbeats had no success, if that is known.
func TestTheEndOfAMemberSaysWhatHinderedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(denying{errCut}, Options{Path: Engines, TTL: testTTL, Why: func(time.Time) string { return "node2 is away" }})
		if err := s.lateBecause(t.Context()); !errors.Is(err, ErrExpired) || !strings.HasSuffix(err.Error(), "no heartbeat succeeded for 6s: node2 is away") {
			t.Errorf("it ends with %v", err)
		}
	})
}
