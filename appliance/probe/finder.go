package probe

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// usualFolders are where distributions and hand-made installations put plugins.
var usualFolders = [...]string{
	"/usr/lib/nagios/plugins",
	"/usr/lib64/nagios/plugins",
	"/usr/lib/monitoring-plugins",
	"/usr/libexec/nagios",
	"/usr/libexec/monitoring-plugins",
	"/usr/local/nagios/libexec",
	"/usr/local/lib/nagios/plugins",
	"/usr/local/libexec/nagios",
	"/opt/monitoring-plugins/libexec",
	"/opt/plugins",
}

// UsualFolders lists the folders that are searched for a plugin after those of
// the config, in this order.
func UsualFolders() []string { return append([]string(nil), usualFolders[:]...) }

// finder turns a plugin's name into a path and remembers it.
type finder struct {
	folders []string
	mu      sync.RWMutex
	found   map[string]string
}

func newFinder(first []string) *finder {
	return &finder{folders: append(append([]string{}, first...), usualFolders[:]...), found: map[string]string{}}
}

// find returns the path of a plugin. The error says what to do.
func (f *finder) find(name string) (string, error) {
	f.mu.RLock()
	path := f.found[name]
	f.mu.RUnlock()
	if path != "" {
		return path, nil
	}
	path, err := f.search(name)
	if err != nil {
		return "", err
	}
	f.mu.Lock()
	f.found[name] = path
	f.mu.Unlock()
	return path, nil
}

// forget drops what is remembered, after a start failed.
func (f *finder) forget(name string) {
	f.mu.Lock()
	delete(f.found, name)
	f.mu.Unlock()
}

func (f *finder) search(name string) (string, error) {
	if strings.Contains(name, "/") {
		path, err := filepath.Abs(name)
		if err != nil {
			return "", fmt.Errorf("plugin %s: %w; write an absolute path", name, err)
		}
		if why := unusable(path); why != "" {
			return "", fmt.Errorf("plugin %s %s", path, why)
		}
		return path, nil
	}
	blocked := ""
	for _, folder := range f.folders {
		path := filepath.Join(folder, name)
		why := unusable(path)
		if why == "" {
			return path, nil
		}
		if why != missing && blocked == "" {
			blocked = fmt.Sprintf("plugin %s %s", path, why)
		}
	}
	if blocked != "" {
		return "", fmt.Errorf("%s", blocked)
	}
	return "", fmt.Errorf("plugin %s not found on this machine; install it in one of %s, or write its absolute path",
		name, strings.Join(f.folders, ", "))
}

const missing = "does not exist on this machine; install it or correct its path"

// unusable says why a file cannot be a plugin, "" if it can.
func unusable(path string) string {
	info, err := os.Stat(path)
	switch {
	case os.IsNotExist(err):
		return missing
	case err != nil:
		return "cannot be looked at: " + reason(err)
	case info.IsDir():
		return "is a folder; name a program"
	case info.Mode()&0o111 == 0:
		return "is not executable; run chmod +x on it"
	}
	return ""
}
