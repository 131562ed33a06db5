package journal

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// silentLog is a log server that answers when a test wants it to.
type silentLog struct {
	nc  *nats.Conn
	mu  sync.Mutex
	got []*nats.Msg
}

// listenTo runs a server and a publisher beside it, in a bubble.
func listenTo(t *testing.T, timeout, least time.Duration) (*silentLog, *publisher) {
	t.Helper()
	s, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	nc, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		t.Fatal(err)
	}
	l := &silentLog{nc: nc}
	_, err = nc.Subscribe("log.>", func(m *nats.Msg) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.got = append(l.got, m)
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPublisher(nc, timeout, least)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.close(); err != nil {
			t.Error(err)
		}
		nc.Close()
		s.Shutdown()
		s.WaitForShutdown()
	})
	return l, p
}

// answer answers the nth message.
func (l *silentLog) answer(t *testing.T, n int) {
	t.Helper()
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.got[n].Respond(fmt.Appendf(nil, `{"stream":"LOG","seq":%d}`, n+1)); err != nil {
		t.Error(err)
	}
}

func TestAnAnswerIsWaitedForAsLongAsAnswersTake(t *testing.T) {
	const timeout, least = 10 * time.Second, 1500 * time.Millisecond
	for _, c := range []struct {
		name  string
		least time.Duration
		usual time.Duration // answers before took so long
		want  time.Duration
	}{
		{"answers that come soon", least, 20 * time.Millisecond, least},
		{"a slow disk", least, 500 * time.Millisecond, 4 * time.Second},
		{"a disk that hangs", least, 3 * time.Second, timeout},
		{"where no answer gets lost", timeout, 20 * time.Millisecond, timeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, p := listenTo(t, timeout, c.least)
				for n := range 100 {
					p.send(nats.NewMsg("log.x"), func(answer) {})
					time.Sleep(c.usual)
					l.answer(t, n)
					synctest.Wait()
				}
				sent := time.Now()
				got := make(chan answer, 1)
				p.send(nats.NewMsg("log.x"), func(a answer) { got <- a })
				a := <-got
				if took := time.Since(sent); !errors.Is(a.err, ErrUnknown) || took < c.want-10*time.Millisecond || took > c.want+c.want/5 {
					t.Errorf("given up after %s with %v, want %s", took, a.err, c.want)
				}
				if !strings.Contains(a.err.Error(), "no answer within") {
					t.Errorf("it says %v", a.err)
				}
			})
		})
	}
}

// Whoever gave up too soon learns from what comes after that, and is called only once.
func TestALateAnswerIsLearntFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := listenTo(t, 10*time.Second, 1500*time.Millisecond)
		calls := 0
		for n := range 30 {
			p.send(nats.NewMsg("log.x"), func(answer) { calls++ })
			time.Sleep(4 * time.Second)
			l.answer(t, n)
			synctest.Wait()
		}
		if calls != 30 {
			t.Errorf("%d calls for 30 messages", calls)
		}
		p.mu.Lock()
		if got := p.patience(); got != 10*time.Second {
			t.Errorf("an answer that takes 4 s is waited for %s", got)
		}
		p.mu.Unlock()
		// What is never answered is forgotten in the end.
		p.send(nats.NewMsg("log.x"), func(answer) { calls++ })
		time.Sleep(time.Minute)
		synctest.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		if calls != 31 || len(p.late) != 0 || len(p.waiting) != 0 || p.armed {
			t.Errorf("%d calls, %d late, %d waiting, armed %v", calls, len(p.late), len(p.waiting), p.armed)
		}
	})
}
