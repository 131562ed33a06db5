package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Nobody is lost who is no member: the start would wait for ever for the one that is.
func TestWhoIsNoMemberIsNotLost(t *testing.T) {
	t.Parallel()
	data, _ := founded(t, "a")
	meta := filepath.Join(data, "jetstream", "$SYS", "_js_", "_meta_")
	if err := os.MkdirAll(meta, 0o700); err != nil {
		t.Fatal(err)
	}
	// The server's own file of the members a and b, as it was left by two of them.
	text := append([]byte{2, 0, 0, 0, 2, 0, 0, 0}, "GR5IGR3G0ZkM0vRC\x00\x00"...)
	for name, content := range map[string][]byte{filepath.Join(meta, "peers.idx"): text, filepath.Join(data, "members.json"): []byte(`{"self":"a","members":["a","b"]}`)} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Lose(data, "B"); err == nil || !strings.Contains(err.Error(), `has no member "B"; its members are a, b`) {
		t.Errorf("a wrong name: %v", err)
	}
	if m, err := Read(data); err != nil || len(m.Lost) != 0 {
		t.Errorf("%+v, %v", m, err)
	}
	if err := Lose(data, "b"); err != nil {
		t.Error(err)
	}
}
