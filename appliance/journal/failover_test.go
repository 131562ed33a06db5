package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/core/object"
)

// failedOver is when another leader has answered, since the one before was gone.
type failedOver struct {
	log, members, meta time.Duration
	append             time.Duration // until an append was acknowledged that was sent before that was known
}

// insist appends a decision, the identical one again while its outcome is not known, and
// returns how long that took.
func insist(t *testing.T, j Journal) time.Duration {
	began := time.Now()
	e := decision(object.HostID("insist"), 1, 0)
	got := make(chan error, 1)
	for time.Since(began) < time.Minute {
		j.Append(e, 0, func(_ uint64, err error) { got <- err })
		if err := <-got; err == nil {
			return time.Since(began)
		} else if !errors.Is(err, ErrUnknown) {
			t.Errorf("the append fails with %v", err)
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return time.Minute
}

// probe asks again and again until somebody answers without an error, and returns how long
// that took.
func probe(t *testing.T, nc *nats.Conn, subject string, body func(n int) []byte, header nats.Header) time.Duration {
	began := time.Now()
	said := map[string]int{} // what came instead of an answer, and how often
	for n := 0; time.Since(began) < time.Minute; n++ {
		m, err := nc.RequestMsg(&nats.Msg{Subject: subject, Data: body(n), Header: header}, 200*time.Millisecond)
		var r struct{ Error json.RawMessage }
		switch {
		case err != nil:
			said[err.Error()]++
		case len(m.Data) > 0 && json.Unmarshal(m.Data, &r) == nil && r.Error == nil:
			return time.Since(began)
		default:
			said[string(m.Data)]++
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%s: no answer within a minute, but %v", subject, said)
	return time.Minute
}

// failOver takes the leader of everything away and measures when the others answer.
func failOver(t *testing.T, gone func(first *os.Process)) failedOver {
	t.Helper()
	folder := t.TempDir()
	makePeerFiles(t, folder)
	first, address := founder(t, folder)
	b, j := openMember(t, folder, "b", address)
	c, _ := openMember(t, folder, "c", address)
	wait(t, "three replicas of every stream, led by the first", func() bool {
		s, err := b.Status(t.Context())
		ready := err == nil && len(s.Streams) == 5
		for _, x := range s.Streams {
			if ready = ready && x.Whole(3) && x.Leader == "a"; x.Whole(3) && x.Leader != "a" {
				_, _ = b.Conn().Request("$JS.API.STREAM.LEADER.STEPDOWN."+x.Name, []byte(`{"placement":{"preferred":"a"}}`), time.Second)
			}
		}
		return ready
	})
	gone(first.Process)
	var f failedOver
	done := make(chan struct{}, 4)
	ask := func(took *time.Duration, nc *nats.Conn, subject string, body func(int) []byte) {
		*took = probe(t, nc, subject, body, nil)
		done <- struct{}{}
	}
	text := func(n int) []byte { return fmt.Appendf(nil, "%d", n) }
	go ask(&f.log, b.Conn(), "jaque.log."+object.HostID("x").Token(), text)
	go ask(&f.members, c.Conn(), "$KV.JAQUE_MEMBERS.x", text)
	go ask(&f.meta, b.Conn(), "$JS.API.STREAM.NAMES", func(int) []byte { return nil })
	go func() {
		f.append = insist(t, j)
		done <- struct{}{}
	}()
	for range 4 {
		<-done
	}
	return f
}

// A leader that dies, or that hangs with its connections open, is replaced within the
// time that a member with a short TTL can wait.
func TestAnotherLeaderAnswersSoon(t *testing.T) {
	for _, c := range []struct {
		name string
		sig  syscall.Signal
	}{{"it was killed", syscall.SIGKILL}, {"it hangs", syscall.SIGSTOP}} {
		t.Run(c.name, func(t *testing.T) {
			f := failOver(t, func(first *os.Process) {
				if err := first.Signal(c.sig); err != nil {
					t.Fatal(err)
				}
			})
			t.Logf("answered again: log after %s, members after %s, the streams' interface after %s; an append that was under way after %s",
				f.log.Round(time.Millisecond), f.members.Round(time.Millisecond), f.meta.Round(time.Millisecond), f.append.Round(time.Millisecond))
			if most := max(f.log, f.members, f.meta, f.append); most > 10*time.Second {
				t.Errorf("it took %s", most)
			}
		})
	}
}
