package engine_test

import (
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/roles/engine"
)

var (
	disturbed   = flag.Int("disturbed", 8, "how many clusters are disturbed at random")
	firstChance = flag.Int("chance", 1, "seed of the first of them")
)

// disturbance is a cluster that is disturbed at random.
type disturbance struct {
	*cluster
	rnd  *rand.Rand
	dead []*node
	log  []string // what was done to it

	mu    sync.Mutex
	asked map[string]error // what became of each comment, by its text
	wait  sync.WaitGroup
}

func (d *disturbance) note(format string, args ...any) {
	d.log = append(d.log, time.Now().Format("15:04:05 ")+fmt.Sprintf(format, args...))
}

// whims is what checks say: mostly the same for a while, and different per object.
func whims(seed int) func(engine.Job) fold.Result {
	return func(j engine.Job) fold.Result {
		h := fnv.New32a()
		fmt.Fprint(h, seed, j.Object.ID, time.Now().Unix()/90)
		if n := h.Sum32() % 8; n < 3 {
			return fold.Result{State: object.State(n), Output: fmt.Sprint(n)}
		}
		return fold.Result{Output: "fine"}
	}
}

// some returns one of those that run, nil if only one does.
func (d *disturbance) some() *node {
	if len(d.nodes) < 2 {
		return nil
	}
	ids := slices.Sorted(maps.Keys(d.nodes))
	return d.nodes[ids[d.rnd.IntN(len(ids))]]
}

// disturb does one thing to the cluster.
func (d *disturbance) disturb() {
	n := d.some()
	switch what := d.rnd.IntN(6); {
	case n == nil || what == 0 && len(d.nodes) < 4:
		for _, id := range []string{"a", "b", "c", "d"} {
			if d.nodes[id] == nil && !d.listed(id) {
				d.note("join %s", id)
				d.join(id)
				return
			}
		}
	case what == 1:
		d.note("leave %s", n.id)
		d.leave(n.id)
	case what == 2:
		d.note("kill %s", n.id)
		d.dead = append(d.dead, d.kill(n.id))
		time.AfterFunc(ttl+time.Duration(d.rnd.IntN(1000))*time.Millisecond, func() { d.bury(n.id) })
	case what == 3:
		d.note("deaf %s", n.id)
		n.setDeaf(true)
		time.Sleep(time.Duration(d.rnd.IntN(9000)) * time.Millisecond)
		n.setDeaf(false)
	case what == 4:
		d.note("freeze %s for a moment", n.id)
		n.freeze()
		time.Sleep(time.Duration(d.rnd.IntN(9000)) * time.Millisecond)
		n.wake()
	case what == 5:
		d.freezeForLong(n)
	}
}

// freezeForLong lets an engine wake when the others have declared it dead.
func (d *disturbance) freezeForLong(n *node) {
	d.note("freeze %s beyond its time", n.id)
	d.gone(n.id)
	n.freeze()
	time.Sleep(ttl)
	d.bury(n.id)
	time.Sleep(time.Duration(d.rnd.IntN(9000)) * time.Millisecond)
	n.wake()
	if err := <-n.done; !errors.Is(err, engine.ErrNotMember) {
		d.t.Errorf("a frozen engine ended with %v", err)
	}
}

func (d *disturbance) listed(id string) bool {
	for _, m := range d.store.View().Members {
		if m.ID == id {
			return true
		}
	}
	return false
}

// ask gives commands to whoever runs.
func (d *disturbance) ask(n int) {
	all := d.checked()
	for range n {
		id, at := all[d.rnd.IntN(len(all))].ID, slices.Sorted(maps.Keys(d.nodes))
		node := d.nodes[at[d.rnd.IntN(len(at))]]
		d.mu.Lock()
		text := fmt.Sprint("c", len(d.asked), " ", id)
		d.asked[text] = errors.New("not answered")
		d.mu.Unlock()
		d.wait.Go(func() {
			err := node.do(id, fold.AddComment{Author: "m", Text: text, Persistent: true})
			d.mu.Lock()
			d.asked[text] = err
			d.mu.Unlock()
		})
	}
}

// audit looks at the whole log: accepted events of an object form one chain, epochs rise,
// one writer has each epoch, and every command that was confirmed is on it once.
func (d *disturbance) audit() (refused int) {
	last, fence := map[object.ID]uint64{}, map[object.ID]uint64{}
	writer, comments := map[string]string{}, map[string]int{}
	for _, ev := range d.events("") {
		if ev.Object == "" || ev.Kind.Outcome() {
			continue
		}
		if ev.Prev != last[ev.Object] || ev.Epoch < fence[ev.Object] {
			d.t.Errorf("event %d of %s by %s follows %d under epoch %d, want %d under %d or more", ev.Seq, ev.Object, ev.Writer, ev.Prev, ev.Epoch, last[ev.Object], fence[ev.Object])
		}
		last[ev.Object], fence[ev.Object] = ev.Seq, ev.Epoch
		key := fmt.Sprint(ev.Object, ev.Epoch)
		if w := writer[key]; w != "" && w != ev.Writer {
			d.t.Errorf("%s and %s wrote %s under epoch %d", w, ev.Writer, ev.Object, ev.Epoch)
		}
		if writer[key] = ev.Writer; ev.Kind == event.CommentAdded {
			comments[ev.Text]++
		}
	}
	for text, err := range d.asked {
		n := comments[text]
		if n > 1 || n == 0 && err == nil {
			d.t.Errorf("comment %q is on the log %d times, its sender was told %v", text, n, err)
		}
		if err != nil {
			refused++
		}
	}
	return refused
}

// Engines join, leave, die, freeze and are cut off at random while checks run and
// commands come in: the log stays one chain per object, everybody agrees in the end,
// nothing that was confirmed is lost, and every check goes on.
func TestDisturbedClusters(t *testing.T) {
	for seed := *firstChance; seed < *firstChance+*disturbed && !t.Failed(); seed++ {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, func() *object.Set { return site(6, 5) })
			c.answer, c.takes = whims(seed), time.Duration(seed%3)*time.Second
			d := &disturbance{cluster: c, rnd: rand.New(rand.NewPCG(uint64(seed), 9)), asked: map[string]error{}}
			d.join("a")
			d.join("b")
			for range 40 {
				time.Sleep(time.Duration(d.rnd.IntN(20_000)) * time.Millisecond)
				d.ask(3)
				d.disturb()
			}
			time.Sleep(ttl + time.Minute)
			quiet := time.Now()
			time.Sleep(3 * time.Minute)
			d.wait.Wait()
			refused := d.audit()
			d.agree()
			for _, o := range d.checked() {
				times := d.times(o.ID)
				at := slices.IndexFunc(times, func(r run) bool { return r.at.After(quiet) })
				if at < 0 || times[at].at.Sub(quiet) > time.Minute+time.Second {
					t.Errorf("%s is not checked any more", o.ID)
					continue
				}
				for i := at + 1; i < len(times); i++ {
					if gap := times[i].at.Sub(times[i-1].at); times[i].by != times[i-1].by || gap > time.Minute+time.Second || gap < 9*time.Second {
						t.Errorf("%s ran after %s by %s and %s though nothing happened", o.ID, gap, times[i-1].by, times[i].by)
					}
				}
			}
			t.Logf("seed %d: %d events, %d of %d commands refused", seed, len(d.events("")), refused, len(d.asked))
			if t.Failed() {
				t.Logf("%q", d.log)
			}
			d.end(d.dead...)
		})
	}
}
