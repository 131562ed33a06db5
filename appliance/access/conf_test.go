package access

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"jaque.sh/jaque/appliance/access/authority"
	"jaque.sh/jaque/appliance/access/credential"
)

var update = flag.Bool("update", false, "write the generated files")

func TestTheShippedFilesAreThoseOfTheTable(t *testing.T) {
	for path, want := range map[string]string{
		filepath.Join("..", "..", "packaging", "nats", "nats-server.conf"): natsConf(),
		filepath.Join("..", "..", "docs", "reference", "security.md"):      reference(),
	} {
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is not what the table says; run go test ./appliance/access -update", path)
		}
	}
}

func TestANatsServerReadsTheShippedConfiguration(t *testing.T) {
	keys := map[string]Holder{}
	for _, h := range packaged() {
		c, err := credential.New(string(h.Role), h.ID, h.Zones)
		if err != nil {
			t.Fatal(err)
		}
		key, err := c.Key()
		if err != nil {
			t.Fatal(err)
		}
		keys[key] = h
		t.Setenv(keyVariable(h), key)
	}
	dir := t.TempDir()
	if _, err := authority.Open(dir); err != nil {
		t.Fatal(err)
	}
	t.Setenv("JAQUE_TLS_CERT", filepath.Join(dir, "tls", "ca.crt"))
	t.Setenv("JAQUE_TLS_KEY", filepath.Join(dir, "tls", "ca.key"))
	t.Setenv("JAQUE_STORE", filepath.Join(dir, "store"))
	o, err := server.ProcessConfigFile(filepath.Join("..", "..", "packaging", "nats", "nats-server.conf"))
	if err != nil {
		t.Fatal(err)
	}
	if o.TLSConfig == nil || !o.JetStream || !o.SyncAlways || len(o.Users) > 0 || len(o.Nkeys) != len(keys) || o.NoAuthUser != "" {
		t.Errorf("options = %+v", o)
	}
	for _, u := range o.Nkeys {
		publish, subscribe := Subjects(Rights(keys[u.Nkey]))
		if u.Permissions == nil || !slices.Equal(u.Permissions.Publish.Allow, publish) || !slices.Equal(u.Permissions.Subscribe.Allow, subscribe) {
			t.Errorf("%s has other permissions than the table says", keys[u.Nkey].Role)
		}
	}
}

func TestUsersAreKeptInTheDataFolder(t *testing.T) {
	u := In(t.TempDir())
	source := u.Source()
	if list, err := source(); err != nil || len(list) != 0 {
		t.Fatalf("before the first user: %v, %v", list, err)
	}
	c, err := credential.New("worker", "w1", []string{"dmz"})
	if err != nil {
		t.Fatal(err)
	}
	key, err := c.Key()
	if err != nil {
		t.Fatal(err)
	}
	r := Record{Name: "w1", Role: Worker, Zones: []string{"dmz"}, Key: key}
	if err := u.Add(r); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(u.path("w1")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the record has mode %v (%v), want 0600", info.Mode(), err)
	}
	if err := u.Add(r); err == nil || !strings.Contains(err.Error(), ErrExists.Error()) {
		t.Errorf("a second user of the name: %v", err)
	}
	list, err := source()
	if err != nil || len(list) != 1 || list[0].Key != key || len(list[0].Publish) == 0 {
		t.Errorf("users = %+v, %v", list, err)
	}
	for _, name := range []string{"", "../x", ".x", "a b", strings.Repeat("x", 200)} {
		if err := u.Add(Record{Name: name, Role: UI, Key: key}); err == nil {
			t.Errorf("a user of the name %q was taken", name)
		}
	}
	if err := os.WriteFile(u.path("bad"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := source(); err == nil || !strings.Contains(err.Error(), "revoke bad") || len(list) != 1 {
		t.Errorf("a record that is none: %v, %v", list, err)
	}
	for _, name := range []string{"bad", "w1"} {
		if err := u.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := source(); err != nil || len(list) != 0 {
		t.Errorf("after the last user: %v, %v", list, err)
	}
	if err := u.Remove("w1"); err == nil || !strings.Contains(err.Error(), ErrNoUser.Error()) {
		t.Errorf("removed twice: %v", err)
	}
}

// Whoever names the zones of a worker must not write other users beside it.
func TestAZoneStaysInItsComment(t *testing.T) {
	text := NATSUser(Holder{Role: Worker, ID: "w", Zones: []string{"x\n}, { nkey: UEVIL }\r\u2028"}}, "UKEY")
	first, rest, _ := strings.Cut(text, "\n")
	if first != "{ # w: worker of x?}, { nkey: UEVIL }??" || strings.Contains(rest, "EVIL }") {
		t.Errorf("the entry is\n%s", text)
	}
}
