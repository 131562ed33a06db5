package coordination

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/rule/membership"
)

// What happens to a fleet in the property below.
var happenings = []string{"start", "start", "kill", "leave", "cut", "heal", "lose acks", "wait", "overwrite heartbeat", "overwrite view"}

// lawFleet is the fleet of one run of the property.
type lawFleet struct {
	t     *testing.T
	keys  keys
	bus   *bus.Bus
	live  map[string]*member
	all   []*member
	count int
}

func (f *lawFleet) step(what, id string) {
	m := f.live[id]
	switch {
	case what == "start" && m == nil:
		f.count++
		m = newMember(f.keys, Engines, id, fmt.Sprint("run", f.count))
		m.run(f.t)
		f.all, f.live[id] = append(f.all, m), m
		go func() {
			if _, err := m.Register(f.t.Context(), m.Member, 0); err != nil {
				m.stop() // a process that cannot register ends
			}
		}()
	case m == nil:
	case what == "kill":
		m.stop()
		delete(f.live, id)
	case what == "leave":
		_ = m.Leave(f.t.Context(), id)
		m.stop()
		delete(f.live, id)
	case what == "cut":
		m.fault.set(true, false)
	case what == "heal":
		m.fault.set(false, false)
	case what == "lose acks":
		m.fault.set(false, true)
	case what == "overwrite heartbeat":
		f.overwrite(m.memberKey(id))
	case what == "overwrite view":
		f.overwrite(m.viewKey())
	}
}

func (f *lawFleet) overwrite(key string) { overwrite(f.t, f.bus, key, answers[f.count%len(answers)]) }

// reap forgets the processes that ended by themselves.
func (f *lawFleet) reap() {
	for id, m := range f.live {
		if len(m.ended) > 0 {
			delete(f.live, id)
		}
	}
}

// For any order of starts, deaths, leaves, partitions, lost answers and answers of the
// server that are stored over keys: an epoch
// never stands for two sets of members, nobody sees epochs go back, and once the
// store answers again the view is exactly the processes that live.
func TestViewsAgreeWhateverHappens(t *testing.T) {
	steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [3]string {
		return [3]string{
			rapid.SampledFrom(happenings).Draw(t, "what"), rapid.SampledFrom(ids(3)).Draw(t, "id"),
			fmt.Sprint(rapid.IntRange(0, 8000).Draw(t, "ms"), "ms"),
		}
	}), 3, 15)
	for seed := range 8 {
		script := steps.Example(seed)
		fleet(t, func(t *testing.T, b *bus.Bus, keys keys) {
			f := &lawFleet{t: t, keys: keys, bus: b, live: map[string]*member{}}
			for _, s := range script {
				f.reap()
				f.step(s[0], s[1])
				pause, _ := time.ParseDuration(s[2])
				time.Sleep(pause)
			}
			for _, m := range f.all {
				m.fault.set(false, false)
			}
			time.Sleep(5 * testTTL)
			synctest.Wait()
			f.reap()
			checkViews(t, f, script)
		})
	}
}

func checkViews(t *testing.T, f *lawFleet, script [][3]string) {
	t.Helper()
	meaning := map[uint64][]membership.Member{}
	for _, m := range f.all {
		m.mu.Lock()
		last := uint64(0)
		for _, v := range m.views {
			if v.Epoch <= last {
				t.Errorf("%v: %s saw epoch %d after %d", script, m.ID, v.Epoch, last)
			}
			last = v.Epoch
			if other, ok := meaning[v.Epoch]; ok && !slices.Equal(other, v.Members) {
				t.Errorf("%v: epoch %d means %v and %v", script, v.Epoch, other, v.Members)
			}
			meaning[v.Epoch] = v.Members
		}
		m.mu.Unlock()
	}
	var live []membership.Member
	for _, id := range ids(3) {
		if m := f.live[id]; m != nil {
			live = append(live, m.Member)
		}
	}
	for _, m := range f.live {
		if v := m.View(); !slices.Equal(v.Members, live) {
			t.Errorf("%v: %s follows %v, alive are %v", script, m.ID, v, live)
		}
	}
}
