package bus

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fillDisk makes the server's next writes to a file fail with "no space left on
// device": its descriptor is exchanged for one of /dev/full.
func fillDisk(t *testing.T, path string) {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range fds {
		if to, err := os.Readlink(filepath.Join("/proc/self/fd", d.Name())); err != nil || to != path {
			continue
		}
		fd, err := strconv.Atoi(d.Name())
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Dup3(int(full.Fd()), fd, syscall.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("%s is not open", path)
}

// publishOn publishes until the bus ends.
func publishOn(b *Bus, subject string) {
	for b.Err() == nil {
		if b.Conn().Publish(subject, []byte("y")) != nil {
			return
		}
		time.Sleep(20 * time.Millisecond) // a load, not a wait
	}
}

// The server goes on after a full disk and refuses everything in silence; the
// bus ends instead, nothing is acknowledged, and a restart has all that was.
func TestAFullDiskEndsTheBus(t *testing.T) {
	t.Parallel()
	for _, stream := range []string{"JAQUE_LOG", "JAQUE_RESULTS"} {
		t.Run(stream, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			b := open(t, Options{Data: data})
			subject := map[string]string{"JAQUE_LOG": "jaque.log.db", "JAQUE_RESULTS": "jaque.result.default.db"}[stream]
			if _, err := b.JetStream().Publish(t.Context(), "jaque.log.db", []byte("x")); err != nil {
				t.Fatal(err)
			}
			if _, err := b.JetStream().Publish(t.Context(), subject, []byte("x")); err != nil {
				t.Fatal(err)
			}
			b.Stored(1)
			fillDisk(t, filepath.Join(data, storeFolder, "$G", "streams", stream, "msgs", "1.blk"))
			began := time.Now()
			stop := time.AfterFunc(0, func() { publishOn(b, subject) })
			defer stop.Stop()
			err := wantFailure(t, b)
			if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), data) || !strings.Contains(err.Error(), "make room") {
				t.Errorf("run = %v, want ErrFull and what to do", err)
			}
			t.Logf("noticed after %s", time.Since(began))
			again := open(t, Options{Data: data})
			info, err := streamInfo(t.Context(), again.JetStream(), "JAQUE_LOG")
			if err != nil || info.State.LastSeq < 1 {
				t.Errorf("after a restart: %+v, %v", info, err)
			}
		})
	}
}
