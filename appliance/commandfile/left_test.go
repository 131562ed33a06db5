package commandfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// hurried closes the gate, so that nothing is carried out, and lets a stop wait
// only a moment.
func hurried(r *reading, o *Options) { r.gate, o.Drain = make(chan struct{}), 20*time.Millisecond }

func TestAStopWaitsOnlySoLongAndKeepsTheRestForTheNextStart(t *testing.T) {
	path := pathOf(t)
	r := start(t, path, hurried)
	f := r.writer()
	write(t, f, "[1] FIRST\n")
	r.until("jaque_command_file_lines_total", 1)
	write(t, f, "[2] SECOND\n\n[3] THIRD\n[4] CUT OF")
	r.stop()
	text, err := os.ReadFile(leftOf(path))
	if err != nil || string(text) != "[1] FIRST\n[2] SECOND\n[3] THIRD\n" {
		t.Fatalf("left %q, %v", text, err)
	}
	if info, err := os.Stat(leftOf(path)); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if !strings.Contains(r.log.String(), "commands=3") || r.metric("jaque_command_file_left_total") != 3 || r.metric("jaque_command_file_refused_total") != 0 {
		t.Errorf("the log does not tell how many are left:\n%s", r.log)
	}
	// A second stop that comes as soon keeps them, and what came meanwhile.
	r = start(t, path, hurried)
	write(t, r.writer(), "[5] FIFTH\n")
	r.stop()
	if text, err = os.ReadFile(leftOf(path)); err != nil || string(text) != "[1] FIRST\n[2] SECOND\n[3] THIRD\n[5] FIFTH\n" {
		t.Fatalf("left %q, %v", text, err)
	}
	r = start(t, path, nil)
	write(t, r.writer(), "[6] SIXTH\n")
	r.want("[1] FIRST", "[2] SECOND", "[3] THIRD", "[5] FIFTH", "[6] SIXTH")
	r.stop()
	if _, err := os.Stat(leftOf(path)); !os.IsNotExist(err) {
		t.Errorf("the file of what was left is still there: %v", err)
	}
}

func TestWhatCannotBeKeptIsCounted(t *testing.T) {
	path := pathOf(t)
	r := start(t, path, hurried)
	write(t, r.writer(), "[1] FIRST\n[2] SECOND\n")
	r.until("jaque_command_file_lines_total", 2)
	if err := os.MkdirAll(filepath.Join(leftOf(path), "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.stop()
	if n := r.metric("jaque_command_file_refused_total"); n != 2 || !strings.Contains(r.log.String(), "they are lost") || !strings.Contains(r.log.String(), "commands=2") {
		t.Errorf("%g refused; log:\n%s", n, r.log)
	}
	if all, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".left-*")); len(all) > 0 {
		t.Errorf("%q are left behind", all)
	}
}

func TestAFileThatOthersMayWriteIsNotCarriedOut(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"others may write it": func(path string) error {
			return errors.Join(os.WriteFile(path, []byte("[1] X\n"), 0o600), os.Chmod(path, 0o622))
		},
		"it leads elsewhere": func(path string) error {
			return errors.Join(os.WriteFile(path+".x", []byte("[1] X\n"), 0o600), os.Symlink(path+".x", path))
		},
		"it is a pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			path := pathOf(t)
			if err := make(leftOf(path)); err != nil {
				t.Fatal(err)
			}
			r := start(t, path, nil)
			write(t, r.writer(), "[2] Y\n")
			r.want("[2] Y")
			r.stop()
			if !strings.Contains(r.log.String(), "stays where it is") {
				t.Errorf("log:\n%s", r.log)
			}
			if _, err := os.Lstat(leftOf(path)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAPipeThatIsNeverReadKeepsWhatWasWritten(t *testing.T) {
	path := pathOf(t)
	r := start(t, path, nil)
	r.stop() // only to have options
	o := r.pipe.opt
	f, err := openFIFO(path)
	if err != nil {
		t.Fatal(err)
	}
	p := &Pipe{opt: o, fifo: f, buf: r.pipe.buf, split: splitter{max: MaxLine}, metrics: r.pipe.metrics}
	write(t, r.writer(), "[1] EARLY\n")
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(leftOf(path)); err != nil || string(text) != "[1] EARLY\n" {
		t.Errorf("left %q, %v", text, err)
	}
}

// Writers that never stop are stopped by an error, and each line of which the
// system said that it was written is carried out or kept.
func TestAStopInAFloodLosesNothing(t *testing.T) {
	for round := range 20 {
		path := pathOf(t)
		r := start(t, path, func(_ *reading, o *Options) { o.Drain = time.Millisecond })
		const writers = 3
		var written [writers]atomic.Int64
		ended := make(chan error, writers)
		for w := range writers {
			f := r.writer()
			go func() {
				for i := 0; ; i++ {
					// One write for each line: the system takes it whole or not at all.
					if _, err := f.WriteString(fmt.Sprintf("[%d] %d\n", w, i)); err != nil {
						ended <- err
						return
					}
					written[w].Add(1)
				}
			}()
		}
		time.Sleep(time.Duration(round) * time.Millisecond / 4) // at another moment each time
		r.stop()
		for range writers {
			if err := <-ended; !errors.Is(err, syscall.EPIPE) {
				t.Fatalf("a writer ended with %v", err)
			}
		}
		close(r.lines)
		var all []string
		for l := range r.lines {
			all = append(all, l)
		}
		done := len(all)
		if text, err := os.ReadFile(leftOf(path)); err == nil {
			all = append(all, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")...)
		}
		var next [writers]int64
		for _, l := range all {
			var w int
			var i int64
			if _, err := fmt.Sscanf(l, "[%d] %d", &w, &i); err != nil || i != next[w] {
				t.Fatalf("line %q, want number %d of its writer", l, next[w])
			}
			next[w]++
		}
		for w := range writers {
			if n := written[w].Load(); n != next[w] {
				t.Errorf("round %d: writer %d wrote %d lines, %d are there", round, w, n, next[w])
			}
		}
		t.Logf("%d lines, %d carried out", len(all), done)
	}
}
