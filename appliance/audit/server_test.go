package audit_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/audit"
	"jaque.sh/jaque/appliance/backup"
	"jaque.sh/jaque/appliance/bus"
)

// Whatever becomes of the snapshot, a consumer reads the rest of the log, and nothing is
// verified twice or left out.
func TestAConsumerReadsWhatTheSnapshotDoesNot(t *testing.T) {
	t.Parallel()
	const events = 6000
	b := open(t, bus.Options{Data: t.TempDir(), Bulk: true})
	newWriter(t, b).write(events)
	own := backup.Server{Conn: b.Conn()}.Stream
	broken := errors.New("the log server gave up: 500")
	after := func(most int) func(context.Context, string, func(*backup.Message) error) (*backup.Info, error) {
		return func(ctx context.Context, name string, fn func(*backup.Message) error) (*backup.Info, error) {
			n := 0
			return own(ctx, name, func(m *backup.Message) error {
				if n++; n > most {
					return broken
				}
				return fn(m)
			})
		}
	}
	for _, tt := range []struct {
		name string
		send func(context.Context, string, func(*backup.Message) error) (*backup.Info, error)
	}{
		{"it is refused", after(0)},
		{"it breaks off within a batch", after(4321)},
		{"it breaks off behind the last message", after(events)},
		{"it says that there is nothing to send", func(context.Context, string, func(*backup.Message) error) (*backup.Info, error) { return nil, nil }},
		{"it never begins", func(ctx context.Context, _ string, _ func(*backup.Message) error) (*backup.Info, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			patience := time.Minute
			if tt.name == "it never begins" {
				patience = time.Millisecond
			}
			r, err := audit.Verify(t.Context(), audit.Through(b, patience, tt.send), audit.Options{})
			if err != nil || !r.Clean() || r.Accepted != events || r.Last != events {
				t.Errorf("%v, %+v", err, r)
			}
		})
	}
}

// Progress ends with the whole, whatever is read, and never goes back.
func TestProgressTellsHowMuchIsLeft(t *testing.T) {
	t.Parallel()
	const events = 20_000
	data := t.TempDir()
	b := open(t, bus.Options{Data: data, Bulk: true})
	newWriter(t, b).write(events)
	for way, from := range ways(t, b, data) {
		t.Run(way, func(t *testing.T) {
			var last audit.Progress
			told := 0
			_, err := audit.Verify(t.Context(), from, audit.Options{Progress: func(p audit.Progress) {
				if p.Seq <= last.Seq || p.Messages <= last.Messages || p.Done <= last.Done || p.Done > p.Of {
					t.Errorf("%+v behind %+v", p, last)
				}
				last = p
				told++
			}})
			if err != nil || last.Seq != events || last.Messages != events || last.Done != last.Of || told < 2 {
				t.Errorf("%v, told %d times, at last %+v", err, told, last)
			}
		})
	}
}

// Reading stops when whoever asked for it has gone.
func TestReadingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	b := open(t, bus.Options{Data: t.TempDir(), Bulk: true})
	newWriter(t, b).write(5000)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := audit.Verify(ctx, &audit.Server{Bus: b}, audit.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
