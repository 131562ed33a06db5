package journal

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// squat publishes something under a message id where a notifier may write, before
// anybody else does.
func squat(t *testing.T, b *bus.Bus, id string, data []byte) {
	t.Helper()
	m := &nats.Msg{Subject: b.Names().LogRoot + ".zz.outcome", Data: data, Header: nats.Header{"Nats-Msg-Id": {id}}}
	if _, err := b.JetStream().PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

// Something else under the id of an event does not stand for it, whatever it says.
func TestAnAppendIsNotTakenForAnotherMessageOfItsID(t *testing.T) {
	for name, forged := range map[string]func(e *event.Event) []byte{
		"what is no event":      func(*event.Event) []byte { return []byte("{}") },
		"another event":         func(*event.Event) []byte { return event.AppendJSON(nil, decision("zz", 1, 0)) },
		"a copy, but elsewhere": func(e *event.Event) []byte { return event.AppendJSON(nil, e) },
	} {
		for _, many := range []int{1, 20} { // alone and in a batch
			t.Run(fmt.Sprintf("%s, %d at once", name, many), func(t *testing.T) {
				t.Parallel()
				b := openBus(t, t.TempDir())
				j := openJournal(t, b).(*jetStream)
				all := make([]*event.Event, many)
				for i := range all {
					all[i] = decision(object.ID(fmt.Sprint("web", i)), i+1, 0)
				}
				squat(t, b, all[0].ID, forged(all[0]))
				got := make(chan error, many)
				for _, e := range all {
					j.Append(e, 0, func(seq uint64, err error) {
						if err == nil && seq < 2 {
							err = fmt.Errorf("it was taken for what stands at %d", seq)
						}
						got <- err
					})
				}
				for range all {
					if err := <-got; err != nil {
						t.Error(err)
					}
				}
				mine := 0
				for _, e := range readAll(t, j, Position{}) {
					if e.Seq > 1 {
						mine++
					}
				}
				if n := testutil.ToFloat64(j.metrics.taken); mine != many || n != 1 {
					t.Errorf("%d of %d events stand on the log, %v ids were taken", mine, many, n)
				}
			})
		}
	}
}

// An append whose answer was lost is found again, also under its second id.
func TestARepeatedAppendStandsOnTheLogOnce(t *testing.T) {
	for _, taken := range []bool{false, true} {
		b := openBus(t, t.TempDir())
		j := openJournal(t, b)
		e := decision("web01!http", 1, 0)
		e.Kind = event.NotificationDelivered // which is not compared
		if taken {
			squat(t, b, e.ID, []byte("{}"))
		}
		first := mustPut(t, j, e, 0)
		if again := mustPut(t, j, e, 0); again != first {
			t.Errorf("id taken %v: it stands at %d and at %d", taken, first, again)
		}
	}
}

// Two processes that carry out the same command write it once.
func TestACommandOfTwoProcessesStandsOnTheLogOnce(t *testing.T) {
	b := openBus(t, t.TempDir())
	var at []uint64
	for _, instance := range []string{"one", "two"} {
		j, err := OpenJetStream(t.Context(), b, Options{Registerer: prometheus.NewRegistry(), Instance: instance})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = j.Close(context.Background()) })
		e := decision("web01", 1, 0)
		e.ID, e.Kind = "order-1", event.NotificationDelivered
		at = append(at, mustPut(t, j, e, 0))
	}
	if at[0] != at[1] {
		t.Errorf("it stands at %v", at)
	}
}

func TestNobodyCanGuessTheNextMessageID(t *testing.T) {
	b := openBus(t, t.TempDir())
	j, err := OpenJetStream(t.Context(), b, Options{Registerer: prometheus.NewRegistry(), Instance: "run1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close(context.Background()) })
	for n := range 3 {
		id := fmt.Sprintf("run1-%x", n)
		squat(t, b, id, []byte("{}"))
		e := decision(object.ID(fmt.Sprint("web", n)), 1, 0)
		e.ID = id
		mustPut(t, j, e, 0)
	}
	if n := testutil.ToFloat64(j.(*jetStream).metrics.taken); n != 0 {
		t.Errorf("%v ids were guessed", n)
	}
	m, err := b.JetStream().Stream(t.Context(), b.Names().Log)
	if err != nil {
		t.Fatal(err)
	}
	last, err := m.GetLastMsgForSubject(t.Context(), b.Names().LogRoot+".web2")
	if id := last.Header.Get("Nats-Msg-Id"); err != nil || !strings.HasPrefix(id, "run1-2~") || len(id) < 25 {
		t.Errorf("message id %q, %v", id, err)
	}
}

// As long as it is not known what the log has, the outcome is not known either.
func TestADuplicateThatCannotBeReadIsUnknown(t *testing.T) {
	a := &appender{m: newMetrics(nil), stored: func(uint64) { t.Error("it counts as stored") }}
	a.count = a.m.account(event.Log)
	a.look = func(uint64) (string, event.Event, error) { return "", event.Event{}, context.DeadlineExceeded }
	got := make(chan error, 1)
	d := &draft{since: time.Now(), done: func(_ uint64, err error) { got <- err }}
	a.open = 1
	a.compare(d, 7, func() {})
	if err := <-got; err == nil || !strings.Contains(err.Error(), "cannot show it") {
		t.Errorf("got %v", err)
	}
}
