package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// store20 makes a data folder whose log holds 20 acknowledged messages. With
// kill, nothing is written at the end, as after kill -9.
func store20(t *testing.T, kill bool) string {
	t.Helper()
	data := t.TempDir()
	b := open(t, Options{Data: data})
	for n := range 20 {
		ack, err := b.JetStream().Publish(t.Context(), fmt.Sprintf("jaque.log.h%d", n), []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		b.Stored(ack.Sequence)
		b.Stored(ack.Sequence - 1) // an older answer that comes late changes nothing
	}
	if _, err := b.JetStream().Publish(t.Context(), "$KV.JAQUE_STATE.session", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if !kill {
		if err := b.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		return data
	}
	waitAcknowledged(t, b, 20)
	copied := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(copied, os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	return copied
}

// waitAcknowledged waits until the position is in its file.
func waitAcknowledged(t *testing.T, b *Bus, seq uint64) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for readAck(b.embed.guard.file) != seq {
		if time.Now().After(deadline) {
			t.Fatalf("acknowledged is %d, want %d", readAck(b.embed.guard.file), seq)
		}
		time.Sleep(5 * time.Millisecond) // polling with a deadline: a real file
	}
}

// After kill -9 the acknowledged position alone tells that the log is too short.
func TestGuardAfterKill(t *testing.T) {
	t.Parallel()
	data := store20(t, true)
	open(t, Options{Data: data}) // whole: it starts

	data = store20(t, true)
	block := filepath.Join(data, storeFolder, "$G", "streams", "JAQUE_LOG", "msgs", "1.blk")
	info, err := os.Stat(block)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(block, info.Size()-info.Size()/20); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(block)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), Options{Data: data})
	if !errors.Is(err, ErrLoss) || !strings.Contains(err.Error(), "up to position 19, but 20 was acknowledged (1 lost)") {
		t.Fatalf("open = %v, want the loss of position 20", err)
	}
	after, err := os.ReadFile(block)
	if err != nil || string(after) != string(before) {
		t.Errorf("the damaged block was changed by the start that refused it (%v)", err)
	}
}

func TestGuardNamesTheStreamThatIsGone(t *testing.T) {
	t.Parallel()
	cases := []struct {
		stream string
		loss   bool
	}{
		{"JAQUE_LOG", true}, {"KV_JAQUE_STATE", true}, {"JAQUE_RESULTS", false}, {"KV_JAQUE_MEMBERS", false},
	}
	for _, c := range cases {
		t.Run(c.stream, func(t *testing.T) {
			t.Parallel()
			data := store20(t, false)
			folder := filepath.Join(data, storeFolder, "$G", "streams", c.stream)
			if err := os.RemoveAll(folder); err != nil {
				t.Fatal(err)
			}
			b, err := Open(t.Context(), Options{Data: data})
			if errors.Is(err, ErrLoss) != c.loss || err == nil == c.loss {
				t.Fatalf("open = %v, want a loss: %v", err, c.loss)
			}
			if err != nil && !strings.Contains(err.Error(), folder) {
				t.Errorf("error %q does not name %s", err, folder)
			}
			if err == nil {
				_ = b.Close(context.Background())
			}
		})
	}
}

func TestGuardCountsWhatItRepairs(t *testing.T) {
	t.Parallel()
	data := store20(t, false)
	if err := os.Remove(filepath.Join(data, storeFolder, "$G", "streams", "JAQUE_LOG", "meta.sum")); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	reg := prometheus.NewRegistry()
	open(t, Options{Data: data, Registerer: reg, Logger: slog.New(slog.NewTextHandler(&lines, nil))})
	if !strings.Contains(lines.String(), "description of a stream is damaged") {
		t.Errorf("log:\n%s", lines.String())
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() != "jaque_bus_repairs_total" || m.GetLabel()[0].GetValue() != string(damageDescription) {
				continue
			}
			if m.GetCounter().GetValue() != 1 {
				t.Errorf("repairs = %v, want 1", m)
			}
			return
		}
	}
	t.Error("there is no metric of the repair")
}
