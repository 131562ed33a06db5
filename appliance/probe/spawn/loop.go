package spawn

import (
	"fmt"
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

const (
	// sweepAfter is how long a program may run before its pipes are watched.
	// Most plugins are done earlier, what they print fits the pipe, and one
	// wake-up at their end is all they cost.
	sweepAfter = 30 * time.Millisecond
	// pipeGrace is how long output is awaited from processes that outlive the
	// program that started them.
	pipeGrace = time.Second
	// reapGrace is how long a killed program may take to disappear before its
	// result is given without it (uninterruptible sleep on a dead disk).
	reapGrace = 2 * time.Second
	// startsPerTurn bounds the starts between two looks at what has ended.
	startsPerTurn = 4
	// sockOutMax is how many bytes of results may wait before starts pause.
	sockOutMax = 4 << 20
)

// What an epoll event is about, in the low bits of its tag.
const (
	onSock = iota
	onExit
	onOut
	onErr
	tagBits = 2
)

// loop starts and watches programs for one peer on a socket. It runs on one
// goroutine and nothing in it is shared.
type loop struct {
	sock, epfd, null int
	env              []string
	dir              string
	noPidfd          bool // behave as on a kernel without pidfd
	raw              bool // the process does nothing else, see rawWait
	asleep           bool // the last second was quiet

	slots   []*proc
	free    []int32
	byID    map[uint64]*proc
	queue   []queued
	next    time.Time // of the next sweep; zero = none
	in      []byte
	out     []byte
	outWait bool // EPOLLOUT is on
	scratch []byte
	events  [64]syscall.EpollEvent
	orphans []int // killed programs whose result was given before they went
}

type queued struct {
	id  uint64
	req Request
}

// serve runs the loop until the peer closes the socket, then kills what is
// still running. It takes ownership of sock.
func serve(sock int, env []string, dir string, set func(*loop)) error {
	l := &loop{sock: sock, env: env, dir: dir, byID: map[uint64]*proc{}, scratch: make([]byte, Limit)}
	if set != nil {
		set(l)
	}
	defer func() { _ = syscall.Close(sock) }()
	if err := l.open(); err != nil {
		return fmt.Errorf("start the spawner loop: %w", err)
	}
	defer l.close()
	l.out = appendSignal(l.out, frameHello, 0)
	for {
		if err := l.turn(); err != nil {
			if err == errPeerGone {
				return nil
			}
			return err
		}
	}
}

var errPeerGone = syscall.EPIPE

func (l *loop) open() (err error) {
	if err = syscall.SetNonblock(l.sock, true); err != nil {
		return err
	}
	if l.null, err = syscall.Open("/dev/null", syscall.O_RDWR|syscall.O_CLOEXEC, 0); err != nil {
		return err
	}
	if l.epfd, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		return err
	}
	return l.watch(l.sock, syscall.EPOLLIN, 0, onSock)
}

func (l *loop) watch(fd int, events uint32, slot, tag int32) error {
	ev := syscall.EpollEvent{Events: events, Fd: slot, Pad: tag}
	return sysEpollCtl(l.epfd, syscall.EPOLL_CTL_ADD, fd, &ev)
}

func (l *loop) close() {
	for _, p := range l.byID {
		p.killGroup()
	}
	for _, p := range l.byID {
		var ws syscall.WaitStatus
		for range 200 {
			if pid, _ := sysWait(p.pid, &ws); pid != 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		p.out.close()
		p.err.close()
		if p.pidfd >= 0 {
			sysClose(p.pidfd)
		}
	}
	_, _ = syscall.Close(l.epfd), syscall.Close(l.null)
}

// turn waits for something to happen and deals with it.
func (l *loop) turn() error {
	if err := l.flush(); err != nil {
		return err
	}
	n, err := l.wait()
	if err != nil {
		return fmt.Errorf("wait for programs: %w", err)
	}
	for i := range n {
		if err := l.handle(l.events[i]); err != nil {
			return err
		}
	}
	now := time.Now()
	if !l.next.IsZero() && !now.Before(l.next) {
		l.sweep(now)
	}
	for range startsPerTurn {
		if len(l.queue) == 0 || len(l.out) > sockOutMax {
			break
		}
		q := l.queue[0]
		l.queue[0] = queued{}
		l.queue = l.queue[1:]
		l.begin(q)
	}
	if len(l.queue) == 0 {
		l.queue = nil
	}
	return nil
}

// wait blocks until an event or the next sweep, and not at all while starts
// wait for their turn.
func (l *loop) wait() (int, error) {
	ms := -1
	switch {
	case len(l.queue) > 0:
		ms = 0
	case !l.next.IsZero():
		ms = max(0, int((time.Until(l.next)+time.Millisecond-1)/time.Millisecond))
	}
	if l.raw && !l.asleep {
		return l.rawWait(ms)
	}
	l.asleep = false
	n, err := syscall.EpollWait(l.epfd, l.events[:], ms)
	if err == syscall.EINTR {
		return 0, nil
	}
	return n, err
}

// rawWait waits without telling Go's scheduler. Telling it costs more than all
// the rest of a start: its monitor thread then wakes every 20 µs, takes the
// processor away and has to give it back. After a quiet second the next wait is
// a normal one, so that an idle spawner uses no processor time at all.
func (l *loop) rawWait(ms int) (int, error) {
	const quiet = 1000
	spell := ms
	if ms < 0 || ms > quiet {
		spell = quiet
	}
	n, _, e := syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(l.epfd),
		uintptr(unsafe.Pointer(&l.events[0])), uintptr(len(l.events)), uintptr(spell), 0, 0)
	switch {
	case e == syscall.EINTR:
		runtime.Gosched() // to the goroutine that deals with signals
		return 0, nil
	case e != 0:
		return 0, e
	}
	l.asleep = n == 0 && spell == quiet
	return int(n), nil
}

func (l *loop) handle(ev syscall.EpollEvent) error {
	what := ev.Pad & (1<<tagBits - 1)
	if what == onSock {
		if ev.Events&syscall.EPOLLOUT != 0 && ev.Events&(syscall.EPOLLIN|syscall.EPOLLHUP) == 0 {
			return nil // flush runs at the next turn
		}
		return l.receive()
	}
	p := l.slots[ev.Fd]
	if p.gen != ev.Pad>>tagBits || p.id == 0 {
		return nil // about the slot's former program
	}
	switch what {
	case onExit:
		l.gone(p)
	case onOut:
		p.out.drain(l.scratch)
		l.closedPipe(p)
	case onErr:
		p.err.drain(l.scratch)
		l.closedPipe(p)
	}
	return nil
}

// closedPipe finishes a program that only its pipes kept open.
func (l *loop) closedPipe(p *proc) {
	if p.phase == exited && p.out.fd < 0 && p.err.fd < 0 {
		l.finish(p)
	}
}

// receive reads frames off the socket.
func (l *loop) receive() error {
	n, e := sysRead(l.sock, l.scratch)
	if e == syscall.EAGAIN || e == syscall.EINTR {
		return nil
	}
	if e != 0 || n == 0 {
		return errPeerGone
	}
	l.in = append(l.in, l.scratch[:n]...)
	rest := l.in
	for {
		f, after, ok, err := cutFrame(rest)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		rest = after
		if err := l.accept(f); err != nil {
			return err
		}
	}
	l.in = append(l.in[:0], rest...)
	return nil
}

func (l *loop) accept(f frame) error {
	switch f.kind {
	case frameStart:
		req, err := parseStart(f.body)
		if err != nil {
			return err
		}
		l.queue = append(l.queue, queued{f.id, req})
	case frameKill:
		l.cancel(f.id)
	default:
		return errFrame
	}
	return nil
}

// cancel kills a program, or takes it off the queue.
func (l *loop) cancel(id uint64) {
	for i := range l.queue {
		if l.queue[i].id == id {
			l.queue = append(l.queue[:i], l.queue[i+1:]...)
			l.out = appendResult(l.out, id, &Result{Killed: true, Start: time.Now()})
			return
		}
	}
	if p := l.byID[id]; p != nil && p.phase != doomed {
		p.result.Killed = true
		l.doom(p, time.Now())
	}
}

// begin starts a queued program, or answers why it cannot be.
func (l *loop) begin(q queued) {
	p, now := l.slot(), time.Now()
	p.result = Result{Start: now}
	if n := l.start(p, &q.req, now); n != 0 {
		p.result.Errno = n
		p.result.Took = time.Since(now)
		l.out = appendResult(l.out, q.id, &p.result)
		l.free = append(l.free, p.slot)
		return
	}
	p.id = q.id
	l.byID[p.id] = p
	if p.pidfd >= 0 && l.watch(p.pidfd, syscall.EPOLLIN, p.slot, p.gen<<tagBits|onExit) != nil {
		sysClose(p.pidfd)
		p.pidfd = -1
	}
	l.sweepBy(p.deadline)
	l.sweepBy(now.Add(sweepAfter))
}

func (l *loop) slot() *proc {
	if n := len(l.free); n > 0 {
		p := l.slots[l.free[n-1]]
		l.free = l.free[:n-1]
		p.gen = (p.gen + 1) & (1<<28 - 1)
		return p
	}
	p := &proc{slot: int32(len(l.slots)), pidfd: -1, out: pipe{fd: -1}, err: pipe{fd: -1}}
	l.slots = append(l.slots, p)
	return p
}

func (l *loop) sweepBy(t time.Time) {
	if l.next.IsZero() || t.Before(l.next) {
		l.next = t
	}
}

// sweep looks at every program: kills what is over its time, watches the pipes
// of what runs longer than most, and finds the time of the next sweep.
func (l *loop) sweep(now time.Time) {
	l.next = time.Time{}
	l.reapOrphans()
	for _, p := range l.byID {
		l.look(p, now)
	}
	if len(l.orphans) > 0 {
		l.sweepBy(now.Add(reapGrace))
	}
}

func (l *loop) look(p *proc, now time.Time) {
	if p.pidfd < 0 && p.phase != exited && isZombie(p.pid) {
		l.gone(p)
		if p.id == 0 {
			return
		}
	}
	if !now.Before(p.deadline) {
		switch p.phase {
		case running:
			p.result.TimedOut = true
			l.doom(p, now)
		case exited:
			l.finish(p)
			return
		case doomed:
			l.orphans = append(l.orphans, p.pid)
			l.deliver(p)
			return
		}
	}
	l.sweepBy(p.deadline)
	if p.pidfd < 0 {
		l.sweepBy(now.Add(sweepAfter / 3))
	}
	if p.watched {
		return
	}
	if due := p.began.Add(sweepAfter); now.Before(due) {
		l.sweepBy(due)
		return
	}
	l.watchPipes(p)
}

func (l *loop) watchPipes(p *proc) {
	if p.watched {
		return
	}
	p.watched = true
	for _, w := range [...]struct{ fd, what int32 }{{int32(p.out.fd), onOut}, {int32(p.err.fd), onErr}} {
		if w.fd >= 0 {
			_ = l.watch(int(w.fd), syscall.EPOLLIN, p.slot, p.gen<<tagBits|w.what)
		}
	}
}

// doom kills a program's group and gives the kernel a moment to end it.
func (l *loop) doom(p *proc, now time.Time) {
	p.killGroup()
	if p.phase == exited {
		l.finish(p)
		return
	}
	p.phase, p.deadline = doomed, now.Add(reapGrace)
	l.sweepBy(p.deadline)
}

// gone deals with the end of the program itself. Processes it left behind keep
// its pipes open; they get a short grace to write what they have.
func (l *loop) gone(p *proc) {
	p.out.drain(l.scratch)
	p.err.drain(l.scratch)
	if p.phase == doomed || p.out.fd < 0 && p.err.fd < 0 {
		l.finish(p)
		return
	}
	if p.phase == exited {
		return
	}
	p.phase = exited
	if p.pidfd >= 0 { // it stays readable: the loop would spin on it
		_ = sysEpollCtl(l.epfd, syscall.EPOLL_CTL_DEL, p.pidfd, nil)
	}
	if grace := time.Now().Add(pipeGrace); grace.Before(p.deadline) {
		p.deadline = grace
	}
	l.sweepBy(p.deadline)
	l.watchPipes(p)
}

// finish ends the group, reaps the program and gives its result.
func (l *loop) finish(p *proc) {
	p.killGroup()
	for {
		pid, e := sysWait(p.pid, &p.result.Status)
		if e == syscall.EINTR {
			continue
		}
		if pid == 0 { // cannot be: it was seen gone
			l.orphans = append(l.orphans, p.pid)
		}
		break
	}
	l.deliver(p)
}

func (l *loop) deliver(p *proc) {
	p.out.close()
	p.err.close()
	if p.pidfd >= 0 {
		sysClose(p.pidfd)
		p.pidfd = -1
	}
	p.result.Took = time.Since(p.began)
	p.result.Out, p.result.OutCut = p.out.buf, p.out.cut
	p.result.Err, p.result.ErrCut = p.err.buf, p.err.cut
	l.out = appendResult(l.out, p.id, &p.result)
	delete(l.byID, p.id)
	p.id = 0
	if cap(p.out.buf) > 8<<10 {
		p.out.buf = nil
	}
	if cap(p.err.buf) > 8<<10 {
		p.err.buf = nil
	}
	p.result.Out, p.result.Err = nil, nil
	l.free = append(l.free, p.slot)
}

func (l *loop) reapOrphans() {
	kept := l.orphans[:0]
	for _, pid := range l.orphans {
		var ws syscall.WaitStatus
		if got, e := sysWait(pid, &ws); got == 0 && e == 0 {
			kept = append(kept, pid)
		}
	}
	l.orphans = kept
}

// flush writes results; what the socket does not take waits for EPOLLOUT.
func (l *loop) flush() error {
	for len(l.out) > 0 {
		n, e := sysWrite(l.sock, l.out)
		if e == syscall.EINTR {
			continue
		}
		if e == syscall.EAGAIN {
			return l.waitOut(true)
		}
		if e != 0 {
			return errPeerGone
		}
		l.out = append(l.out[:0], l.out[n:]...)
	}
	if cap(l.out) > 1<<20 {
		l.out = nil
	}
	return l.waitOut(false)
}

func (l *loop) waitOut(on bool) error {
	if l.outWait == on {
		return nil
	}
	l.outWait = on
	ev := syscall.EpollEvent{Events: syscall.EPOLLIN, Pad: onSock}
	if on {
		ev.Events |= syscall.EPOLLOUT
	}
	return sysEpollCtl(l.epfd, syscall.EPOLL_CTL_MOD, l.sock, &ev)
}
