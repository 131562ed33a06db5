package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhereABackupMayBeRestored(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		prepare func(data string) error
		want    []string // in the refusal; nil = it may
	}{
		{"a folder of no cluster", func(string) error { return nil }, nil},
		{"the only member", func(data string) error {
			return Found(data, Member{Cluster: "site", ID: "a", Listen: "10.0.0.1:4248"})
		}, nil},
		{"a member with others", func(data string) error {
			return Found(data, Member{Cluster: "site", ID: "a", Listen: "10.0.0.1:4248", Peers: []string{"10.0.0.2:4248"}})
		}, []string{"member a of cluster site", "10.0.0.2:4248", "never merged", "jaque cluster init"}},
		{"settings that cannot be read", func(data string) error {
			if err := os.MkdirAll(folder(data), 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(folder(data), memberFile), []byte("{"), 0o600)
		}, []string{"restore the file from a backup"}},
	} {
		data := t.TempDir()
		if err := c.prepare(data); err != nil {
			t.Fatal(err)
		}
		err := MayRestore(data)
		if (err == nil) != (c.want == nil) || len(c.want) > 1 && !errors.Is(err, ErrOthers) {
			t.Errorf("%s: %v", c.name, err)
		}
		for _, text := range c.want {
			if err != nil && !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v lacks %q", c.name, err, text)
			}
		}
	}
}
