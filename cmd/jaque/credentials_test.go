package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/access"
	"jaque.sh/jaque/roles"
)

func TestCredentialsAreMadeListedAndRevoked(t *testing.T) {
	dir := t.TempDir()
	data, file := filepath.Join(dir, "data"), filepath.Join(dir, "w.creds")
	steps := []struct {
		name   string
		args   []string
		status int
		want   string // in the output
	}{
		{"a worker of a zone gets a file and is told how to start", []string{"credentials", "worker", "-zone", "dmz", "-data", data, "-out", file}, 0, "-zones dmz"},
		{"a file that exists is not written over", []string{"credentials", "ui", "-data", data, "-out", file}, 1, "exists"},
		{"a name is taken once", []string{"credentials", "worker", "-zone", "dmz", "-data", data, "-out", file + "2"}, 1, "revoke worker-dmz"},
		{"flags may stand first", []string{"credentials", "-data", data, "-id", "board", "-out", file + "3", "ui"}, 0, "-target ui"},
		{"users are listed", []string{"credentials", "list", "-data", data}, 0, "worker-dmz  worker  dmz"},
		{"the entry for another server records nothing", []string{"credentials", "sink", "-nats-conf", "-data", data, "-out", file + "4"}, 0, `"$KV.JAQUE_STATE.sink.*"`},
		{"one is revoked", []string{"credentials", "revoke", "worker-dmz", "-data", data}, 0, "Revoked worker-dmz"},
		{"one who is not there is not revoked", []string{"credentials", "revoke", "worker-dmz", "-data", data}, 1, "credentials list"},
		{"a role that is none", []string{"credentials", "worke", "-data", data}, roles.ExitUsage, "did you mean worker?"},
		{"role all", []string{"credentials", "all", "-data", data}, roles.ExitUsage, "needs no credentials"},
		{"nothing", []string{"credentials"}, roles.ExitUsage, "for whom?"},
		{"zones of a role without", []string{"credentials", "ui", "-zone", "dmz", "-data", data}, roles.ExitUsage, "only a worker has zones"},
		{"a zone with a line feed", []string{"credentials", "worker", "-nats-conf", "-id", "w", "-zone", "x\n}, { nkey: U", "-data", data}, roles.ExitUsage, `-zone: "x\n}`},
		{"a zone with a blank is one word of the command", []string{"credentials", "worker", "-nats-conf", "-id", "w", "-zone", "o'b x,lab", "-data", data, "-out", file + "5"}, 0, `-zones 'lab,o'\''b x'`},
		{"a name that is no file's", []string{"credentials", "ui", "-id", "../x", "-data", data}, roles.ExitUsage, "-id"},
		{"help", []string{"help", "credentials"}, 0, "Usage: jaque credentials"},
	}
	for _, s := range steps {
		var stdout, stderr strings.Builder
		status := run(s.args, &stdout, &stderr)
		if out := stdout.String() + stderr.String(); status != s.status || !strings.Contains(out, s.want) {
			t.Errorf("%s: status %d, want %d with %q:\n%s", s.name, status, s.status, s.want, out)
		}
		if strings.Contains(stdout.String()+stderr.String(), "NKEY SEED") {
			t.Errorf("%s: a seed is shown", s.name)
		}
	}
	if _, err := os.Stat(file + "2"); !os.IsNotExist(err) {
		t.Error("a file without a user is left")
	}
	// Of the one that was revoked it stays known that it was.
	left, err := access.In(data).List()
	all, errAll := access.In(data).Records()
	if err != nil || errAll != nil || len(left) != 1 || left[0].Name != "board" || len(all) != 2 || !all[1].Revoked {
		t.Errorf("users: %+v, %v; %+v, %v", left, err, all, errAll)
	}
}

// The line that starts a process holds all that its role needs, and what a server has to do
// before it lets the process in is said of the server that it is.
func TestCredentialsSayHowTheirProcessStarts(t *testing.T) {
	env := environment()
	for _, role := range []string{"engine", "worker", "ui", "sink", "notifier"} {
		for _, conf := range []bool{true, false} {
			dir := t.TempDir()
			args := []string{"credentials", role, "-id", "x1", "-data", filepath.Join(dir, "data"), "-out", filepath.Join(dir, "x.creds")}
			if conf {
				args = append(args, "-nats-conf")
			}
			var stdout, stderr strings.Builder
			if status := run(args, &stdout, &stderr); status != 0 {
				t.Fatalf("%v: status %d: %s", args, status, stderr.String())
			}
			if embedded := strings.Contains(stderr.String(), "after about two seconds"); embedded == conf {
				t.Errorf("%v says what is true of another server:\n%s", args, stderr.String())
			}
			_, line, _ := strings.Cut(stderr.String(), "\n  jaque ")
			line, _, _ = strings.Cut(line, "\n")
			line = strings.NewReplacer("HOST:PORT", "n:4222", "PATH", dir).Replace(line)
			if _, err := roles.Parse(strings.Fields(line), env); err != nil {
				t.Errorf("jaque %s: %v", line, err)
			}
			if role != "worker" && !strings.Contains(line, "-coordination tls://") {
				t.Errorf("jaque %s: it does not see who else there is", line)
			}
		}
	}
}
