package spawn

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// victimVariable makes the test binary start a program and wait; see
// TestProgramsEndWithTheProcess.
const victimVariable = "JAQUE_SPAWN_VICTIM"

func TestMain(m *testing.M) {
	path := os.Getenv(victimVariable)
	if path == "" {
		os.Exit(m.Run())
	}
	s, err := New(Options{Env: []string{"PATH=/usr/bin:/bin"}})
	if err != nil {
		panic(err)
	}
	_, _ = s.Run(context.Background(), &Request{Path: path, Args: []string{path}, Timeout: time.Minute})
}

func TestProgramsEndWithTheProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "group")
	path := script(t, `echo $$ > `+file+`.new; mv `+file+`.new `+file+`; exec sleep 60`)
	victim := exec.Command(os.Args[0])
	victim.Env = append(os.Environ(), victimVariable+"="+path)
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	group := waitFile(t, file)
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = victim.Wait() // it says that it was killed
	groupEnds(t, group)
}

func TestAnEndedContextStartsAndKills(t *testing.T) {
	everyKernel(t, func(t *testing.T, s *Starter) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		res, err := s.Run(ctx, &Request{Path: "/bin/sleep", Args: []string{"sleep", "60"}, Timeout: time.Minute})
		if err != nil || !res.Killed || res.TimedOut || res.Status.Signal() != syscall.SIGKILL {
			t.Errorf("got %+v, %v", res, err)
		}
	})
}

func TestStoppingEndsTheWaitForLeftBehindChildren(t *testing.T) {
	everyKernel(t, func(t *testing.T, s *Starter) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		file := filepath.Join(t.TempDir(), "group")
		// The child says when its parent is gone and then holds the pipes.
		path := script(t, `echo $$; (while kill -0 $$ && ! grep -q "^State:.Z" /proc/$$/status; do :; done; echo $$ > `+file+`.new; mv `+file+`.new `+file+`; sleep 60) & exit 0`)
		go func() {
			defer cancel()
			waitFile(t, file)
		}()
		res, err := s.Run(ctx, &Request{Path: path, Args: []string{path}, Timeout: time.Minute})
		if err != nil || res.TimedOut || res.Status.ExitStatus() != 0 {
			t.Errorf("got %+v, %v", res, err)
		}
		groupEnds(t, res.Out)
	})
}

func TestLongRunnersAreNotHeldByAFullPipe(t *testing.T) {
	everyStarter(t, func(t *testing.T, s *Starter) {
		res := run(t, s, 30*time.Second, `sleep 0.3; head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; echo end >&2`)
		if !res.OutCut || !res.ErrCut || res.TimedOut || res.Status != 0 || res.Took > 20*time.Second {
			t.Errorf("cut %v and %v, timed out %v, status %d, took %s", res.OutCut, res.ErrCut, res.TimedOut, res.Status, res.Took)
		}
	})
}

func TestACloseWhileManyRun(t *testing.T) {
	everyKernel(t, func(t *testing.T, s *Starter) {
		const n = 20
		ended := make(chan error, n)
		for range n {
			go func() {
				_, err := s.Run(context.Background(), &Request{Path: "/bin/sleep", Args: []string{"sleep", "60"}, Timeout: time.Minute})
				ended <- err
			}()
		}
		s.Close()
		for range n {
			if err := <-ended; !errors.Is(err, ErrClosed) {
				t.Errorf("got %v, want %v", err, ErrClosed)
			}
		}
		s.Close() // once more does nothing
	})
}

func TestNoFileIsLeftWhenTheLimitIsReached(t *testing.T) {
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	before := openFiles(t)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	seen := map[syscall.Errno]bool{}
	for room := range uint64(9) {
		low := old
		low.Cur = highestFile(t) + 1 + room
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
			t.Fatal(err)
		}
		res, err := s.Run(t.Context(), &Request{Path: "/bin/true", Args: []string{"true"}, Timeout: 20 * time.Second})
		if back := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old); back != nil {
			t.Fatal(back)
		}
		if err != nil {
			t.Errorf("room for %d: %v", room, err)
		}
		seen[res.Errno] = true
	}
	if !seen[syscall.EMFILE] || !seen[0] || len(seen) != 2 {
		t.Errorf("got %v, want both a failure and a start", seen)
	}
	if after := openFiles(t); after > before {
		t.Errorf("%d files open, %d before", after, before)
	}
	noChildren(t)
}

// highestFile is the highest number of an open file.
func highestFile(t *testing.T) uint64 {
	t.Helper()
	fd, err := syscall.Open("/dev/null", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(fd) }()
	return uint64(fd) - 1
}

func TestAPipeIsDrained(t *testing.T) {
	ends, e := sysPipe()
	if e != 0 {
		t.Fatal(e)
	}
	p := pipe{fd: int(ends[0])}
	scratch := make([]byte, 16)
	if p.drain(scratch) {
		t.Error("an empty pipe gave something")
	}
	text := bytes.Repeat([]byte("0123456789"), 20)
	if _, err := syscall.Write(int(ends[1]), text); err != nil {
		t.Fatal(err)
	}
	if !p.drain(scratch) || len(p.buf) != 8*len(scratch) {
		t.Errorf("one turn took %d bytes, want eight times %d", len(p.buf), len(scratch))
	}
	for p.drain(scratch) {
	}
	if !bytes.Equal(p.buf, text) || p.cut || p.fd < 0 {
		t.Errorf("got %q, cut %v, fd %d", p.buf, p.cut, p.fd)
	}
	if err := syscall.Close(int(ends[1])); err != nil {
		t.Fatal(err)
	}
	if p.drain(scratch) || p.fd != -1 || p.drain(scratch) {
		t.Errorf("at the end: fd %d", p.fd)
	}
}

func TestEnvironmentsMerge(t *testing.T) {
	for _, c := range []struct {
		name              string
		base, extra, want string
	}{
		{"nothing more", "A=1 B=2", "", "A=1 B=2"},
		{"another name", "A=1", "B=2", "A=1 B=2"},
		{"a name replaces its former value", "A=1 B=2", "A=3", "B=2 A=3"},
		{"a name that begins like another", "AB=1", "A=3", "AB=1 A=3"},
		{"a value with equals signs", "A=x=y", "A=z=w", "A=z=w"},
		{"an empty value", "A=1", "A=", "A="},
	} {
		got := mergeEnv(strings.Fields(c.base), strings.Fields(c.extra))
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestMergedEnvironmentsHoldEveryNameOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pairs := rapid.SliceOfNDistinct(rapid.StringMatching(`[A-C]{1,2}=[0-9]`), 0, 6, envName)
		base, extra := pairs.Draw(t, "base"), pairs.Draw(t, "extra")
		kept := slices.Clone(base)
		got := mergeEnv(base, extra)
		seen := map[string]string{}
		for _, kv := range got {
			if old, twice := seen[envName(kv)]; twice {
				t.Fatalf("%s and %s in %q", old, kv, got)
			}
			seen[envName(kv)] = kv
		}
		for _, kv := range extra {
			if seen[envName(kv)] != kv {
				t.Fatalf("%s of extra is not in %q", kv, got)
			}
		}
		for _, kv := range base {
			if seen[envName(kv)] == "" {
				t.Fatalf("%s of base is not in %q", kv, got)
			}
		}
		if !slices.Equal(base, kept) {
			t.Fatalf("base was changed to %q", base)
		}
	})
}

func TestErrorsWithoutANumber(t *testing.T) {
	if got := errno(errors.New("other")); got != syscall.EINVAL {
		t.Errorf("got %v", got)
	}
	if a, b := time.Unix(1, 0), time.Unix(2, 0); earlier(a, b) != a || earlier(b, a) != a {
		t.Error("the later of two times was taken")
	}
}
