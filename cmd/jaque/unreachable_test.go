package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A store that cannot be reached at the start ends the start with its address and what to
// look at, whichever of the stores it is.
func TestAStoreThatCannotBeReachedAtTheStartIsNamed(t *testing.T) {
	config := site(t, siteText)
	const nobody = "nats://127.0.0.1:1"
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"the log's server of an engine": {
			[]string{"-target", "engine", "-config", config, "-eventlog", nobody, "-queue", nobody, "-coordination", nobody, "-engine-id", "a"}, "connect to log server " + nobody,
		},
		"a coordination server of its own": {
			[]string{"-config", config, "-data", filepath.Join(t.TempDir(), "data"), "-coordination", nobody}, "connect to log server " + nobody,
		},
		"a data folder that is a file": {
			[]string{"-config", config, "-data", config}, "choose a folder this user may write with -data",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := finish(t, command(t, append(c.args, "-listen", "127.0.0.1:0", "-log-level", "error")...))
			if code != 1 || stdout != "" || !strings.Contains(stderr, c.want) {
				t.Errorf("exit %d, %q, want %q in %s", code, stdout, c.want, stderr)
			}
		})
	}
}
