package demo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	assets "jaque.sh/jaque/assets/demo"
)

func read(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestAnEmptyFolderGetsAConfigWithTheRightChecks(t *testing.T) {
	for plugins, want := range map[bool]string{true: "check_disk", false: "df -P"} {
		dir := filepath.Join(t.TempDir(), "new", "demo")
		fresh, err := Prepare(dir, "0.0.0.0:8420", assets.Files(), plugins)
		if err != nil || !fresh {
			t.Fatalf("got %v, %v", fresh, err)
		}
		if !strings.Contains(read(t, dir, "machine.cue"), want) {
			t.Errorf("plugins %v: machine.cue lacks %q", plugins, want)
		}
		if !strings.Contains(read(t, dir, "address.cue"), `LISTEN: "127.0.0.1:8420"`) {
			t.Errorf("address.cue: %s", read(t, dir, "address.cue"))
		}
		if !strings.Contains(read(t, dir, "site.cue"), "package site") {
			t.Error("site.cue is no config")
		}
	}
}

func TestASecondStartKeepsWhatWasEditedAndMovesTheAddress(t *testing.T) {
	dir := t.TempDir()
	if _, err := Prepare(dir, "127.0.0.1:1", assets.Files(), true); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"site.cue", "machine.cue"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("package site // mine\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fresh, err := Prepare(dir, "127.0.0.1:2", assets.Files(), true)
	if err != nil || fresh {
		t.Fatalf("got %v, %v", fresh, err)
	}
	if read(t, dir, "site.cue")+read(t, dir, "machine.cue") != strings.Repeat("package site // mine\n", 2) {
		t.Error("an edited file was overwritten")
	}
	if !strings.Contains(read(t, dir, "address.cue"), "127.0.0.1:2") {
		t.Error("the address did not move")
	}
}

func TestAFolderThatCannotBeWrittenIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Prepare(filepath.Join(file, "demo"), "x", assets.Files(), true); err == nil ||
		!strings.HasPrefix(err.Error(), "make the demo's folder: ") {
		t.Fatalf("got %v", err)
	}
}

func TestReachableAddresses(t *testing.T) {
	for listen, want := range map[string]string{
		":80": "127.0.0.1:80", "0.0.0.0:1": "127.0.0.1:1", "[::]:1": "[::1]:1",
		"192.0.2.1:5": "192.0.2.1:5", "odd": "odd",
	} {
		if got := Reachable(listen); got != want {
			t.Errorf("%s: got %s, want %s", listen, got, want)
		}
	}
}

func TestPluginsAreFoundWhereBothCanRun(t *testing.T) {
	empty, half, whole := t.TempDir(), t.TempDir(), t.TempDir()
	for path, mode := range map[string]os.FileMode{
		half + "/check_load": 0o755, half + "/check_disk": 0o644,
		whole + "/check_load": 0o755, whole + "/check_disk": 0o755,
	} {
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if Plugins([]string{empty, half}) || !Plugins([]string{half, whole}) {
		t.Error("wrong answer about plugins")
	}
}

func TestTheGreetingNamesTheDashboardAndTheConfig(t *testing.T) {
	text := Greeting("bin/jaque", "jaque-demo", "[::]:8420", true)
	for _, part := range []string{"http://[::1]:8420", "jaque-demo/site.cue", "was written", "kill -HUP"} {
		if !strings.Contains(text, part) {
			t.Errorf("the greeting lacks %q:\n%s", part, text)
		}
	}
	if !strings.Contains(Greeting("jaque", "d", "x:1", false), "is kept") {
		t.Error("a second start claims to have written a config")
	}
}

func TestASecondDemoOnTheFolderIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	first, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(dir); !errors.Is(err, ErrRunning) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second lock: %v, want ErrRunning with the folder", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Lock(dir)
	if err != nil {
		t.Fatalf("after the first has ended: %v", err)
	}
	again.Close()
}
