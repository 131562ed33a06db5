package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// movedClock names a file of eight bytes: by how many seconds the wall clock of the
// program is off, as whoever runs it says at any moment.
const movedClock = "TEST_CLOCK"

// clockMoves tells whether the wall clock of the program can be moved here. Linux has no
// wall clock of its own for some processes, and Go asks the kernel without a library in
// between; so the first instructions of time.Now are written over.
const clockMoves = runtime.GOARCH == "amd64"

// clock is the moved one, nil where it is not.
var clock *wallClock

var _ = moveClock(os.Getenv(movedClock)) // before anything asks for the time

// wallClock is a clock that is off. What it says of the time since something happened is
// right all the same, as with a clock that somebody sets.
type wallClock struct {
	off   *atomic.Int64 // seconds
	began time.Time
}

// instant is how a time with a reading of the monotonic clock is kept: 33 bits of
// seconds stand above 30 of nanoseconds.
type instant struct {
	wall uint64
	ext  int64
	loc  *time.Location
}

func clockNow() time.Time {
	t := clock.began.Add(time.Since(clock.began))
	(*instant)(unsafe.Pointer(&t)).wall += uint64(clock.off.Load()) << 30
	return t
}

// moveClock makes time.Now ask a clock that is off by what stands in a file, and tells
// whether it has.
func moveClock(path string) bool {
	if path == "" || !clockMoves || os.Getenv(asProgram) == "" {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	file, err := syscall.Mmap(int(f.Fd()), 0, 8, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	now, instead := time.Now, clockNow
	code := *(*unsafe.Pointer)(*(*unsafe.Pointer)(unsafe.Pointer(&now)))
	page := uintptr(code) % uintptr(os.Getpagesize())
	memory := unsafe.Slice((*byte)(unsafe.Add(code, -int(page))), 2*os.Getpagesize())
	if err := unix.Mprotect(memory, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC); err != nil {
		panic(err)
	}
	clock = &wallClock{(*atomic.Int64)(unsafe.Pointer(&file[0])), time.Now()}
	jump := append([]byte{0x48, 0xba}, make([]byte, 8)...) // mov rdx, …; jmp [rdx]
	binary.LittleEndian.PutUint64(jump[2:], uint64(*(*uintptr)(unsafe.Pointer(&instead))))
	copy(memory[page:], append(jump, 0xff, 0x22))
	return true
}

// setClock sets by how much a member's wall clock is off, in whole seconds.
func (m *faultMember) setClock(by time.Duration) {
	m.t.Helper()
	text := binary.NativeEndian.AppendUint64(nil, uint64(int64(by/time.Second)))
	f, err := os.OpenFile(m.clock, os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.WriteAt(text, 0)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// jumps are by how much clocks jump.
var jumps = []time.Duration{30 * time.Second, -30 * time.Second, time.Hour, -time.Hour, 24 * time.Hour, -24 * time.Hour}

// jump sets the clock of a member off and returns what sets it right.
func (x *faults) jump(dice *rand.Rand, _ time.Duration) (string, func()) {
	m, by := x.members[dice.IntN(len(x.members))], jumps[dice.IntN(len(jumps))]
	x.leaps++
	m.setClock(by)
	return fmt.Sprintf("%s by %s", m.id(), by), func() { m.setClock(0) }
}

// jumped sets the clock of a member off in a calm cluster and right again. No service may
// stay unchecked, neither while the clock is off nor behind that, and none may change its
// owner.
func (x *faults) jumped(dice *rand.Rand) {
	x.t.Helper()
	if !clockMoves {
		x.t.Logf("clocks do not jump here: the test can set those of programs for amd64 only, and this is %s", runtime.GOARCH)
		return
	}
	for range *faultJumps {
		m, by := x.members[dice.IntN(len(x.members))], jumps[dice.IntN(len(jumps))]
		x.leaps++
		from, epoch, most := time.Now(), x.epoch(m), 2*x.interval+x.ttl
		for _, off := range []time.Duration{by, 0} {
			m.setClock(off)
			for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
				if x.epoch(m) != epoch {
					break
				}
			}
		}
		x.whole()
		if now := x.epoch(m); now != epoch {
			x.found("the clock of %s jumped by %s and back: the members changed, from epoch %s to %s", m.id(), by, epoch, now)
		}
		longest := x.unchecked(from)
		if longest > most {
			x.found("the clock of %s jumped by %s and back: a service was not checked for %s, more than %s", m.id(), by, longest, most)
		}
		x.t.Logf("the clock of %s jumped by %s and back: longest time without a check %s", m.id(), by, longest.Round(time.Millisecond))
	}
}

// unchecked is the longest time for which a service has not been checked since then, and
// what it is up to now.
func (x *faults) unchecked(from time.Time) time.Duration {
	last, longest := map[string]time.Time{}, time.Duration(0)
	for i := range x.hosts {
		last[fmt.Sprintf("h%d!run", i)] = from
	}
	for _, r := range x.runs() {
		if r.at.After(from) {
			longest = max(longest, r.at.Sub(last[r.object]))
			last[r.object] = r.at
		}
	}
	for _, at := range last {
		longest = max(longest, time.Since(at))
	}
	return longest
}

// epoch is that of the members' view, as a member says; "" if it does not answer.
func (x *faults) epoch(m *faultMember) string {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), 5*time.Second)
	defer cancel()
	_, page, err := m.ask(ctx, http.MethodGet, "/metrics", "")
	if err != nil {
		return ""
	}
	_, page, _ = strings.Cut(page, "\njaque_engine_epoch ")
	page, _, _ = strings.Cut(page, "\n")
	return page
}
