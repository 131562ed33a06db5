package commandfile

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// reading is a pipe that is being read.
type reading struct {
	t      *testing.T
	path   string
	pipe   *Pipe
	reg    *prometheus.Registry
	log    *syncBuffer
	lines  chan string   // what was handed on
	gate   chan struct{} // nil = the handler does not wait
	cancel context.CancelFunc
	done   chan error
}

// syncBuffer is a log that may be read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// start opens and reads a pipe; change may alter it before that.
func start(t *testing.T, path string, change func(*reading, *Options)) *reading {
	t.Helper()
	r := &reading{
		t: t, path: path, reg: prometheus.NewRegistry(), log: &syncBuffer{},
		lines: make(chan string, 100_000), done: make(chan error, 1),
	}
	logger := slog.New(slog.NewTextHandler(r.log, nil))
	o := Options{Path: path, Tally: NewTally(logger, r.reg), Logger: logger, Registerer: r.reg}
	o.Handle = func(ctx context.Context, lines [][]byte) [][]byte {
		for i, l := range lines {
			if r.gate != nil {
				select {
				case <-r.gate:
				case <-ctx.Done():
					return lines[i:]
				}
			}
			r.lines <- string(l)
		}
		return nil
	}
	if change != nil {
		change(r, &o)
	}
	var err error
	if r.pipe, err = Open(o); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r.cancel = cancel
	go func() { r.done <- r.pipe.Run(ctx, func() {}) }()
	t.Cleanup(cancel)
	return r
}

func (r *reading) stop() {
	r.t.Helper()
	r.cancel()
	select {
	case err := <-r.done:
		if err != nil {
			r.t.Fatalf("stop: %v", err)
		}
	case <-time.After(20 * time.Second):
		r.t.Fatal("it did not stop")
	}
}

// want waits for the next lines.
func (r *reading) want(lines ...string) {
	r.t.Helper()
	for _, want := range lines {
		select {
		case got := <-r.lines:
			if got != want {
				r.t.Fatalf("got line %.80q, want %.80q", got, want)
			}
		case <-time.After(20 * time.Second):
			r.t.Fatalf("line %.80q did not come; log:\n%s", want, r.log)
		}
	}
}

// metric returns the value of a counter, of all its labels together.
func (r *reading) metric(name string) (sum float64) {
	r.t.Helper()
	families, err := r.reg.Gather()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return sum
}

// until waits for a counter.
func (r *reading) until(name string, want float64) {
	r.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for r.metric(name) != want {
		if time.Now().After(deadline) {
			r.t.Fatalf("%s is %g, want %g; log:\n%s", name, r.metric(name), want, r.log)
		}
		time.Sleep(time.Millisecond) // poll: the reader works in its own time
	}
}

func (r *reading) writer() *os.File {
	r.t.Helper()
	f, err := os.OpenFile(r.path, os.O_WRONLY, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = f.Close() })
	return f
}

func write(t *testing.T, f *os.File, text string) {
	t.Helper()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func closed(t *testing.T, f *os.File) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func pathOf(t *testing.T) string { return filepath.Join(t.TempDir(), "commands") }

func TestAPipeIsMadeForOwnerAndGroupAndRemovedAtTheStop(t *testing.T) {
	old := syscall.Umask(0o077)
	r := start(t, pathOf(t), nil)
	syscall.Umask(old)
	info, err := os.Stat(r.path)
	if err != nil || info.Mode() != fs.ModeNamedPipe|0o660 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	w := r.writer()
	write(t, w, "[1] A;b\n  [2] C;d \t\r\n\n")
	r.want("[1] A;b", "[2] C;d")
	r.stop()
	if _, err := os.Lstat(r.path); !os.IsNotExist(err) {
		t.Fatalf("it is still there: %v", err)
	}
}

func TestAPipeThatIsThereIsTakenAsItIsAndStays(t *testing.T) {
	path := pathOf(t)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, path, nil)
	w := r.writer()
	write(t, w, "[1] A\n")
	r.want("[1] A")
	r.stop()
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != fs.ModeNamedPipe|0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
}

func TestAPathThatCannotBeAPipeIsRefusedWithAWayOut(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	used := start(t, filepath.Join(dir, "used"), nil)
	for name, c := range map[string]struct{ path, want string }{
		"a regular file":              {file, "is a regular file, no named pipe; move it away, or name another path with -command-file"},
		"a folder":                    {dir, "is a folder, no named pipe"},
		"a device":                    {os.DevNull, "is a device, no named pipe"},
		"a folder that is not there":  {filepath.Join(dir, "no", "where"), "create the folder"},
		"a file in place of a folder": {filepath.Join(file, "x"), "-command-file"},
		"a pipe that is read already": {used.path, "another process reads it"},
	} {
		t.Run(name, func(t *testing.T) {
			log := slog.New(slog.DiscardHandler)
			_, err := Open(Options{Path: c.path, Logger: log, Registerer: prometheus.NewRegistry()})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.path) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestAPipeThatNeverRanIsRemoved(t *testing.T) {
	path, log := pathOf(t), slog.New(slog.DiscardHandler)
	p, err := Open(Options{Path: path, Logger: log, Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Fatalf("it is still there: %v", err)
	}
}

func TestLinesOfManyWritersComeWhole(t *testing.T) {
	r := start(t, pathOf(t), nil)
	const writers, each = 8, 500
	var all sync.WaitGroup
	for w := range writers {
		f := r.writer()
		all.Go(func() {
			for i := range each {
				_, _ = fmt.Fprintf(f, "[1] W%d;%d;%s\n", w, i, strings.Repeat("x", i*7%3000))
			}
			_ = f.Close()
		})
	}
	next := make([]int, writers)
	for range writers * each {
		var w, i int
		var text string
		line := <-r.lines
		if _, err := fmt.Sscanf(strings.NewReplacer(";", " ").Replace(line)+" .", "[1] W%d %d %s", &w, &i, &text); err != nil {
			t.Fatalf("%v in %.80q", err, line)
		}
		if i != next[w] || len(strings.TrimSuffix(text, ".")) != i*7%3000 {
			t.Fatalf("writer %d: line %d of %d bytes came, line %d was next", w, i, len(text), next[w])
		}
		next[w]++
	}
	all.Wait()
	r.stop()
	if got := r.metric("jaque_command_file_lines_total"); got != writers*each {
		t.Errorf("%g lines were counted", got)
	}
}

func TestTenThousandLinesInOneWriteComeInOrder(t *testing.T) {
	r := start(t, pathOf(t), nil)
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "[1700000000] PROCESS_SERVICE_CHECK_RESULT;h;s;0;line %d\n", i)
	}
	f := r.writer()
	go func() { _, _ = f.WriteString(text.String()); _ = f.Close() }()
	for i := range 10_000 {
		r.want(fmt.Sprintf("[1700000000] PROCESS_SERVICE_CHECK_RESULT;h;s;0;line %d", i))
	}
	if got := r.metric("jaque_command_file_read_bytes_total"); got != float64(text.Len()) {
		t.Errorf("%g bytes were counted, %d written", got, text.Len())
	}
	if r.metric("jaque_command_file_last_line_timestamp_seconds") == 0 {
		t.Error("the time of the newest line is not told")
	}
}

func TestAWriterThatDiesInsideALineTakesOnlyThatLine(t *testing.T) {
	r := start(t, pathOf(t), nil)
	f := r.writer()
	write(t, f, "[1] WHOLE\n[2] DISABLE_HOST_CHECK;web0")
	closed(t, f)
	r.want("[1] WHOLE")
	r.until("jaque_command_file_partial_lines_total", 1)
	f = r.writer()
	write(t, f, "[3] NEXT\n")
	r.want("[3] NEXT")
	r.stop()
	if !strings.Contains(r.log.String(), "web0") {
		t.Errorf("the log does not show the line:\n%s", r.log)
	}
}

func TestALineMayComeInPieces(t *testing.T) {
	r := start(t, pathOf(t), nil)
	f := r.writer()
	other := r.writer()
	for _, piece := range []string{"[1] A", ";b", ";c", "\n[2] D\n"} {
		write(t, f, piece)
	}
	closed(t, other) // one writer that leaves is not all of them
	r.want("[1] A;b;c", "[2] D")
	if got := r.metric("jaque_command_file_partial_lines_total"); got != 0 {
		t.Errorf("%g partial lines", got)
	}
}

func TestWhatCanBeNoCommandIsRefusedAndCounted(t *testing.T) {
	r := start(t, pathOf(t), nil)
	f := r.writer()
	go func() {
		_, _ = f.WriteString("[1] LONG;" + strings.Repeat("x", 1<<20) + "\n[2] NUL;a\x00b\n[3] FITS;" + strings.Repeat("y", MaxLine-9) + "\n[4] GOOD\n")
	}()
	r.want("[3] FITS;"+strings.Repeat("y", MaxLine-9), "[4] GOOD")
	if got := r.metric("jaque_command_file_refused_total"); got != 2 {
		t.Errorf("%g refused", got)
	}
	for _, want := range []string{"reason=too-long", "[1] LONG;", "reason=nul", "NUL byte"} {
		if !strings.Contains(r.log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, r.log)
		}
	}
	if n := len(r.pipe.split.rest) + cap(r.pipe.split.joined); n > 3*MaxLine {
		t.Errorf("%d bytes are held", n)
	}
}

// Each attempt to read is counted: a reader that spins makes thousands while the
// writers here come and go, one that sleeps makes a few for each of them.
func TestAnIdlePipeSleeps(t *testing.T) {
	r := start(t, pathOf(t), nil)
	const rounds = 200
	for i := range rounds {
		f := r.writer()
		if i%2 == 0 { // every other writer leaves without a word
			write(t, f, "[1] A\n")
			r.want("[1] A")
		}
		closed(t, f)
	}
	last := r.writer() // one that stays and is silent
	write(t, last, "[1] Z\n")
	r.want("[1] Z")
	if got := r.pipe.fifo.wakes.Load(); got > 6*rounds {
		t.Errorf("%d attempts to read for %d writers", got, rounds)
	}
	t.Logf("%d attempts to read for %d writers", r.pipe.fifo.wakes.Load(), rounds)
}

func TestWhileTheHandlerIsBusyWritersWaitAndNothingIsLost(t *testing.T) {
	r := start(t, pathOf(t), func(r *reading, _ *Options) { r.gate = make(chan struct{}) })
	f, err := os.OpenFile(r.path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	raw, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	line := []byte("[1] " + strings.Repeat("x", 1000) + "\n")
	written := 0
	if err := raw.Write(func(fd uintptr) bool {
		for full := 0; full < 3; written++ { // full, three times in a row: nobody reads
			n, err := syscall.Write(int(fd), line)
			if err == syscall.EAGAIN {
				full++
				written--
				time.Sleep(10 * time.Millisecond) // the reader may be about to take what is there
			} else if err != nil || n != len(line) {
				t.Errorf("write: %d, %v", n, err)
				return true
			} else {
				full = 0
			}
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if written > 300 {
		t.Fatalf("%d lines were taken while the handler waits", written)
	}
	close(r.gate)
	for range written {
		r.want(strings.TrimSuffix(string(line), "\n"))
	}
	t.Logf("%d lines waited", written)
}

func TestAStopCarriesOutWhatIsInThePipe(t *testing.T) {
	r := start(t, pathOf(t), func(r *reading, _ *Options) { r.gate = make(chan struct{}) })
	f := r.writer()
	write(t, f, "[1] FIRST\n") // the handler is now busy with it
	r.until("jaque_command_file_lines_total", 1)
	write(t, f, "[2] SECOND\n[3] THIRD\n[4] CUT OF")
	r.cancel()
	close(r.gate)
	r.want("[1] FIRST", "[2] SECOND", "[3] THIRD")
	r.stop()
	if got := r.metric("jaque_command_file_partial_lines_total"); got != 1 {
		t.Errorf("%g partial lines", got)
	}
}

func TestAPipeThatWasTakenAwayIsMadeAgain(t *testing.T) {
	for name, at := range map[string]func(path string) error{
		"nothing is there":      func(string) error { return nil },
		"another pipe is there": func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, pathOf(t), func(_ *reading, o *Options) { o.Look = 5 * time.Millisecond })
			if err := os.Rename(r.path, r.path+".old"); err != nil {
				t.Fatal(err)
			}
			if err := at(r.path); err != nil {
				t.Fatal(err)
			}
			r.until("jaque_command_file_replaced_total", 1)
			for r.pipe.fifo.path != "" { // until the new one can be opened
				if info, err := os.Stat(r.path); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
					break
				}
			}
			f := r.writer()
			write(t, f, "[1] AGAIN\n")
			r.want("[1] AGAIN")
			r.stop()
		})
	}
	t.Run("a file in its place is not touched, and the process goes on", func(t *testing.T) {
		r := start(t, pathOf(t), func(_ *reading, o *Options) { o.Look = 5 * time.Millisecond })
		f := r.writer()
		if err := os.Rename(r.path, r.path+".old"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(r.path, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		write(t, f, "[1] OLD\n")
		r.want("[1] OLD")
		r.stop()
		if data, err := os.ReadFile(r.path); err != nil || string(data) != "mine" {
			t.Errorf("got %q, %v", data, err)
		}
	})
}
