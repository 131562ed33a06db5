package service

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// diary records what happens, in order.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) add(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

func (d *diary) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.lines)
}

// steady is a service that takes a while to get ready and to stop.
func (d *diary) steady(name string, starts, stops time.Duration, needs ...string) Service {
	return Service{Name: name, Needs: needs, Run: func(ctx context.Context, ready func()) error {
		time.Sleep(starts)
		d.add("+" + name)
		ready()
		<-ctx.Done()
		time.Sleep(stops)
		d.add("-" + name)
		return nil
	}}
}

func TestServicesStartAfterTheirNeedsAndStopInReverse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- runAll(ctx, quiet(), []Service{
				d.steady("web", time.Second, time.Second, "engine", "log"),
				d.steady("engine", time.Second, time.Second, "log"),
				d.steady("log", time.Second, time.Second),
			})
		}()
		time.Sleep(10 * time.Second)
		cancel()
		if err := <-done; err != nil {
			t.Fatalf("clean stop: got %v, want nil", err)
		}
		want := []string{"+log", "+engine", "+web", "-web", "-engine", "-log"}
		if got := d.all(); !slices.Equal(got, want) {
			t.Fatalf("order: got %v, want %v", got, want)
		}
	})
}

func TestUnrelatedServicesStartAndStopAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{}
		ctx, cancel := context.WithCancel(t.Context())
		g, err := New(quiet(), []Service{
			d.steady("a", 3*time.Second, 3*time.Second), d.steady("b", 3*time.Second, 3*time.Second),
		})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		start := time.Now()
		go func() { done <- g.Run(ctx) }()
		time.Sleep(3*time.Second + time.Millisecond)
		if left := g.NotReady(); len(left) != 0 {
			t.Fatalf("after 3 s: %v are not ready", left)
		}
		cancel()
		<-done
		if took := time.Since(start); took > 6*time.Second+10*time.Millisecond {
			t.Fatalf("took %s, want 6 s: they waited for each other", took)
		}
	})
}

func TestAServiceThatEndsByItselfEndsTheProcess(t *testing.T) {
	boom := errors.New("boom")
	cases := map[string]struct {
		run  func(context.Context, func()) error
		is   error
		text string
	}{
		"an error after it was ready": {
			func(_ context.Context, ready func()) error { ready(); time.Sleep(time.Second); return boom },
			boom, "service tail: boom",
		},
		"nil after it was ready": {
			func(_ context.Context, ready func()) error { ready(); return nil },
			ErrEnded, "service tail: it ended by itself",
		},
		"an error before it was ready": {
			func(context.Context, func()) error { return boom }, boom, "service tail: boom",
		},
		"a panic": {
			func(context.Context, func()) error { panic("torn page") }, nil, "service tail: panic: torn page",
		},
		"an end of its goroutine": {
			func(context.Context, func()) error { runtime.Goexit(); return nil }, nil,
			"service tail: it left its goroutine",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &diary{}
				err := runAll(t.Context(), quiet(), []Service{
					d.steady("log", 0, 0),
					{Name: "tail", Needs: []string{"log"}, Run: c.run},
					d.steady("web", 0, 0, "log"),
				})
				if err == nil || err.Error() != c.text {
					t.Fatalf("got %v, want %q", err, c.text)
				}
				if c.is != nil && !errors.Is(err, c.is) {
					t.Fatalf("%v does not wrap %v", err, c.is)
				}
				var named *Error
				if !errors.As(err, &named) || named.Service != "tail" {
					t.Fatalf("%v does not name the service", err)
				}
				if got := d.all(); len(got) > 0 && got[len(got)-1] != "-log" {
					t.Fatalf("the rest was not stopped in order: %v", got)
				}
			})
		})
	}
}

func TestThePanicStackIsLoggedAndTheLastLineNamesTheService(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	_ = runAll(t.Context(), log, []Service{{Name: "tail", Run: func(context.Context, func()) error { panic("torn") }}})
	if !strings.Contains(out.String(), "group_test.go") {
		t.Errorf("no stack in the log:\n%s", out.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, "service=tail") || !strings.Contains(last, "level=ERROR") {
		t.Errorf("last line is %q", last)
	}
}

func TestAServiceThatDoesNotStopIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		d := &diary{}
		ctx, cancel := context.WithCancel(t.Context())
		cancel2 := time.AfterFunc(time.Second, cancel)
		defer cancel2.Stop()
		start := time.Now()
		err := runAll(ctx, quiet(), []Service{
			d.steady("log", 0, 0),
			{
				Name: "stuck", Needs: []string{"log"}, StopTimeout: 4 * time.Second,
				Run: func(_ context.Context, ready func()) error { ready(); <-release; return nil },
			},
		})
		close(release)
		if want := "service stuck: it did not stop within 4s"; err == nil || err.Error() != want {
			t.Fatalf("got %v, want %q", err, want)
		}
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("took %s, want 5s", took)
		}
		if got := d.all(); !slices.Equal(got, []string{"+log", "-log"}) {
			t.Errorf("what it needs was not stopped: %v", got)
		}
	})
}

func TestAnErrorWhileStoppingIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		err := runAll(ctx, quiet(), []Service{
			{Name: "file", Run: func(ctx context.Context, ready func()) error {
				ready()
				<-ctx.Done()
				return errors.New("flush: disk full")
			}},
			{Name: "polite", Run: func(ctx context.Context, ready func()) error {
				ready()
				<-ctx.Done()
				return ctx.Err() // counts as a clean stop
			}},
		})
		if want := "service file: flush: disk full"; err == nil || err.Error() != want {
			t.Fatalf("got %v, want %q", err, want)
		}
	})
}

func TestStatusFollowsTheLifeOfAService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{}
		ctx, cancel := context.WithCancel(t.Context())
		g, err := New(quiet(), []Service{
			d.steady("log", time.Second, time.Second), d.steady("web", time.Second, time.Second, "log"),
		})
		if err != nil {
			t.Fatal(err)
		}
		expect := func(want ...State) {
			t.Helper()
			synctest.Wait()
			for i, s := range g.Status() {
				if s.State != want[i] {
					t.Fatalf("%s: got %s, want %s", s.Name, s.State, want[i])
				}
			}
		}
		expect(Waiting, Waiting)
		done := make(chan error)
		go func() { done <- g.Run(ctx) }()
		expect(Starting, Waiting)
		if left := g.NotReady(); !slices.Equal(left, []string{"log", "web"}) {
			t.Fatalf("not ready: %v", left)
		}
		time.Sleep(time.Second)
		expect(Ready, Starting)
		time.Sleep(time.Second)
		expect(Ready, Ready)
		cancel()
		expect(Ready, Stopping)
		time.Sleep(time.Second)
		expect(Stopping, Stopped)
		<-done
		expect(Stopped, Stopped)
	})
}

func TestAStopDuringTheStartStartsNothingMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &diary{}
		ctx, cancel := context.WithCancel(t.Context())
		never := Service{Name: "never", Run: func(ctx context.Context, _ func()) error { <-ctx.Done(); return nil }}
		time.AfterFunc(time.Second, cancel)
		if err := runAll(ctx, quiet(), []Service{never, d.steady("after", 0, 0, "never")}); err != nil {
			t.Fatal(err)
		}
		if got := d.all(); len(got) != 0 {
			t.Fatalf("started although its need was never ready: %v", got)
		}
	})
}

func TestWrongServicesAreRefused(t *testing.T) {
	run := func(context.Context, func()) error { return nil }
	cases := map[string]struct {
		services []Service
		want     string
	}{
		"an unknown need": {
			[]Service{{Name: "a", Needs: []string{"b"}, Run: run}},
			`services: "a" needs "b", which does not exist`,
		},
		"a name that stands twice": {
			[]Service{{Name: "a", Run: run}, {Name: "a", Run: run}},
			`services: the name "a" stands twice`,
		},
		"no name": {[]Service{{Run: run}}, `services: "" lacks a name or a Run function`},
		"a circle": {[]Service{
			{Name: "x", Needs: []string{"a"}, Run: run},
			{Name: "a", Needs: []string{"b"}, Run: run},
			{Name: "b", Needs: []string{"a"}, Run: run},
		}, `services: needs go round in a circle: a → b → a`},
		"a service that needs itself": {
			[]Service{{Name: "a", Needs: []string{"a"}, Run: run}},
			`services: needs go round in a circle: a → a`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if err := runAll(t.Context(), quiet(), c.services); err == nil || err.Error() != c.want {
				t.Fatalf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestEveryStateHasAName(t *testing.T) {
	want := []string{"waiting", "starting", "ready", "stopping", "stopped"}
	for i, name := range want {
		if got := State(i).String(); got != name {
			t.Errorf("State(%d) is %q, want %q", i, got, name)
		}
	}
	if State(99).String() != "unknown" {
		t.Error("a number that is no state has a name")
	}
}

// Any set of needs without a circle: nothing starts before what it needs and
// nothing stops after it.
func TestOrderHoldsForAnyNeeds(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(r, "services")
		d := &diary{}
		names := make([]string, n)
		needs := map[string][]string{}
		services := make([]Service, n)
		for i := range services {
			names[i] = string(rune('a' + i))
			for j := range i {
				if rapid.Bool().Draw(r, "needs") {
					needs[names[i]] = append(needs[names[i]], names[j])
				}
			}
			services[i] = d.steady(names[i], 0, 0, needs[names[i]]...)
		}
		ctx, cancel := context.WithCancel(context.Background())
		g, err := New(quiet(), services)
		if err != nil {
			r.Fatal(err)
		}
		done := make(chan error)
		go func() { done <- g.Run(ctx) }()
		for len(g.NotReady()) > 0 {
			runtime.Gosched()
		}
		cancel()
		if err := <-done; err != nil {
			r.Fatal(err)
		}
		lines := d.all()
		for user, list := range needs {
			for _, need := range list {
				if slices.Index(lines, "+"+need) > slices.Index(lines, "+"+user) ||
					slices.Index(lines, "-"+need) < slices.Index(lines, "-"+user) {
					r.Fatalf("%s needs %s, but the order was %v", user, need, lines)
				}
			}
		}
	})
}

// S133, S134: nobody who asks after a part has ended is told that all is well.
func TestAPartThatEndsIsToldBeforeAnythingStops(t *testing.T) {
	boom := errors.New("boom")
	cases := map[string]struct {
		end  func(ctx context.Context) error
		text string // of the group's result
	}{
		"it returns an error":    {func(context.Context) error { return boom }, "service tail: boom"},
		"it returns nil":         {func(context.Context) error { return nil }, "service tail: it ended by itself"},
		"it panics":              {func(context.Context) error { panic("torn") }, "service tail: panic: torn"},
		"it fails and goes on":   {func(ctx context.Context) error { _ = Fail(ctx, boom); return nil }, "service tail: boom"},
		"it fails without cause": {func(ctx context.Context) error { _ = Fail(ctx, nil); return nil }, "service tail: it ended by itself"},
		"it fails and tidies up for long": {func(ctx context.Context) error {
			err := Fail(ctx, boom)
			time.Sleep(time.Minute)
			return errors.Join(err, errors.New("close: late"))
		}, "service tail: boom\nclose: late"},
		"it fails twice": {func(ctx context.Context) error {
			_ = Fail(ctx, boom)
			return Fail(ctx, errors.New("and again"))
		}, "service tail: boom"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var g *Group
				// It ends a second after it was ready. A need of its is told to stop only
				// after it, and the process is gone only after that.
				tail := Service{Name: "tail", Needs: []string{"log"}, StopTimeout: time.Hour, Run: func(ctx context.Context, ready func()) error {
					ready()
					time.Sleep(time.Second)
					if err := g.Err(); err != nil {
						t.Errorf("before it ended: %v", err)
					}
					return c.end(ctx)
				}}
				d := &diary{}
				var err error
				if g, err = New(quiet(), []Service{d.steady("log", 0, time.Second), tail}); err != nil {
					t.Fatal(err)
				}
				done := make(chan error)
				go func() { done <- g.Run(t.Context()) }()
				time.Sleep(time.Second)
				synctest.Wait()
				var named *Error
				if !errors.As(g.Err(), &named) || named.Service != "tail" {
					t.Errorf("while the process still runs: %v", g.Err())
				}
				if err := <-done; err == nil || err.Error() != c.text {
					t.Errorf("got %v, want %q", err, c.text)
				}
			})
		})
	}
}

func TestAStopThatWasAskedForIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		g, err := New(quiet(), []Service{{Name: "tail", Run: func(ctx context.Context, ready func()) error {
			ready()
			<-ctx.Done()
			return Fail(ctx, errors.New("interrupted"))
		}}})
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, cancel)
		if err := g.Run(ctx); err == nil || g.Err() != nil {
			t.Errorf("result %v, failure %v", err, g.Err())
		}
	})
	if err := Fail(t.Context(), nil); err != nil {
		t.Errorf("outside a group: %v", err)
	}
}

// runAll is New and Group.Run in one.
func runAll(ctx context.Context, logger *slog.Logger, services []Service) error {
	g, err := New(logger, services)
	if err != nil {
		return err
	}
	return g.Run(ctx)
}
