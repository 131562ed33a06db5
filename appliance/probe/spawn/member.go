package spawn

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// member is one spawner and the programs it runs for us.
type member struct {
	pool *Pool
	load atomic.Int32 // programs under way
	down atomic.Bool  // conn is nil

	mu      sync.Mutex
	conn    net.Conn // nil while there is no spawner
	cmd     *exec.Cmd
	lastID  uint64
	calls   map[uint64]*call
	pending []byte // frames not written yet
	spare   []byte
	writing bool // a goroutine is writing and takes what is added to pending
}

// call is one program somebody waits for. The goroutine that takes it out of
// calls writes result and err and closes done.
type call struct {
	done   chan struct{}
	result Result
	err    error
}

// run serves the connection, and makes a new one whenever it breaks.
func (m *member) run(ctx context.Context) {
	const least, most = 50 * time.Millisecond, 5 * time.Second
	pause := least
	for {
		up := time.Now()
		err := m.read()
		m.fail(m.pool.gone())
		if ctx.Err() != nil {
			return
		}
		m.pool.opts.Log.Error("spawner process lost, its running checks become UNKNOWN; starting another", "err", err)
		if m.pool.opts.Died != nil {
			m.pool.opts.Died()
		}
		if time.Since(up) > 2*most {
			pause = least
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, most)
		if err := m.connect(); err != nil {
			m.pool.opts.Log.Error("spawner process not started, trying again", "err", err, "pause", pause)
		}
		if ctx.Err() != nil {
			m.hangUp()
		}
	}
}

// weight orders members for pick: without a spawner comes last.
func (m *member) weight() int64 {
	if m.down.Load() {
		return 1 << 32
	}
	return int64(m.load.Load())
}

// connect starts a spawner, as a process or inside this one.
func (m *member) connect() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn != nil {
		return nil
	}
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("make a socket pair: %w", err)
	}
	mine := os.NewFile(uintptr(fds[0]), "spawner")
	conn, err := net.FileConn(mine)
	_ = mine.Close()
	if err != nil {
		_ = syscall.Close(fds[1])
		return fmt.Errorf("use the socket pair: %w", err)
	}
	if m.pool.opts.Processes > 0 {
		theirs := os.NewFile(uintptr(fds[1]), "spawner")
		m.cmd, err = m.pool.process(theirs)
		_ = theirs.Close()
		if err != nil {
			_ = conn.Close()
			return err
		}
	} else {
		o := m.pool.opts
		m.pool.done.Go(func() {
			// The thread stays: programs die with the thread that started them.
			runtime.LockOSThread()
			if err := serve(fds[1], o.Env, o.Dir, nil); err != nil {
				o.Log.Error("spawner loop ended", "err", err)
			}
		})
	}
	m.conn = conn
	m.down.Store(false)
	return nil
}

// process starts this program as a spawner that talks over file descriptor 3.
func (p *Pool) process(sock *os.File) (*exec.Cmd, error) {
	cmd := exec.Command(p.opts.Exe)
	cmd.Args = []string{"jaque", mainArgument, p.opts.Dir}
	cmd.Env = append(slices.Clip(p.opts.Env), calm)
	cmd.Dir = "/"
	cmd.Stderr = os.Stderr
	cmd.ExtraFiles = []*os.File{sock}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("run %s as spawner: %w", p.opts.Exe, err)
	}
	return cmd, nil
}

// read delivers results until the connection breaks, then clears it away.
func (m *member) read() error {
	m.mu.Lock()
	conn, cmd := m.conn, m.cmd
	m.mu.Unlock()
	if conn == nil {
		return net.ErrClosed
	}
	err := m.readFrames(conn)
	_ = conn.Close()
	m.mu.Lock()
	m.conn, m.pending = nil, nil
	m.down.Store(true)
	m.mu.Unlock()
	if cmd != nil {
		// It ends by itself once the socket is closed.
		end := time.AfterFunc(answerGrace, func() { _ = cmd.Process.Kill() })
		if waitErr := cmd.Wait(); waitErr != nil {
			err = waitErr
		}
		end.Stop()
	}
	return err
}

func (m *member) readFrames(conn net.Conn) error {
	buf, have := make([]byte, 64<<10), 0
	for {
		n, err := conn.Read(buf[have:])
		if err != nil {
			return err
		}
		have += n
		rest := buf[:have]
		for {
			f, after, ok, err := cutFrame(rest)
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			rest = after
			if err := m.deliver(f); err != nil {
				return err
			}
		}
		have = copy(buf, rest)
		if have == len(buf) {
			buf = append(buf, make([]byte, len(buf))...)
		}
	}
}

func (m *member) deliver(f frame) error {
	if f.kind == frameHello {
		return nil
	}
	res, err := parseResult(f.body)
	if err != nil || f.kind != frameResult {
		return errFrame
	}
	if c := m.take(f.id); c != nil {
		c.result = res
		close(c.done)
	}
	return nil
}

// take removes a call from those under way; nil if it is not there any more.
func (m *member) take(id uint64) *call {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.calls[id]
	if c != nil {
		delete(m.calls, id)
		m.load.Add(-1)
	}
	return c
}

// fail answers every call under way with an error.
func (m *member) fail(err error) {
	m.mu.Lock()
	calls := m.calls
	m.calls = map[uint64]*call{}
	m.load.Store(0)
	m.mu.Unlock()
	for _, c := range calls {
		c.err = err
		close(c.done)
	}
}

// begin registers a call and sends its start frame.
func (m *member) begin(req *Request) (uint64, *call, error) {
	c := &call{done: make(chan struct{})}
	m.mu.Lock()
	if m.conn == nil {
		m.mu.Unlock()
		return 0, nil, m.pool.gone()
	}
	m.lastID++
	id := m.lastID
	m.calls[id] = c
	m.load.Add(1)
	m.pending = appendStart(m.pending, id, req)
	m.writeLocked()
	return id, c, nil
}

// send adds a frame to what is to be written.
func (m *member) send(add func([]byte) []byte) {
	m.mu.Lock()
	if m.conn == nil {
		m.mu.Unlock()
		return
	}
	m.pending = add(m.pending)
	m.writeLocked()
}

// writeLocked writes what is pending unless somebody else already does; that
// one then takes this too, so that many small requests become one write. It is
// called with mu held and returns without it.
func (m *member) writeLocked() {
	if m.writing {
		m.mu.Unlock()
		return
	}
	m.writing = true
	for len(m.pending) > 0 && m.conn != nil {
		conn, b := m.conn, m.pending
		m.pending = m.spare[:0]
		m.mu.Unlock()
		_, err := conn.Write(b)
		if err != nil {
			_ = conn.Close() // the reader notices and cleans up
		}
		m.mu.Lock()
		m.spare = b
	}
	m.writing = false
	m.mu.Unlock()
}

// hangUp closes the connection, upon which the spawner kills what it runs.
func (m *member) hangUp() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn != nil {
		_ = m.conn.Close()
	}
}

// abandon gives up a spawner that does not answer.
func (m *member) abandon() {
	m.mu.Lock()
	cmd := m.cmd
	m.mu.Unlock()
	if cmd != nil {
		_ = cmd.Process.Kill()
	}
	m.hangUp()
}
