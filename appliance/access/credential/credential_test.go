package credential

import (
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"
)

func TestWhatIsWrittenIsRead(t *testing.T) {
	c, err := New("worker", "w-1", []string{"dmz", "lan"})
	if err != nil {
		t.Fatal(err)
	}
	c.Server = "jaque"
	path := filepath.Join(t.TempDir(), "w.creds")
	if err := c.Write(path); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v (%v), want 0600", info.Mode(), err)
	}
	if err := c.Write(path); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("written twice: %v", err)
	}
	var log strings.Builder
	got, err := Read(path, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := c.Seed(); !reflect.DeepEqual(got.Zones, c.Zones) || got.Inbox() != "_INBOX.worker.w-1" || got.Server != "jaque" {
		t.Errorf("read %+v", got)
	} else if seed, _ := got.Seed(); seed != want {
		t.Error("the key is another one")
	}
	if log.Len() > 0 {
		t.Errorf("a file of mode 0600 was complained of: %s", &log)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path, slog.New(slog.NewTextHandler(&log, nil))); err != nil || !strings.Contains(log.String(), "everybody") {
		t.Errorf("a file that everybody reads: %v, log %s", err, &log)
	}
}

func userSeed(t testing.TB) string {
	t.Helper()
	key, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := key.Seed()
	if err != nil {
		t.Fatal(err)
	}
	return string(seed)
}

func TestFilesOfOtherToolsAreRead(t *testing.T) {
	seed := userSeed(t)
	both := "-----BEGIN NATS USER JWT-----\neyJh.b.c\n------END NATS USER JWT------\n\n************ IMPORTANT ************\nNKEY Seed printed below.\n\n-----BEGIN USER NKEY SEED-----\n" + seed + "\n------END USER NKEY SEED------\n"
	for name, c := range map[string]struct{ text, jwt string }{
		"a JWT and a seed":         {both, "eyJh.b.c"},
		"a JWT with Windows lines": {strings.ReplaceAll(both, "\n", "\r\n"), "eyJh.b.c"},
		"a seed alone":             {seed + "\n", ""},
		"a seed behind comments":   {"# nothing\n# x: y\n\n  " + seed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parse([]byte(c.text))
			if err != nil || got.JWT != c.jwt || got.Inbox() != "" {
				t.Errorf("parse = %+v, %v", got, err)
			}
		})
	}
}

func TestWhatIsNoFileOfCredentialsIsRefused(t *testing.T) {
	account, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := account.Seed()
	if err != nil {
		t.Fatal(err)
	}
	seed := userSeed(t)
	for name, c := range map[string]struct{ text, want string }{
		"nothing":                   {"", "no seed"},
		"something else":            {"hello\n", "no seed"},
		"the key of an account":     {"-----BEGIN USER NKEY SEED-----\n" + string(wrong) + "\n------END USER NKEY SEED------\n", "not that of a user"},
		"a seed with a slip":        {seed[:len(seed)-3] + "AAA", "damaged"},
		"a part without an end":     {"-----BEGIN USER NKEY SEED-----\n" + seed, "no end"},
		"a certificate that is not": {seed + "\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "certificate is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse([]byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("err = %v, want %q in it", err, c.want)
			}
			if strings.Contains(err.Error(), seed[4:20]) {
				t.Error("the error shows the secret")
			}
		})
	}
	for path, want := range map[string]string{t.TempDir(): "is a folder", filepath.Join(t.TempDir(), "none"): "-nats-creds"} {
		if _, err := Read(path, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("read %s: %v, want %q in it", path, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("# role: ui\n-----BEGIN USER NKEY SEED-----\nSU\n------END USER NKEY SEED------\n"))
	f.Add([]byte(userSeed(f)))
	f.Fuzz(func(t *testing.T, text []byte) {
		if c, err := parse(text); err == nil {
			if _, err := c.Key(); err != nil {
				t.Errorf("credentials without a key: %v", err)
			}
		}
	})
}
