package bus

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"
)

// told is a log that may be read while it is written.
type told struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *told) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *told) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// until waits until the log tells something.
func (l *told) until(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !strings.Contains(l.String(), text); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("the log does not tell %q:\n%s", text, l)
			return
		}
	}
}

func TestAStartWaitsForAServerThatRestoresForLong(t *testing.T) {
	log := &told{}
	o := Options{Data: t.TempDir(), Logger: slog.New(slog.NewTextHandler(log, nil)), news: time.Millisecond}
	o.started = func() { log.until(t, `what="restoring the log"`) }
	b, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(t.Context()); err != nil {
		t.Error(err)
	}
	// The time that the restoring takes is none of the time for the answers.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.answers = 3 * time.Second
	o.started = func() { <-time.After(o.answers + 10*time.Millisecond) }
	if b, err = Open(ctx, o); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAServerThatNeverAnswersEndsTheStartWithAdvice(t *testing.T) {
	o := Options{Data: t.TempDir(), answers: time.Nanosecond}
	_, err := Open(t.Context(), o)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "start again") || !strings.Contains(err.Error(), o.Data) {
		t.Errorf("got %v", err)
	}
	b, err := Open(t.Context(), Options{Data: o.Data}) // what it says is true
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
