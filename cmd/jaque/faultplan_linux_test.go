package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"
)

// fault is something that goes wrong for a while.
type fault struct {
	name string
	// begin makes it happen for about so long and returns how it is described and what
	// ends it. It does not wait longer than that.
	begin func(x *faults, dice *rand.Rand, long time.Duration) (what string, end func())
}

// injected is a fault that was there.
type injected struct {
	name, what string
	from, to   time.Time
}

// faultKinds are the kinds that can come here, and are wanted.
func (x *faults) faultKinds() []fault {
	all := faultsOfMembers()
	if clockMoves {
		all = append(all, fault{"clock jumps", (*faults).jump})
	}
	if x.members[0].disk != nil {
		all = append(all, fault{"disk full", (*faults).fullDisk}, fault{"disk slow", (*faults).slowDisk})
	}
	if *faultOnly == "" {
		return all
	}
	only := strings.Split(*faultOnly, ",")
	all = slices.DeleteFunc(all, func(f fault) bool { return !slices.Contains(only, f.name) })
	if len(all) == 0 {
		x.t.Fatalf("-fault-only %q: none of these kinds can come here", *faultOnly)
	}
	return all
}

func faultsOfMembers() []fault {
	return []fault{
		{"one cut off", func(x *faults, dice *rand.Rand, _ time.Duration) (string, func()) {
			i := 1 + dice.IntN(len(x.members))
			x.net.unplug(i)
			return fmt.Sprintf("m%d", i), func() { x.net.plug(i) }
		}},
		{"all cut off", func(x *faults, dice *rand.Rand, _ time.Duration) (string, func()) {
			i := dice.IntN(len(x.members))
			a, b := 1+i, 1+(i+1)%len(x.members)
			x.net.unplug(a)
			x.net.unplug(b)
			return fmt.Sprintf("m%d, m%d", a, b), func() { x.net.plug(a); x.net.plug(b) }
		}},
		{"a link cut", func(x *faults, dice *rand.Rand, _ time.Duration) (string, func()) {
			a, b := x.two(dice)
			x.net.deafen(a, b)
			x.net.deafen(b, a)
			return fmt.Sprintf("m%d and m%d", a, b), func() { x.net.hear(a, b); x.net.hear(b, a) }
		}},
		{"one direction cut", func(x *faults, dice *rand.Rand, _ time.Duration) (string, func()) {
			a, b := x.two(dice)
			x.net.deafen(a, b)
			return fmt.Sprintf("m%d to m%d", a, b), func() { x.net.hear(a, b) }
		}},
		{"loss in one direction", func(x *faults, dice *rand.Rand, long time.Duration) (string, func()) {
			a, b := x.two(dice)
			for end := time.Now().Add(long); time.Now().Before(end); {
				x.net.deafen(a, b)
				time.Sleep(time.Duration(20+dice.IntN(150)) * time.Millisecond)
				x.net.hear(a, b)
				time.Sleep(time.Duration(20+dice.IntN(300)) * time.Millisecond)
			}
			return fmt.Sprintf("m%d to m%d", a, b), func() {}
		}},
		{"stopped and continued", func(x *faults, dice *rand.Rand, _ time.Duration) (string, func()) {
			m := x.any(dice)
			m.signal(syscall.SIGSTOP)
			return m.id(), func() { m.signal(syscall.SIGCONT) }
		}},
		{"slow", func(x *faults, dice *rand.Rand, long time.Duration) (string, func()) {
			m := x.any(dice)
			for end := time.Now().Add(long); time.Now().Before(end); {
				m.signal(syscall.SIGSTOP)
				time.Sleep(time.Duration(50+dice.IntN(250)) * time.Millisecond)
				m.signal(syscall.SIGCONT)
				time.Sleep(time.Duration(20+dice.IntN(100)) * time.Millisecond)
			}
			return m.id(), func() {}
		}},
		{"killed", func(x *faults, dice *rand.Rand, _ time.Duration) (string, func()) {
			m := x.any(dice)
			_ = m.end(syscall.SIGKILL, time.Minute)
			return m.id(), m.start
		}},
		{"two killed", func(x *faults, dice *rand.Rand, _ time.Duration) (string, func()) {
			a, b := x.two(dice)
			_ = x.members[a-1].end(syscall.SIGKILL, time.Minute)
			_ = x.members[b-1].end(syscall.SIGKILL, time.Minute)
			return fmt.Sprintf("m%d, m%d", a, b), func() { x.members[a-1].start(); x.members[b-1].start() }
		}},
		{"restarted", func(x *faults, dice *rand.Rand, _ time.Duration) (string, func()) {
			m := x.any(dice)
			if err := m.end(syscall.SIGTERM, 40*time.Second); err != nil {
				x.found("%v", err)
			}
			return m.id(), m.start
		}},
	}
}

func (x *faults) any(dice *rand.Rand) *faultMember { return x.members[dice.IntN(len(x.members))] }

// two returns the numbers of two members.
func (x *faults) two(dice *rand.Rand) (a, b int) {
	a = dice.IntN(len(x.members))
	return 1 + a, 1 + (a+1+dice.IntN(len(x.members)-1))%len(x.members)
}

// inject has faults one after the other until ctx ends, each for up to three TTLs and
// with a time of rest behind it, in which the members mostly find each other again. The
// first ones are of every kind once.
func (x *faults) inject(ctx context.Context, dice *rand.Rand) {
	kinds := x.faultKinds()
	order := dice.Perm(len(kinds))
	for n := 0; ; n++ {
		k := kinds[dice.IntN(len(kinds))]
		if n < len(order) {
			k = kinds[order[n]]
		}
		rest := time.Duration(dice.Int64N(int64(2 * x.ttl)))
		long := x.ttl/10 + time.Duration(dice.Int64N(int64(3*x.ttl)))
		select {
		case <-ctx.Done():
			return
		case <-time.After(rest):
		}
		from := time.Now()
		what, end := k.begin(x, dice, long)
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(from.Add(long))):
		}
		end()
		x.faults = append(x.faults, injected{k.name, what, from, time.Now()})
	}
}
