package service

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A process whose work others have taken over is gone within the time it was given,
// whatever its parts wait for.
func TestAnEndInAHurryIsBounded(t *testing.T) {
	gone := errors.New("expired")
	const within = 2 * time.Second
	// A part that ends by itself a second after the start, and goes on tidying up.
	member := func(tidies time.Duration) Service {
		return Service{Name: "membership", Needs: []string{"log"}, StopTimeout: time.Hour, Run: func(ctx context.Context, ready func()) error {
			ready()
			time.Sleep(time.Second)
			err := FailFast(ctx, gone, within)
			time.Sleep(tidies)
			return err
		}}
	}
	// A part that waits for an answer, unless there is no time for that.
	asks := func(d *diary, name string, wait time.Duration, needs ...string) Service {
		return Service{Name: name, Needs: needs, StopTimeout: time.Hour, Run: func(ctx context.Context, ready func()) error {
			ready()
			<-ctx.Done()
			if !Hurried(ctx) {
				time.Sleep(wait)
			}
			d.add("-" + name)
			return nil
		}}
	}
	for _, c := range []struct {
		name  string
		parts func(d *diary) []Service
		took  time.Duration // from the end of the membership
		want  []string
		cut   string
	}{
		{"everybody asks whether there is time", func(d *diary) []Service {
			return []Service{asks(d, "log", time.Minute), member(0), asks(d, "engine", time.Minute, "log", "membership"), asks(d, "web", time.Minute, "engine")}
		}, 0, nil, ""},
		{"one waits for what never comes", func(d *diary) []Service {
			return []Service{asks(d, "log", 0), member(0), d.steady("engine", 0, time.Minute, "log", "membership")}
		}, within, []string{"-log"}, "service engine: it was cut off after 2s, because the process had to end within 2s"},
		{"the one that fails tidies up for long", func(d *diary) []Service {
			return []Service{asks(d, "log", 0), member(time.Minute)}
		}, within, []string{"-log"}, "service membership: expired\nit was cut off after 2s"},
		{"what stops last waits for the others", func(d *diary) []Service {
			log := d.steady("log", 0, 0)
			log.Last = true
			return []Service{log, member(0), d.steady("engine", 0, 300*time.Millisecond, "log", "membership"), d.steady("web", 0, 200*time.Millisecond, "engine")}
		}, 300 * time.Millisecond, []string{"-web", "-engine", "-log"}, ""},
		{"what stops last waits for half of the time", func(d *diary) []Service {
			log := d.steady("log", 0, 0)
			log.Last = true
			return []Service{log, member(0), d.steady("engine", 0, 1200*time.Millisecond, "log", "membership")}
		}, 1200 * time.Millisecond, []string{"-log", "-engine"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &diary{}
				began := time.Now()
				err := runAll(t.Context(), quiet(), c.parts(d))
				took := time.Since(began) - time.Second
				if !errors.Is(err, gone) || !strings.HasPrefix(err.Error(), "service membership: expired") && c.cut == "" {
					t.Errorf("it ended with %v", err)
				}
				if c.cut != "" && !strings.Contains(err.Error(), c.cut) {
					t.Errorf("it ended with %v, want %q", err, c.cut)
				}
				if took != c.took {
					t.Errorf("it took %s, want %s", took, c.took)
				}
				ends := slices.DeleteFunc(d.all(), func(s string) bool { return s[0] == '+' })
				if c.want != nil && !slices.Equal(ends, c.want) {
					t.Errorf("they ended in the order %v, want %v", ends, c.want)
				}
				time.Sleep(time.Hour) // what was cut off ends as well
			})
		})
	}
}

func TestAHurryOvertakesAStopThatTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, stop)
		d := &diary{}
		began := time.Now()
		err := runAll(ctx, quiet(), []Service{
			d.steady("log", 0, 0),
			{Name: "membership", Needs: []string{"log"}, Run: func(ctx context.Context, ready func()) error {
				ready()
				time.Sleep(3 * time.Second)
				return FailFast(ctx, errors.New("expired"), time.Second)
			}},
			d.steady("engine", 0, 10*time.Second, "membership"),
		})
		if took := time.Since(began); took != 4*time.Second {
			t.Errorf("it took %s", took)
		}
		if err == nil || !strings.Contains(err.Error(), "service engine: it was cut off after 3s") {
			t.Errorf("it ended with %v", err)
		}
		time.Sleep(time.Minute)
	})
}

func TestNothingHurriesOutsideAGroupOrOnceItIsStopped(t *testing.T) {
	boom := errors.New("boom")
	if Hurried(t.Context()) || !errors.Is(FailFast(t.Context(), boom, time.Second), boom) {
		t.Error("a context without a group hurries")
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, stop)
		err := runAll(ctx, quiet(), []Service{{Name: "membership", Run: func(ctx context.Context, ready func()) error {
			ready()
			<-ctx.Done()
			err := FailFast(ctx, boom, time.Second)
			if Hurried(ctx) {
				t.Error("a part that is told to stop makes the others hurry")
			}
			return err
		}}})
		if !errors.Is(err, boom) {
			t.Errorf("it ended with %v", err)
		}
	})
}
