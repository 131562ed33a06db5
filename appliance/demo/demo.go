package demo

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// addressFile is the one file that is written at every start: it tells the
// configuration where this jaque listens.
const addressFile = "address.cue"

const addressText = `// Written by "jaque demo" at every start: where it listens, and this folder.
package site

hosts: "this-machine": vars: LISTEN: %q
settings: macros: DEMO: %q
`

// ErrRunning: another demo runs on the folder.
var ErrRunning = errors.New("a demo is running on this folder already; stop it, or choose another folder with -dir")

// Lock makes the folder and takes it for this process until the file is closed,
// so that a second demo does not change the configuration of the first.
func Lock(dir string) (io.Closer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the demo's folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock the demo's folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", dir, ErrRunning)
	}
	return f, nil
}

// Prepare makes the folder usable: it writes the configuration if there is none
// and the address in any case. files are the texts of package assets/demo;
// plugins tells whether the monitoring plugins are there. It returns whether the
// configuration is new.
func Prepare(dir, listen string, files fs.FS, plugins bool) (fresh bool, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, fmt.Errorf("make the demo's folder: %w", err)
	}
	have, err := filepath.Glob(filepath.Join(dir, "*.cue"))
	if err != nil {
		return false, fmt.Errorf("look into the demo's folder: %w", err)
	}
	fresh = len(have) == 0 || len(have) == 1 && filepath.Base(have[0]) == addressFile
	if fresh {
		if err := write(dir, files, "site.cue", "site.cue"); err != nil {
			return false, err
		}
	}
	// machine.cue may be deleted to have it chosen again, site.cue may not.
	source := "shell.cue"
	if plugins {
		source = "plugins.cue"
	}
	if err := write(dir, files, source, "machine.cue"); err != nil {
		return false, err
	}
	folder, err := filepath.Abs(dir)
	if err != nil {
		return false, fmt.Errorf("find the demo's folder: %w", err)
	}
	text := fmt.Sprintf(addressText, Reachable(listen), folder)
	if err := os.WriteFile(filepath.Join(dir, addressFile), []byte(text), 0o644); err != nil {
		return false, fmt.Errorf("write the demo's address: %w", err)
	}
	return fresh, nil
}

// write copies one text into the folder unless the file exists.
func write(dir string, files fs.FS, source, name string) error {
	text, err := fs.ReadFile(files, source)
	if err != nil {
		return fmt.Errorf("read the demo's %s: %w", source, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("write the demo's config: %w", err)
	}
	if _, err := f.Write(text); err != nil {
		return errors.Join(fmt.Errorf("write the demo's config: %w", err), f.Close())
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write the demo's config: %w", err)
	}
	return nil
}

// Reachable turns an address that is listened on into one to connect to from
// this machine.
func Reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	switch host {
	case "", "0.0.0.0":
		host = "127.0.0.1"
	case "::":
		host = "::1"
	}
	return net.JoinHostPort(host, port)
}

// Plugins tells whether the plugins that the demo uses are in one of the folders.
func Plugins(folders []string) bool {
	for _, dir := range folders {
		if runs(filepath.Join(dir, "check_load")) && runs(filepath.Join(dir, "check_disk")) {
			return true
		}
	}
	return false
}

func runs(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// Greeting says where the dashboard is and what to try next. program is how the
// running jaque was called.
func Greeting(program, dir, address string, fresh bool) string {
	made := "Your configuration is kept"
	if fresh {
		made = "A commented configuration was written"
	}
	url := "http://" + Reachable(address)
	lines := []string{
		"",
		"  jaque watches this machine now.  Dashboard: " + url,
		"",
		"  " + made + ": " + filepath.Join(dir, "site.cue"),
		"  Within a minute you see fine services, one CRITICAL and one that changes on purpose.",
		"",
		"  What to try next:",
		"    - look at the same as JSON:    curl -s '" + url + "/api/v1/services?limit=5'",
		"    - edit site.cue, check it:     " + program + " check-config " + dir,
		fmt.Sprintf("    - have it read again:          kill -HUP %d", os.Getpid()),
		"    - submit a result:             curl -s -X POST " + url + "/api/v1/commands -H 'Content-Type: application/json' \\",
		`        -d '{"command":"submit-result","object":"this-machine!nightly","state":"OK","output":"backup done"}'`,
		"    - see who was told of what:    " + url + "/notifications (and notifications.txt in the folder)",
		"",
		"  Ctrl-C stops it; the next start goes on where it stopped.",
		"",
	}
	return strings.Join(lines, "\n")
}
