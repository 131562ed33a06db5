package probe

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCommands(t *testing.T) {
	r := open(t, Options{})
	for _, c := range []struct {
		name    string
		command Command
		exit    int
		output  string
		problem string
	}{
		{"what it prints first is kept", Command{Plugin: []string{script(t, "echo; echo restarted web; echo more")}}, 0, "restarted web", ""},
		{"an exit code is no trouble of ours", Command{Plugin: []string{script(t, "echo no >&2; exit 7")}}, 7, "no", ""},
		{"a line may need a shell", Command{Shell: "echo a$((1+1)) | cat"}, 0, "a2", ""},
		{"a line that needs none works too", Command{Shell: "/bin/echo 'two words'"}, 0, "two words", ""},
		{"the environment is its own and what is asked for", Command{
			Plugin: []string{script(t, "echo $NAGIOS_HOSTNAME $HOME")}, Env: []string{"NAGIOS_HOSTNAME=web"},
		}, 0, "web /", ""},
		{"a command that hangs is killed", Command{Plugin: []string{"/bin/sleep", "60"}, Timeout: 50 * time.Millisecond}, -1, "", "killed after 50ms"},
		{"a signal ends it", Command{Plugin: []string{script(t, "kill -TERM $$")}}, -1, "", "killed by signal 15"},
		{"one that does not exist says so", Command{Plugin: []string{"/nowhere/restart"}}, -1, "", "does not exist"},
		{"none is said too", Command{}, -1, "", "names no plugin"},
		{"a zero byte cannot be passed on", Command{Plugin: []string{"/bin/echo"}, Env: []string{"A=b\x00"}}, -1, "", "zero byte"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := r.Command(t.Context(), &c.command)
			if ran.Exit != c.exit || ran.Output != c.output || !strings.Contains(ran.Problem, c.problem) || (c.problem == "") != (ran.Problem == "") {
				t.Errorf("%+v", ran)
			}
			if ran.OK() != (c.exit == 0) || ran.Start.IsZero() {
				t.Errorf("ok %v, started %v", ran.OK(), ran.Start)
			}
		})
	}
}

func TestAStopEndsACommand(t *testing.T) {
	r := open(t, Options{})
	began := filepath.Join(t.TempDir(), "began")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan Ran)
	go func() { done <- r.Command(ctx, &Command{Shell: "echo > " + began + "; sleep 60"}) }()
	for {
		if _, err := os.Stat(began); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	if ran := <-done; !ran.NotRun || ran.OK() {
		t.Errorf("%+v", ran)
	}
}
