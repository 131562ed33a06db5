package bus

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// wantFailure waits until the bus ends by itself.
func wantFailure(t *testing.T, b *Bus) error {
	t.Helper()
	select {
	case <-b.Failed():
	case <-time.After(10 * time.Second):
		t.Fatal("the bus lives on after 10 s")
	}
	return b.Run(t.Context(), func() {})
}

func TestAFolderThatVanishesEndsTheBus(t *testing.T) {
	t.Parallel()
	replace := func(name string) func(string) error {
		return func(data string) error {
			path := filepath.Join(data, name)
			if err := os.Rename(path, path+".old"); err != nil {
				return err
			}
			return os.CopyFS(path, os.DirFS(path+".old"))
		}
	}
	cases := []struct {
		name string
		do   func(data string) error
	}{
		{"the data folder is removed", os.RemoveAll},
		{"the data folder is moved away", func(data string) error { return os.Rename(data, data+".moved") }},
		{"the data folder is replaced by a copy", replace("")},
		{"the lock is removed", func(data string) error { return os.Remove(filepath.Join(data, "lock")) }},
		{"the server's store is replaced by a copy", replace(storeFolder)},
		{"a stream is removed", func(data string) error {
			return os.RemoveAll(filepath.Join(data, storeFolder, "$G", "streams", "JAQUE_RESULTS"))
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			b := open(t, Options{Data: data})
			if err := c.do(data); err != nil {
				t.Fatal(err)
			}
			if err := wantFailure(t, b); !errors.Is(err, ErrGone) || !strings.Contains(err.Error(), data) {
				t.Errorf("run = %v, want ErrGone and the folder's name", err)
			}
		})
	}
}

func TestComplaintsAreJudged(t *testing.T) {
	full := &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	cases := []struct {
		name  string
		line  string
		probe error
		want  string // "" = goes on
	}{
		{"a complaint about something else", "slow consumer", nil, ""},
		{"a disk that is full", "anything", full, "disk is full"},
		{"a disk that was full a moment ago", "Critical write error: write 1.blk: no space left on device", nil, "disk is full"},
		{"a disk that became read-only", "anything", syscall.EROFS, "cannot be written any more"},
		{"a stream that gave up", "JetStream failed to store a msg on stream '$G > JAQUE_LOG': short write", nil, "must be started again"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := &watch{data: "/data", probe: func(string) error { return c.probe }}
			err := w.judge(c.line)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("judged %v, want %q", err, c.want)
			}
			if strings.HasPrefix(c.want, "disk") != errors.Is(err, ErrFull) {
				t.Errorf("%v is ErrFull: %v", err, errors.Is(err, ErrFull))
			}
		})
	}
}
