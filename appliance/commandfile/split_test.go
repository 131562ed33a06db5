package commandfile

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"pgregory.net/rapid"
)

// However a text is cut into chunks, the same lines come out of it.
func TestChunksDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([ab]{0,12}\n?){0,20}`).Draw(t, "text")
		const bound = 8
		var want []string
		wantLong := 0
		parts := strings.Split(text, "\n")
		for _, l := range parts[:len(parts)-1] {
			if len(l) > bound {
				wantLong++
			} else {
				want = append(want, l)
			}
		}
		rest := parts[len(parts)-1]
		if len(rest) > bound {
			wantLong, rest = wantLong+1, ""
		}

		s := splitter{max: bound}
		var got []string
		gotLong := 0
		for left := []byte(text); len(left) > 0; {
			n := rapid.IntRange(1, len(left)).Draw(t, "chunk")
			for _, l := range s.feed(bytes.Clone(left[:n]), func([]byte) { gotLong++ }) {
				got = append(got, string(l))
			}
			left = left[n:]
			if len(s.rest) > bound {
				t.Fatalf("%d bytes are held", len(s.rest))
			}
		}
		if !slices.Equal(got, want) || gotLong != wantLong || string(s.end()) != rest {
			t.Fatalf("got %q and %d long ones, want %q and %d", got, gotLong, want, wantLong)
		}
	})
}

func TestAfterTheEndALongLineIsForgotten(t *testing.T) {
	s := splitter{max: 4}
	var heads []string
	long := func(h []byte) { heads = append(heads, string(h)) }
	s.feed([]byte("ab"), long)
	s.feed([]byte("cdefgh"), long)
	if rest := s.end(); rest != nil {
		t.Errorf("%q is left", rest)
	}
	got := s.feed([]byte("ok\n"), long)
	if len(got) != 1 || string(got[0]) != "ok" || !slices.Equal(heads, []string{"abcdefgh"}) {
		t.Errorf("got %q, refused %q", got, heads)
	}
}

func TestRefusalsAreLoggedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log syncBuffer
		tally := NewTally(slog.New(slog.NewTextHandler(&log, nil)), prometheus.NewRegistry(), "parse")
		seen := 0
		lines := func() int { n := strings.Count(log.String(), "\n") - seen; seen += n; return n }
		for range 1000 {
			tally.Refuse("parse", []byte("x"), errors.New("bad"))
			tally.Refuse("surprise", []byte(strings.Repeat("y", 500)), errors.New("worse"))
		}
		if text := log.String(); !strings.Contains(text, "reason=other") || strings.Contains(text, strings.Repeat("y", excerpt+1)) {
			t.Errorf("got %s", text)
		}
		if n := lines(); n != 2 {
			t.Errorf("%d lines at first", n)
		}
		time.Sleep(61 * time.Second)
		synctest.Wait()
		if text := log.String(); !strings.Contains(text, "reason=parse commands=999") {
			t.Errorf("got %s", text)
		}
		if n := lines(); n != 2 {
			t.Errorf("%d lines after a minute", n)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		tally.Refuse("parse", []byte("x"), errors.New("bad"))
		if n := lines(); n != 1 {
			t.Errorf("%d lines after a quiet minute", n)
		}
		tally.Refuse("parse", []byte("x"), errors.New("bad"))
		tally.Close()
		if text := log.String(); !strings.Contains(text, "commands=1") {
			t.Errorf("the end does not tell the rest: %s", text)
		}
	})
}

func TestAFileOfCommandsIsReadLineByLine(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "file")
	text := "[1] A\n\n[2] B;\x00secret\n" + strings.Repeat("z", MaxLine+1) + "\n[3] C"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	big := filepath.Join(dir, "big")
	if err := os.WriteFile(big, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, MaxFile+1); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ path, fault string }{
		"a regular file":           {file, ""},
		"a pipe":                   {pipe, "no regular file"},
		"a folder":                 {dir, "no regular file"},
		"one that is too large":    {big, "split it into files"},
		"one that is not there":    {filepath.Join(dir, "none"), "no such file"},
		"an endless one":           {"/dev/zero", "no regular file"},
		"one in a missing folder":  {filepath.Join(dir, "a", "b"), "no such file"},
		"a name that cannot be":    {"a\x00b", "invalid argument"},
		"an empty name is no file": {"", "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			var got []string
			tally := NewTally(slog.New(slog.NewTextHandler(&log, nil)), prometheus.NewRegistry())
			err := ReadFile(t.Context(), c.path, tally, func(_ context.Context, lines [][]byte) [][]byte {
				for _, l := range lines {
					got = append(got, string(l))
				}
				return nil
			})
			if c.fault != "" {
				if err == nil || !strings.Contains(err.Error(), c.fault) || len(got) > 0 {
					t.Fatalf("got %v, want %q", err, c.fault)
				}
				return
			}
			if err != nil || !slices.Equal(got, []string{"[1] A", "[3] C"}) {
				t.Fatalf("got %q, %v", got, err)
			}
			if text := log.String(); strings.Contains(text, "secret") || strings.Count(text, "\n") != 2 {
				t.Errorf("the log tells what is in the file, or not that it was refused:\n%s", text)
			}
		})
	}
}
