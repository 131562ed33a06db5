package spawn

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// everyKernel runs a test with pidfds and as on a kernel without them.
func everyKernel(t *testing.T, test func(t *testing.T, s *Starter)) {
	t.Helper()
	for name, without := range map[string]bool{"with pidfd": false, "without pidfd": true} {
		t.Run(name, func(t *testing.T) {
			before := openFiles(t)
			s, err := New(Options{Env: []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}, noPidfd: without})
			if err != nil {
				t.Fatal(err)
			}
			test(t, s)
			s.Close()
			if after := openFiles(t); after > before {
				t.Errorf("%d files open after the starter closed, %d before", after, before)
			}
			if len(s.running) != 0 {
				t.Errorf("%d programs are still known", len(s.running))
			}
			noChildren(t)
		})
	}
}

// everyStarter is everyKernel for tests beside which others run: it does not
// count files and children.
func everyStarter(t *testing.T, test func(t *testing.T, s *Starter)) {
	t.Helper()
	for name, without := range map[string]bool{"with pidfd": false, "without pidfd": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := New(Options{Env: []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}, noPidfd: without})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			test(t, s)
		})
	}
}

// noChildren fails when a child was not reaped.
func noChildren(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); ; {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if err == syscall.ECHILD {
			return
		}
		if pid > 0 {
			t.Errorf("child %d was not reaped", pid)
		}
		if time.Now().After(end) {
			t.Fatal("children are still running")
		}
		<-time.After(time.Millisecond)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range all {
		// The runtime's own poller is made once and stays.
		if to, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil && !strings.HasPrefix(to, "anon_inode:[event") {
			n++
		}
	}
	return n
}

// script writes a shell script and returns its path.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plugin")
	// A start meanwhile would hold the file open for writing in its child, and
	// the script could not be executed.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func run(t *testing.T, s *Starter, timeout time.Duration, text string) Result {
	t.Helper()
	path := script(t, text)
	res, err := s.Run(t.Context(), &Request{Path: path, Args: []string{path}, Timeout: timeout})
	if err != nil {
		t.Fatalf("run %q: %v", text, err)
	}
	return res
}

// inGroup counts the processes of a process group.
func inGroup(t *testing.T, pgid int) int {
	t.Helper()
	n := 0
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stats {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it ended meanwhile
		}
		f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if f[2] == strconv.Itoa(pgid) && f[0] != "Z" {
			n++
		}
	}
	return n
}

// groupEnds waits until nothing of a group is left.
func groupEnds(t *testing.T, printed []byte) {
	t.Helper()
	pgid, err := strconv.Atoi(strings.TrimSpace(strings.SplitN(string(printed), "\n", 2)[0]))
	if err != nil {
		t.Fatalf("the plugin did not print its group: %q", printed)
	}
	for end := time.Now().Add(5 * time.Second); inGroup(t, pgid) > 0; {
		if time.Now().After(end) {
			t.Fatalf("%d processes of group %d are still running", inGroup(t, pgid), pgid)
		}
		<-time.After(2 * time.Millisecond)
	}
}

func TestAProgramEndsByItself(t *testing.T) {
	everyKernel(t, func(t *testing.T, s *Starter) {
		res := run(t, s, 20*time.Second, `echo out; echo err >&2; exit 3`)
		if string(res.Out) != "out\n" || string(res.Err) != "err\n" || res.Status.ExitStatus() != 3 {
			t.Errorf("got %q, %q, exit %d", res.Out, res.Err, res.Status.ExitStatus())
		}
		if res.TimedOut || res.Killed || res.OutCut || res.Took <= 0 || time.Since(res.Start) > time.Minute {
			t.Errorf("got %+v", res)
		}
		if res = run(t, s, 20*time.Second, `kill -9 $$`); !res.Status.Signaled() || res.Status.Signal() != syscall.SIGKILL {
			t.Errorf("killed by itself: got %+v", res)
		}
	})
}

func TestAProgramGetsACleanSurrounding(t *testing.T) {
	t.Setenv("JAQUE_SECRET", "hidden")
	everyKernel(t, func(t *testing.T, s *Starter) {
		path := script(t, `env | sort; pwd; cat; ls /proc/self/fd | tr "\n" " "`)
		res, err := s.Run(t.Context(), &Request{Path: path, Args: []string{path}, Env: []string{"EXTRA=a b"}, Timeout: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"EXTRA=a b\n", "LC_ALL=C\n", "PWD=/\n", "/\n0 1 2 3 "} {
			if !strings.Contains(string(res.Out), want) {
				t.Errorf("%q is missing in %q", want, res.Out)
			}
		}
		if strings.Contains(string(res.Out), "SECRET") {
			t.Errorf("our environment got in: %q", res.Out)
		}
	})
}

func TestTimeoutKillsTheWholeGroup(t *testing.T) {
	for name, text := range map[string]string{
		"a program that sleeps":                 `echo $$; exec sleep 60`,
		"a program that ignores SIGTERM":        `trap "" TERM INT HUP; echo $$; while :; do sleep 1; done`,
		"a program with children":               `echo $$; sleep 60 & sleep 61 & wait`,
		"a program that closes its output":      `echo $$; exec >&- 2>&-; sleep 60`,
		"a program that writes without end":     `echo $$; exec yes`,
		"a program that fills both of its ends": `echo $$; yes >&2 & exec yes`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyStarter(t, func(t *testing.T, s *Starter) {
				start := time.Now()
				res := run(t, s, 400*time.Millisecond, text)
				if took := time.Since(start); !res.TimedOut || took < 350*time.Millisecond || took > 5*time.Second {
					t.Errorf("timed out %v after %s", res.TimedOut, took)
				}
				groupEnds(t, res.Out)
			})
		})
	}
}

func TestALeftBehindChildDoesNotHoldTheCheck(t *testing.T) {
	everyStarter(t, func(t *testing.T, s *Starter) {
		start := time.Now()
		res := run(t, s, 60*time.Second, `echo $$; sleep 50 & exit 1`)
		if took := time.Since(start); took > 20*time.Second || res.TimedOut || res.Status.ExitStatus() != 1 {
			t.Errorf("took %s, got %+v", took, res)
		}
		groupEnds(t, res.Out)
	})
}

func TestAChildMayFinishTheOutput(t *testing.T) {
	everyKernel(t, func(t *testing.T, s *Starter) {
		res := run(t, s, 60*time.Second, `echo first; (sleep 0.02; echo second) & exit 0`)
		if string(res.Out) != "first\nsecond\n" {
			t.Errorf("got %q", res.Out)
		}
	})
}

func TestOutputIsKeptUpToTheLimit(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		cut  bool
		n    int
	}{
		"exactly the limit":     {`head -c 65536 /dev/zero`, false, Limit},
		"one byte more":         {`head -c 65537 /dev/zero`, true, Limit},
		"many times the limit":  {`head -c 8000000 /dev/zero`, true, Limit},
		"nothing at all":        {`:`, false, 0},
		"slowly, after a while": {`head -c 10 /dev/zero; sleep 0.1; head -c 10 /dev/zero`, false, 20},
	} {
		t.Run(name, func(t *testing.T) {
			everyKernel(t, func(t *testing.T, s *Starter) {
				res := run(t, s, 60*time.Second, c.text)
				if len(res.Out) != c.n || res.OutCut != c.cut || res.TimedOut || res.Status != 0 {
					t.Errorf("got %d bytes, cut %v, timed out %v, status %d", len(res.Out), res.OutCut, res.TimedOut, res.Status)
				}
			})
		})
	}
}

func TestAProgramThatCannotStartSaysWhy(t *testing.T) {
	everyKernel(t, func(t *testing.T, s *Starter) {
		plain := filepath.Join(t.TempDir(), "plain")
		if err := os.WriteFile(plain, []byte("no program"), 0o755); err != nil {
			t.Fatal(err)
		}
		closed := filepath.Join(t.TempDir(), "closed")
		if err := os.WriteFile(closed, []byte("#!/bin/sh\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]syscall.Errno{
			"/nonexistent/plugin": syscall.ENOENT, closed: syscall.EACCES, plain: syscall.ENOEXEC,
		} {
			res, err := s.Run(t.Context(), &Request{Path: path, Args: []string{path}, Timeout: time.Second})
			if err != nil || res.Errno != want {
				t.Errorf("%s: got %v, %v, want %v", path, res.Errno, err, want)
			}
		}
	})
}

func TestCancelKillsTheProgram(t *testing.T) {
	everyKernel(t, func(t *testing.T, s *Starter) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		file := filepath.Join(t.TempDir(), "group")
		path := script(t, `echo $$ > `+file+`.new; mv `+file+`.new `+file+`; sleep 60`)
		var group []byte
		go func() {
			defer cancel()
			group = waitFile(t, file)
		}()
		res, err := s.Run(ctx, &Request{Path: path, Args: []string{path}, Timeout: time.Minute})
		if err != nil || !res.Killed || res.Took > 30*time.Second {
			t.Errorf("got %+v, %v", res, err)
		}
		groupEnds(t, group)
	})
}

func TestCloseKillsWhatRuns(t *testing.T) {
	everyKernel(t, func(t *testing.T, s *Starter) {
		file := filepath.Join(t.TempDir(), "group")
		path := script(t, `echo $$ > `+file+`.new; mv `+file+`.new `+file+`; sleep 60`)
		ended := make(chan error, 1)
		go func() {
			_, err := s.Run(context.Background(), &Request{Path: path, Args: []string{path}, Timeout: time.Minute})
			ended <- err
		}()
		group := waitFile(t, file)
		s.Close()
		if err := <-ended; !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
		if _, err := s.Run(t.Context(), &Request{Path: "/bin/true", Timeout: time.Second}); !errors.Is(err, ErrClosed) {
			t.Errorf("after the end: got %v", err)
		}
		groupEnds(t, group)
	})
}

func waitFile(t *testing.T, name string) []byte {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		<-time.After(2 * time.Millisecond)
		if b, err := os.ReadFile(name); err == nil {
			return b
		}
	}
	t.Errorf("%s did not appear", name)
	return nil
}

func TestManyProgramsAtOnce(t *testing.T) {
	everyKernel(t, func(t *testing.T, s *Starter) {
		path := script(t, `echo "$1"; exit $(($1 % 4))`)
		var wg sync.WaitGroup
		for i := range 150 {
			wg.Go(func() {
				word := strconv.Itoa(i)
				res, err := s.Run(t.Context(), &Request{Path: path, Args: []string{path, word}, Timeout: time.Minute})
				if err != nil || string(res.Out) != word+"\n" || res.Status.ExitStatus() != i%4 {
					t.Errorf("program %d: %q, %d, %v", i, res.Out, res.Status.ExitStatus(), err)
				}
			})
		}
		wg.Wait()
	})
}
