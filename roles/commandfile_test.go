package roles

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/commandfile"
	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/roles/engine"
)

// taken is a command file whose commands go to a list.
type taken struct {
	*commands
	reg   *prometheus.Registry
	log   bytes.Buffer
	calls [][]string // what each Do was asked for
	fail  func(i int, a operate.Action) error
	whole error // of the whole Do
	now   object.Time
}

func take(t *testing.T) *taken {
	t.Helper()
	c, problems := config.Load(folder(t, shop), config.Options{AllZonesLocal: true})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	x := &taken{reg: prometheus.NewRegistry(), now: 1_800_000_000_000}
	logger := slog.New(slog.NewTextHandler(&x.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	x.commands = &commands{
		tally: commandfile.NewTally(logger, x.reg, commandReasons()...), log: logger,
		world: func() *operate.World {
			state := func(id object.ID) *fold.State { s := fold.New(c.Set.Get(id)); return &s }
			return &operate.World{Set: c.Set, State: state, Program: &program.State{}, Now: x.now, Address: (&addresses{}).in(c.Set)}
		},
		reload: func() { x.calls = append(x.calls, []string{"reload"}) },
	}
	x.do = func(_ context.Context, actions []operate.Action) (operate.Report, error) {
		var call []string
		report := operate.Report{Results: make([]operate.Result, len(actions))}
		for i, a := range actions {
			what := fmt.Sprintf("%T", a.Command)
			if a.Program != nil {
				what = fmt.Sprintf("%T", a.Program)
			}
			text := strings.TrimSpace(strings.TrimPrefix(what, "fold.") + " " + string(a.Object))
			if r, ok := a.Command.(fold.Result); ok {
				text += " " + r.Output
			}
			call = append(call, text)
			if x.fail != nil {
				report.Results[i].Err = x.fail(i, a)
			}
		}
		x.calls = append(x.calls, call)
		return report, x.whole
	}
	return x
}

// refused returns how many were refused for a reason; "" = accepted.
func (x *taken) count(t *testing.T, reason string) (n float64) {
	t.Helper()
	families, err := x.reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if reason == "" && f.GetName() == "jaque_command_file_accepted_total" ||
				len(m.GetLabel()) == 1 && m.GetLabel()[0].GetValue() == reason {
				n += m.GetCounter().GetValue()
			}
		}
	}
	return n
}

func lines(text string) [][]byte { return bytes.Split([]byte(strings.TrimSpace(text)), []byte("\n")) }

func TestResultsGoTogetherAndAnythingElseAlone(t *testing.T) {
	x := take(t)
	x.handle(t.Context(), lines(`
[1800000000] PROCESS_SERVICE_CHECK_RESULT;web01;door;0;one
[1800000000] PROCESS_SERVICE_CHECK_RESULT;web01;door;2;two
[1800000000] PROCESS_HOST_CHECK_RESULT;192.0.2.7;1;by address
[1800000000] DISABLE_SVC_CHECK;web01;greeting
[1800000000] DISABLE_NOTIFICATIONS
[1800000000] PROCESS_SERVICE_CHECK_RESULT;web01;door;0;three
[1800000000] ADD_HOST_COMMENT;web01;1;ada;a;b`))
	want := [][]string{
		{"Result web01!door one", "Result web01!door two", "Result web01 by address"},
		{"Switch web01!greeting"},
		{"program.Switch"},
		{"Result web01!door three"},
		{"AddComment web01"},
	}
	if !slices.EqualFunc(x.calls, want, slices.Equal[[]string]) {
		t.Errorf("got  %q\nwant %q", x.calls, want)
	}
	if n := x.count(t, ""); n != 7 {
		t.Errorf("%g accepted", n)
	}
	if !strings.Contains(x.log.String(), `msg="EXTERNAL COMMAND" command=DISABLE_SVC_CHECK;web01;greeting`) {
		t.Errorf("the log lacks the command:\n%s", &x.log)
	}
}

func TestAFloodOfResultsGoesInBoundedSteps(t *testing.T) {
	x := take(t)
	var text strings.Builder
	for i := range 1200 {
		fmt.Fprintf(&text, "[1800000000] PROCESS_SERVICE_CHECK_RESULT;web01;door;0;%d\n", i)
	}
	x.handle(t.Context(), lines(text.String()))
	var sizes []int
	for _, c := range x.calls {
		sizes = append(sizes, len(c))
	}
	if !slices.Equal(sizes, []int{atOnce, atOnce, 200}) || x.count(t, "") != 1200 {
		t.Errorf("steps of %v, %g accepted", sizes, x.count(t, ""))
	}
}

func TestEachRefusalHasItsReason(t *testing.T) {
	judged := &fold.Refusal{Object: "web01!door", Reason: fold.PassiveOff, Text: "submitted results are switched off"}
	for name, c := range map[string]struct {
		line, reason string
		err          error
	}{
		"no command":                     {"hello", "unknown", nil},
		"a bracket that is not closed":   {"[18 ENABLE_NOTIFICATIONS", "malformed", nil},
		"a name that nothing has":        {"[1800000000] DISABLE_HOST_CHECK;web02", "target", nil},
		"an argument that is missing":    {"[1800000000] ADD_HOST_COMMENT;web01;1", "argument", nil},
		"a command without meaning here": {"[1800000000] SHUTDOWN_PROCESS", "unsupported", nil},
		"a command of a module":          {"[1800000000] _MINE;1", "custom", nil},
		"what the object refuses":        {"[1800000000] PROCESS_SERVICE_CHECK_RESULT;web01;door;0;x", "passive", fmt.Errorf("%w: %w", judged, engine.ErrRefused)},
		"what nobody confirms":           {"[1800000000] DISABLE_HOST_CHECK;web01", "unconfirmed", engine.ErrUnconfirmed},
		"an object that has just gone":   {"[1800000000] DISABLE_HOST_CHECK;web01", "target", engine.ErrNotFound},
		"what a stop cuts off":           {"[1800000000] DISABLE_HOST_CHECK;web01", "unconfirmed", fmt.Errorf("wait: %w", context.Canceled)},
		"what fails":                     {"[1800000000] DISABLE_HOST_CHECK;web01", "failed", errors.New("disk on fire")},
	} {
		t.Run(name, func(t *testing.T) {
			x := take(t)
			x.fail = func(int, operate.Action) error { return c.err }
			if left := x.handle(t.Context(), lines(c.line)); len(left) > 0 {
				t.Errorf("%q are left", left)
			}
			if x.count(t, c.reason) != 1 || x.count(t, "") != 0 || !strings.Contains(x.log.String(), "reason="+c.reason) {
				t.Errorf("reason %s: %g, accepted %g\n%s", c.reason, x.count(t, c.reason), x.count(t, ""), &x.log)
			}
		})
	}
}

func TestACommandForManyObjectsTellsHowManyRefused(t *testing.T) {
	x := take(t)
	x.fail = func(i int, a operate.Action) error {
		if i == 0 {
			return nil
		}
		return fmt.Errorf("%w: %w", &fold.Refusal{Object: a.Object, Reason: fold.NoProblem, Text: "there is no problem"}, engine.ErrRefused)
	}
	x.handle(t.Context(), lines("[1800000000] DISABLE_HOST_SVC_CHECKS;web01"))
	if x.count(t, "fine") != 1 || x.count(t, "") != 0 || !strings.Contains(x.log.String(), "DISABLE_HOST_SVC_CHECKS: 1 of 2 objects: there is no problem") {
		t.Errorf("%g refused\n%s", x.count(t, "fine"), &x.log)
	}
}

func TestWhatTheEngineHasNoRoomForIsHandedInAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := take(t)
		tries := 0
		x.fail = func(i int, _ operate.Action) error {
			if i > 0 && tries < 3 { // only the first is taken
				return fmt.Errorf("%w: %w", engine.ErrNotBegun, engine.ErrBusy)
			}
			return nil
		}
		do := x.do
		x.do = func(ctx context.Context, a []operate.Action) (operate.Report, error) { tries++; return do(ctx, a) }
		x.handle(t.Context(), lines(strings.Repeat("[1800000000] PROCESS_SERVICE_CHECK_RESULT;web01;door;0;x\n", 5)))
		var sizes []int
		for _, c := range x.calls {
			sizes = append(sizes, len(c))
		}
		if !slices.Equal(sizes, []int{5, 4, 3}) || x.count(t, "") != 5 {
			t.Errorf("steps of %v, %g accepted", sizes, x.count(t, ""))
		}
	})
}

func TestAStopLeavesWhatWasNotBegun(t *testing.T) {
	text := lines("[1800000000] DISABLE_HOST_CHECK;web01\n[1800000000] PROCESS_HOST_CHECK_RESULT;web01;0;x\n[1800000000] LOG;y")
	synctest.Test(t, func(t *testing.T) {
		x := take(t)
		x.whole = engine.ErrBusy
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		left := x.handle(ctx, text)
		if took := time.Since(began); took != 5*time.Second || !slices.EqualFunc(left, text, bytes.Equal) {
			t.Errorf("it took %v, %q are left", took, left)
		}
		if len(x.calls) > 20 || x.count(t, "") != 0 || x.count(t, "stopping") != 0 {
			t.Errorf("asked %d times, %g accepted, %g refused", len(x.calls), x.count(t, ""), x.count(t, "stopping"))
		}
		if again := x.handle(t.Context(), nil); len(again) > 0 {
			t.Errorf("%q are left twice", again)
		}
	})
	t.Run("the engine has ended", func(t *testing.T) {
		x := take(t)
		x.whole = engine.ErrStopping
		if left := x.handle(t.Context(), text); len(left) != 3 || len(x.calls) != 1 {
			t.Errorf("%q are left, asked %d times", left, len(x.calls))
		}
	})
	t.Run("what was begun is waited for", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			x := take(t)
			do := x.do
			x.do = func(ctx context.Context, a []operate.Action) (operate.Report, error) {
				select {
				case <-time.After(2 * time.Second):
				case <-ctx.Done():
					t.Error("it was given up")
				}
				return do(ctx, a)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if left := x.handle(ctx, text); len(left) != 2 || x.count(t, "") != 1 {
				t.Errorf("%q are left, %g accepted", left, x.count(t, ""))
			}
		})
	})
	t.Run("what is never answered is not confirmed, and not done again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			x := take(t)
			x.do = func(ctx context.Context, a []operate.Action) (operate.Report, error) {
				<-ctx.Done()
				return operate.Report{Results: []operate.Result{{Err: fmt.Errorf("wait: %w", ctx.Err())}}}, nil
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if left := x.handle(ctx, text); len(left) != 2 || x.count(t, "unconfirmed") != 1 || !strings.Contains(x.log.String(), "not confirmed") {
				t.Errorf("%q are left, %g not confirmed\n%s", left, x.count(t, "unconfirmed"), &x.log)
			}
		})
	})
}

func TestAFileOfCommands(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	write := func() {
		text := "[1800000000] DISABLE_HOST_CHECK;web01\nroot:secret:0:0\n[1800000000] PROCESS_FILE;" + file + ";1\n" +
			"[1800000000] PROCESS_SERVICE_CHECK_RESULT;web01;door;0;last"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := [][]string{{"Switch web01"}, {"Result web01!door last"}, {"Switch web01"}}
	for name, c := range map[string]struct {
		line string
		gone bool
	}{
		"is kept":    {"PROCESS_FILE;" + file, false},
		"is removed": {"PROCESS_FILE;" + file + ";1", true},
	} {
		t.Run(name, func(t *testing.T) {
			write()
			x := take(t)
			x.handle(t.Context(), lines("[1800000000] "+c.line+"\n[1800000000] ENABLE_HOST_CHECK;web01"))
			if !slices.EqualFunc(x.calls, want, slices.Equal[[]string]) {
				t.Errorf("got %q", x.calls)
			}
			if _, err := os.Stat(file); os.IsNotExist(err) != c.gone {
				t.Errorf("the file: %v", err)
			}
			if text := x.log.String(); strings.Contains(text, "secret") || !strings.Contains(text, file+", command 2") || x.count(t, "file") != 1 {
				t.Errorf("the log tells what is in the file, or not where it is wrong:\n%s", text)
			}
		})
	}
	t.Run("that is not there", func(t *testing.T) {
		x := take(t)
		x.handle(t.Context(), lines("[1800000000] PROCESS_FILE;/nowhere/file"))
		if x.count(t, "file") != 1 || !strings.Contains(x.log.String(), "no such file") {
			t.Errorf("got\n%s", &x.log)
		}
	})
}

func TestCommandsForTheProgramItself(t *testing.T) {
	x := take(t)
	x.handle(t.Context(), lines("[1800000000] RESTART_PROGRAM\n[1800000000] LOG;hello; you"))
	if len(x.calls) != 1 || x.calls[0][0] != "reload" || !strings.Contains(x.log.String(), `text="hello; you"`) {
		t.Errorf("got %q\n%s", x.calls, &x.log)
	}
}

func TestTheCommandFileIsReadWhileTheProcessRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "commands")
	site := folder(t, shop)
	x := startAll(t, site, "-command-file", path)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	const flood = 10_000
	began := time.Now()
	var text strings.Builder
	for i := range flood {
		fmt.Fprintf(&text, "PROCESS_SERVICE_CHECK_RESULT;web01;door;%d;knock %d\n", i%3, i)
	}
	fmt.Fprintf(&text, "[%d] ADD_SVC_COMMENT;web01;door;1;ada;who is there\n", time.Now().Unix())
	if _, err := f.WriteString(text.String()); err != nil {
		t.Fatal(err)
	}
	x.until("/metrics", fmt.Sprintf("jaque_command_file_accepted_total %d", flood+1))
	t.Logf("%d commands took %v", flood, time.Since(began))
	x.until("/api/v1/services/web01/door", fmt.Sprintf("knock %d", flood-1))
	if err := os.WriteFile(site, []byte(shop+"hosts: web02: {address: \"192.0.2.8\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("RESTART_PROGRAM\n"); err != nil {
		t.Fatal(err)
	}
	x.until("/metrics", "jaque_engine_objects 6")
	if err := errors.Join(f.Close(), x.stop()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the pipe is still there: %v", err)
	}
}
