package demo

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// texts stands for the files of package assets/demo.
func texts() fstest.MapFS {
	return fstest.MapFS{
		"site.cue": {Data: []byte("site")}, "shell.cue": {Data: []byte("shell")}, "plugins.cue": {Data: []byte("plugins")},
	}
}

// fileIn returns a file of the folder, "" if there is none.
func fileIn(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

// TestWhatAnOperatorChangedStays starts the demo in folders in every state.
func TestWhatAnOperatorChangedStays(t *testing.T) {
	for _, c := range []struct {
		name          string
		have          map[string]string
		plugins       bool
		fresh         bool
		site, machine string
	}{
		{"an empty folder", nil, false, true, "site", "shell"},
		{"an empty folder and plugins", nil, true, true, "site", "plugins"},
		{"an edited site", map[string]string{"site.cue": "mine"}, false, false, "mine", "shell"},
		{"an edited machine", map[string]string{"site.cue": "mine", "machine.cue": "mine too"}, true, false, "mine", "mine too"},
		{"a deleted machine is chosen again", map[string]string{"site.cue": "mine"}, true, false, "mine", "plugins"},
		{"a site under another name", map[string]string{"other.cue": "mine"}, false, false, "", "shell"},
		{"only the address of an earlier start", map[string]string{"address.cue": "old"}, false, true, "site", "shell"},
		{"files that are no configuration", map[string]string{"notes.txt": "x"}, false, true, "site", "shell"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "new", "demo")
			if len(c.have) > 0 {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for name, text := range c.have {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			fresh, err := Prepare(dir, "0.0.0.0:8420", texts(), c.plugins)
			if err != nil || fresh != c.fresh {
				t.Fatalf("fresh %v, %v; want %v", fresh, err, c.fresh)
			}
			if site, machine := fileIn(t, dir, "site.cue"), fileIn(t, dir, "machine.cue"); site != c.site || machine != c.machine {
				t.Errorf("site %q, machine %q; want %q, %q", site, machine, c.site, c.machine)
			}
			if address := fileIn(t, dir, "address.cue"); !strings.Contains(address, `"127.0.0.1:8420"`) {
				t.Errorf("the address is %q", address)
			}
		})
	}
}

// TestWhatPrepareCannotDo names the file in each failure.
func TestWhatPrepareCannotDo(t *testing.T) {
	without := func(name string) fs.FS {
		files := texts()
		delete(files, name)
		return files
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	blocked := t.TempDir()
	if err := os.Mkdir(filepath.Join(blocked, "address.cue"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, dir string
		files     fs.FS
		want      string
	}{
		{"a folder that is a file", file, texts(), "make the demo's folder: "},
		{"a folder below a file", filepath.Join(file, "x"), texts(), "make the demo's folder: "},
		{"no text for the site", t.TempDir(), without("site.cue"), "read the demo's site.cue: "},
		{"no text for the machine", t.TempDir(), without("shell.cue"), "read the demo's shell.cue: "},
		{"an address that is a folder", blocked, texts(), "write the demo's address: "},
		{"a name that no pattern can hold", filepath.Join(t.TempDir(), "[a"), texts(), "look into the demo's folder: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Prepare(c.dir, ":1", c.files, false); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestAddressesToConnectTo(t *testing.T) {
	for listen, want := range map[string]string{
		":8420": "127.0.0.1:8420", "0.0.0.0:1": "127.0.0.1:1", "[::]:1": "[::1]:1", "192.0.2.1:1": "192.0.2.1:1",
		"[2001:db8::1]:1": "[2001:db8::1]:1", "host.example:1": "host.example:1", "nonsense": "nonsense",
	} {
		if got := Reachable(listen); got != want {
			t.Errorf("%s became %s, want %s", listen, got, want)
		}
	}
}
