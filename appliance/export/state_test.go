package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// numbered encodes how often it was called.
func numbered(fail *atomic.Bool) func(io.Writer) error {
	n := 0
	return func(w io.Writer) error {
		n++
		_, _ = fmt.Fprintf(w, `{"n":%d}`, n)
		if fail.Load() {
			return errors.New("no memory")
		}
		return nil
	}
}

// lockedBuffer takes the log of one goroutine while another reads it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestTheStateIsWrittenAtTheStartOnTheTimerAndAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fail atomic.Bool
		dir := t.TempDir()
		path := filepath.Join(dir, "state.json")
		s := NewState(StateOptions{Path: path, Every: time.Minute, Encode: numbered(&fail), Logger: quiet()})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Run(ctx, func() {}) }()
		for _, want := range []string{`{"n":1}`, `{"n":2}`} {
			synctest.Wait()
			if got := content(t, path); got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
			time.Sleep(time.Minute)
		}
		synctest.Wait()
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if got := content(t, path); got != `{"n":4}` {
			t.Fatalf("at the end: %s", got)
		}
		if left, _ := os.ReadDir(dir); len(left) != 1 {
			t.Fatalf("files are left behind: %v", left)
		}
	})
}

func TestAFailedWriteKeepsTheOldStateAndIsReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fail atomic.Bool
		dir := t.TempDir()
		path := filepath.Join(dir, "state.json")
		var logged lockedBuffer
		s := NewState(StateOptions{Path: path, Encode: numbered(&fail), Logger: slog.New(slog.NewTextHandler(&logged, nil))})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Run(ctx, func() {}) }()
		synctest.Wait()
		fail.Store(true)
		time.Sleep(3 * DefaultStateEvery)
		synctest.Wait()
		if got := content(t, path); got != `{"n":1}` {
			t.Fatalf("the old state is gone: %s", got)
		}
		if n := strings.Count(logged.String(), "level=ERROR"); n != 1 {
			t.Fatalf("%d errors logged, want 1:\n%s", n, logged.String())
		}
		fail.Store(false)
		time.Sleep(DefaultStateEvery)
		synctest.Wait()
		if !strings.Contains(logged.String(), "written again") {
			t.Fatalf("no line about the end of the trouble:\n%s", logged.String())
		}
		fail.Store(true)
		cancel()
		if err := <-done; err == nil {
			t.Fatal("a failure of the last write is not returned")
		}
		if left, _ := os.ReadDir(dir); len(left) != 1 {
			t.Fatalf("files are left behind: %v", left)
		}
	})
}

func TestAWrongPathFailsTheStart(t *testing.T) {
	var fail atomic.Bool
	path := filepath.Join(t.TempDir(), "none", "state.json")
	err := NewState(StateOptions{Path: path, Encode: numbered(&fail), Logger: quiet()}).Run(t.Context(), func() {})
	if err == nil || !strings.HasPrefix(err.Error(), "write the file of -snapshot-out: open ") {
		t.Fatalf("got %v", err)
	}
}

func TestTheFileOfAnEarlierRunStaysUntilTheStateIsUsable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fail, usable atomic.Bool
		path := filepath.Join(t.TempDir(), "state.json")
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		run := func() (stop func() error) {
			s := NewState(StateOptions{Path: path, Encode: numbered(&fail), Logger: quiet(), Usable: usable.Load})
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() { done <- s.Run(ctx, func() {}) }()
			time.Sleep(10 * time.Second)
			synctest.Wait()
			return func() error { cancel(); return <-done }
		}
		if err := run()(); err != nil || content(t, path) != "old" {
			t.Fatalf("stopped before it was usable: %v, %s", err, content(t, path))
		}
		stop := run()
		usable.Store(true)
		time.Sleep(2 * firstLook)
		synctest.Wait()
		if got := content(t, path); got != `{"n":1}` {
			t.Fatalf("usable, but not written: %s", got)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	})
}
