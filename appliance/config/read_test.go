package config

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// unreadable puts files of every kind that is no inventory into a folder.
func unreadable(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Symlink("/dev/zero", filepath.Join(dir, "endless.csv")))
	must(os.Symlink("/dev/zero", filepath.Join(dir, "endless.cue")))
	must(syscall.Mkfifo(filepath.Join(dir, "pipe.json"), 0o600))
	must(os.Mkdir(filepath.Join(dir, "folder.yaml"), 0o700))
	must(os.WriteFile(filepath.Join(dir, "huge.csv"), nil, 0o600))
	must(os.Truncate(filepath.Join(dir, "huge.csv"), maxInventory+1))
	must(os.WriteFile(filepath.Join(dir, "secret"), nil, 0o600))
	must(os.Truncate(filepath.Join(dir, "secret"), maxSecret+1))
	return dir
}

func TestWhatNeverEndsIsNoInventory(t *testing.T) {
	dir := unreadable(t)
	for name, want := range map[string]string{
		"endless.csv": "it is a device, a pipe or a socket; name a file on disk",
		"pipe.json":   "it is a device, a pipe or a socket; name a file on disk",
		"folder.yaml": "it is a folder; name a file",
		"huge.csv":    "it is larger than 256 MiB; split it",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, "site.cue")
			if err := os.WriteFile(path, []byte("inventory: [\""+name+"\"]\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			_, problems := Load(path, Options{})
			if len(problems) != 1 || !strings.Contains(problems[0].Text, want) || problems[0].Path != "inventory[0]" {
				t.Errorf("got\n%s\nwant %q", problems, want)
			}
		})
	}
}

func TestWhatNeverEndsIsNoConfig(t *testing.T) {
	dir := unreadable(t)
	for _, name := range []string{"endless.cue", "pipe.json"} {
		_, problems := Load(filepath.Join(dir, name), Options{})
		if len(problems) != 1 || !strings.Contains(problems[0].Text, "it is a device, a pipe or a socket") {
			t.Errorf("%s: got\n%s", name, problems)
		}
	}
}

func TestALargeFileIsNoSecret(t *testing.T) {
	dir := unreadable(t)
	path := filepath.Join(dir, "site.cue")
	text := "hosts: h: {}\nsettings: macros: {USER1: \"file:secret\", USER2: \"file:endless.csv\"}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, problems := Load(path, Options{})
	if len(problems) != 2 || !strings.Contains(problems[0].Text, "larger than 1 MiB") || !strings.Contains(problems[1].Text, "a device") {
		t.Errorf("got\n%s", problems)
	}
}

func TestAFileThatHoldsMoreThanItClaimsIsCut(t *testing.T) {
	// Files of this kind claim to be empty.
	const claimsNothing = "/proc/self/status"
	if info, err := os.Stat(claimsNothing); err != nil || info.Size() != 0 {
		t.Logf("no such file here: %v", err)
		return
	}
	if content, err := readRegular(claimsNothing, 10); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("got %q and %v", content, err)
	}
	if content, err := readRegular(claimsNothing, 1<<20); err != nil || len(content) == 0 {
		t.Errorf("got %d bytes and %v", len(content), err)
	}
}
