package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/audit"
)

func TestProgressOfLogVerify(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		give audit.Progress
		want string
	}{
		{"a quarter is done", audit.Progress{Seq: 900, Messages: 800, Done: 25, Of: 100}, "position 900, 800 messages, 25 %, 30s left"},
		{"everything is done", audit.Progress{Seq: 900, Messages: 800, Done: 100, Of: 100}, "position 900, 800 messages, 100 %, 0s left"},
		{"the log has grown meanwhile", audit.Progress{Seq: 900, Messages: 800, Done: 120, Of: 100}, "position 900, 800 messages, 100 %, 0s left"},
		{"it is not known how much there is", audit.Progress{Seq: 900, Messages: 800, Done: 3}, "position 900, 800 messages"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := progressText(tt.give, 10*time.Second); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// A byte of a stopped engine's log that is another one, and a log that is cut off, are
// found; a member that keeps no copy says where the log can be verified.
func TestLogVerifyOfDamagedFolders(t *testing.T) {
	data := t.TempDir()
	r := spawn(t, "-config", site(t, siteText), "-data", data)
	r.served()
	r.until("/api/v1/services/web01/quiet", `"state":"OK"`)
	r.signal(syscall.SIGTERM)
	r.end()
	do(t, "log", "verify", "-data", data)
	blocks, err := filepath.Glob(filepath.Join(data, "jetstream", "$G", "streams", "JAQUE_LOG", "msgs", "*.blk"))
	if err != nil || len(blocks) == 0 {
		t.Fatal(blocks, err)
	}
	whole, err := os.ReadFile(blocks[0])
	if err != nil {
		t.Fatal(err)
	}
	flipped := append([]byte{}, whole...)
	flipped[len(whole)/2]++
	for what, text := range map[string][]byte{"a flipped byte": flipped, "half of it": whole[:len(whole)/2], "nothing": nil} {
		if err := os.WriteFile(blocks[0], text, 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, errs := finish(t, command(t, "log", "verify", "-data", data))
		if code != 1 || !strings.Contains(errs, "the log breaks its invariants") || strings.Contains(out, "Every invariant holds") {
			t.Errorf("%s: exit %d, %s%s", what, code, out, errs)
		}
	}
	fourth := filepath.Join(t.TempDir(), "fourth")
	meta := filepath.Join(fourth, "jetstream", "$SYS", "_js_", "_meta_")
	if err := os.MkdirAll(meta, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(meta, "peers.idx"), []byte("\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, "keeps no copy of its cluster's log; start it", "log", "verify", "-data", fourth)
}
