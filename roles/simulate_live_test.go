package roles

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/channel"
	"jaque.sh/jaque/appliance/coordination"
	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/delivery"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/message"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/appliance/rule/rehearse"
	"jaque.sh/jaque/appliance/rule/rehearse/trial"
	"jaque.sh/jaque/roles/engine"
)

var (
	simulatedScenarios = flag.Int("simulated", 25, "how many random scenarios are simulated and delivered")
	simulatedFirst     = flag.Int("simulated-first", 1, "seed of the first of them")
)

// staged is a runner whose checks find what a trial says.
type staged struct{ trial *trial.Trial }

func (s staged) Run(_ context.Context, j engine.Job) fold.Result {
	start := object.At(time.Now())
	f := s.trial.Find(j.Object, start)
	time.Sleep(f.Takes)
	return fold.Result{State: f.State, Output: f.Output, Start: start, Took: f.Takes.Microseconds()}
}

// mailbag takes every message and remembers what it said.
type mailbag struct {
	mu  sync.Mutex
	all []string
}

func (b *mailbag) Send(_ context.Context, m *message.Message) error {
	var items []string
	for i := range m.Items {
		items = append(items, fmt.Sprint(m.Items[i].ID, " ", m.Items[i].Kind, " ", m.Items[i].Number))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, noted(object.At(time.Now()), m.Contact.Name, m.Channel, m.Root, items))
	return nil
}

// noted writes a message down.
func noted(at object.Time, contact, channel string, root object.ID, items []string) string {
	slices.Sort(items)
	return fmt.Sprintf("%d %s to %s over %s, root %q: %s", at, at.Std().Format(time.TimeOnly), contact, channel, root, strings.Join(items, ", "))
}

// delivered plays a scene with the engine and the delivery and returns the messages.
func delivered(t *testing.T, tr *trial.Trial, s *rehearse.Scene) []string {
	log, p := journal.NewMemory(journal.Options{}), projection.New(s.Set)
	e, err := engine.New(engine.Options{
		ID: "e1", Instance: "run1", Journal: log, Projection: p, Runner: staged{tr}, Coordinator: &coordination.Memory{},
		Logger: quiet(), Registerer: prometheus.NewRegistry(), Grace: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	bag := &mailbag{}
	d, err := delivery.New(delivery.Options{
		Projection: p, Journal: log, Writer: "e1", Instance: "run1", Logger: quiet(),
		Resolve: func(string, string) (channel.Channel, error) { return bag, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	for _, run := range []func(context.Context, func()) error{e.Service().Run, d.Service().Run} {
		ready := make(chan struct{})
		go func() { ended <- run(ctx, func() { close(ready) }) }()
		<-ready
	}
	for _, a := range s.Acts {
		time.Sleep(time.Until(a.At.Std()))
		if _, err := e.Do(t.Context(), []operate.Action{{Object: a.Object, Command: a.Command, Program: a.Program}}); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(time.Until(s.End.Std()) + time.Millisecond/2)
	synctest.Wait()
	stop()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	return bag.all
}

// A simulation says which messages go out, when, to whom, and what is in them. Where
// a root moves in the very millisecond of a message, or two decisions are made in it,
// nobody promises what is first: those scenarios are left out.
func TestWhatIsSimulatedIsWhatIsDelivered(t *testing.T) {
	messages, left := 0, 0
	for seed := *simulatedFirst; seed < *simulatedFirst+*simulatedScenarios && !t.Failed(); seed++ {
		synctest.Test(t, func(t *testing.T) {
			tr := trial.New(object.At(time.Now()), rand.New(rand.NewPCG(uint64(seed), 8)).IntN)
			s := tr.Scene()
			moved, asked := map[object.Time]bool{}, map[object.Time]bool{}
			s.Watch = func(e *event.Event) {
				asks := e.Has(event.NotificationIntended)
				moved[e.Time] = moved[e.Time] || asks && asked[e.Time] || e.Has(event.RootChanged) || e.Transition && e.Status.Root != ""
				asked[e.Time] = asked[e.Time] || asks
			}
			out := rehearse.Run(s, deliver.Limits{})
			if slices.ContainsFunc(out.Messages, func(m rehearse.Message) bool { return moved[m.Time] }) {
				left++
				return
			}
			var want []string
			for _, m := range out.Messages {
				if m.Time > s.End {
					continue
				}
				var items []string
				for _, i := range m.Entries {
					items = append(items, fmt.Sprint(out.Entries[i].Object, " ", out.Entries[i].Kind, " ", out.Entries[i].Number))
				}
				want = append(want, noted(m.Time, m.Contact, m.Channel, m.Root, items))
			}
			s.Set = tr.Set()
			got := delivered(t, tr, s)
			messages += len(got)
			slices.Sort(got)
			slices.Sort(want)
			for i := range max(len(got), len(want)) {
				g, w := at(got, i), at(want, i)
				if g != w {
					t.Errorf("scenario %d:\n delivered %s\n simulated %s", seed, g, w)
					return
				}
			}
		})
	}
	t.Logf("%d scenarios with %d messages, %d left out", *simulatedScenarios-left, messages, left)
}

// at returns a text of a list, "nothing" behind its end.
func at(all []string, i int) string {
	if i < len(all) {
		return all[i]
	}
	return "nothing"
}
