package probe

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/core/object"
)

func plugin(argv ...string) object.Check {
	return object.Check{Kind: object.CheckPlugin, Plugin: argv}
}

func TestPluginResults(t *testing.T) {
	r := open(t, Options{})
	for _, c := range []struct {
		name  string
		text  string
		state object.State
		parts []string
	}{
		{"exit 0 is OK", `echo "fine | a=1;2;3;0;10"`, object.OK, []string{"fine\n", "|a=1;2;3;0;10"}},
		{"exit 1 is WARNING", `echo slow; exit 1`, object.Warning, []string{"slow"}},
		{"exit 2 is CRITICAL", `echo down; exit 2`, object.Critical, []string{"down"}},
		{"exit 3 is UNKNOWN", `echo what; exit 3`, object.Unknown, []string{"what"}},
		{"exit 126 hints at the mode", `exit 126`, object.Critical, []string{"executable"}},
		{"exit 127 hints at the path", `exit 127`, object.Critical, []string{"exists"}},
		{"exit 200 is out of bounds", `exit 200`, object.Critical, []string{"Return code of 200", "out of bounds"}},
		{"a signal is UNKNOWN", `echo partly; kill -SEGV $$`, object.Unknown, []string{"partly", "killed by signal 11"}},
		{"no output is said", `exit 0`, object.OK, []string{"(No output returned from plugin)"}},
		{"standard error is shown when there is nothing else", `echo oops >&2; exit 2`, object.Critical, []string{"stderr: oops"}},
		{"further lines are long output", `printf 'one\ntwo\nthree | b=2\n'`, object.OK, []string{"one\ntwo\nthree", "|b=2"}},
		{"bytes that are no text are replaced", `printf 'bad \377\376 bytes'`, object.OK, []string{"bad \uFFFD bytes"}},
		{"HTML stays text", `echo '<script>alert(1)</script>'`, object.OK, []string{"<script>alert(1)</script>"}},
		{"one huge line is cut", `head -c 300000 /dev/zero | tr '\0' x`, object.OK, []string{"xxxx", "(output cut at 64 KiB)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := do(t, r, plugin(script(t, c.text)))
			expect(t, got, c.state, c.parts...)
			if !utf8.ValidString(got.Output+got.Long+got.Perfdata) || len(got.Output)+len(got.Long) > 70<<10 {
				t.Errorf("no valid text, or %d bytes of it", len(got.Output)+len(got.Long))
			}
		})
	}
}

// S025
func TestAPluginThatCannotRunSaysWhatToDo(t *testing.T) {
	r := open(t, Options{PluginPath: []string{"/opt/ours"}})
	folder := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		name  string
		check object.Check
		parts []string
	}{
		{"a name nobody knows", plugin("check_nonesuch"), []string{"check_nonesuch not found", "install it in one of /opt/ours, /usr/lib/nagios"}},
		{"a path that leads nowhere", plugin("/nonexistent/check"), []string{"/nonexistent/check does not exist", "correct its path"}},
		{"a file without the right to run", plugin(write("plain", "#!/bin/sh\n", 0o644)), []string{"not executable", "chmod +x"}},
		{"a folder", plugin(folder), []string{"is a folder"}},
		{"a script whose interpreter is missing", plugin(write("script", "#!/nonexistent/perl\n", 0o755)), []string{"interpreter", "install it"}},
		{"a text that is no script", plugin(write("text", "hello", 0o755)), []string{"no program", "#!/bin/sh"}},
		{"an argument with a zero byte", plugin("/bin/echo", "a\x00b"), []string{"zero byte"}},
		{"nothing at all", plugin(), []string{"names no plugin"}},
		{"arguments without end", plugin("/bin/echo", strings.Repeat("x", 3<<20)), []string{"too long", "shorten"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, do(t, r, c.check), object.Unknown, append(c.parts, "UNKNOWN - ")...)
			host := r.Do(t.Context(), Request{Object: testHost, Check: c.check, Timeout: time.Second})
			if host.State != object.Down {
				t.Errorf("as a host: %+v", host)
			}
		})
	}
}

func TestAPluginThatMovesIsFoundAgain(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	r := open(t, Options{PluginPath: []string{first, second}})
	write := func(folder, text string) {
		if err := os.WriteFile(filepath.Join(folder, "check_it"), []byte("#!/bin/sh\necho "+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(first, "first")
	expect(t, do(t, r, plugin("check_it")), object.OK, "first")
	if err := os.Remove(filepath.Join(first, "check_it")); err != nil {
		t.Fatal(err)
	}
	write(second, "second")
	expect(t, do(t, r, plugin("check_it")), object.Unknown, "does not exist")
	expect(t, do(t, r, plugin("check_it")), object.OK, "second")
}

func TestAShellLineRunsInAShell(t *testing.T) {
	r := open(t, Options{})
	c := object.Check{Kind: object.CheckPlugin, Shell: `echo "a;b" | tr b c && echo "$0"; exit 1`}
	expect(t, do(t, r, c), object.Warning, "a:c", "/bin/sh")
	expect(t, do(t, r, plugin("/bin/echo", "$HOME `id` > /tmp/x; *")), object.OK, "$HOME `id` > /tmp/x: *")
}

func TestALineWithoutShellMeaningRunsWithoutAShell(t *testing.T) {
	r := open(t, Options{})
	parent := script(t, `tr "\0" " " </proc/$PPID/cmdline; echo; echo "$#:$1:$2"; exit 1`)
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("echo no first line\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, line string
		state      object.State
		want       string
		direct     bool
	}{
		{"words and quotes", parent + ` -w '5 %' "a b"`, object.Warning, "3:-w:5 %", true},
		{"a pipe", parent + ` x y | cat`, object.OK, "2:x:y", false},
		{"a variable", parent + ` $HOME y`, object.Warning, "2:/:y", false},
		{"a program found by the path", `echo hello`, object.OK, "hello", false},
		{"a word of the shell", `exit 2`, object.Critical, "", false},
		{"a program that is missing says what a shell says", `/nonexistent/check -x`, object.Critical, "Return code of 127", true},
		{"a file without a first line runs as in a shell", text, object.OK, "no first line", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := withoutShell(c.line) != nil; got != c.direct {
				t.Errorf("without a shell: %v, want %v", got, c.direct)
			}
			got := do(t, r, object.Check{Kind: object.CheckPlugin, Shell: c.line})
			expect(t, got, c.state, c.want)
			if c.direct && strings.Contains(got.Output+got.Long, "sh -c") {
				t.Errorf("the parent is a shell: %q", got.Long)
			}
		})
	}
	for _, line := range []string{"", "   ", "''", `/bin/echo 'open`} {
		if argv := withoutShell(line); argv != nil {
			t.Errorf("%q gives %q", line, argv)
		}
	}
}

func TestPluginsGetTheConfiguredEnvironment(t *testing.T) {
	t.Setenv("JAQUE_TOKEN", "secret")
	r := open(t, Options{Env: []string{"LC_ALL=de_DE.UTF-8", "OURS=1"}})
	got := r.Do(t.Context(), Request{
		Object: testSvc, Check: plugin("/usr/bin/env"), Timeout: time.Minute, Env: []string{"NAGIOS_HOSTNAME=web01"},
	})
	expect(t, got, object.OK, "LC_ALL=de_DE.UTF-8", "OURS=1", "NAGIOS_HOSTNAME=web01", "PATH=/usr")
	if all := got.Output + got.Long; strings.Contains(all, "secret") || strings.Contains(all, "LC_ALL=C") {
		t.Errorf("got %q", all)
	}
}

func TestAPluginThatTakesTooLong(t *testing.T) {
	r := open(t, Options{})
	settings := object.DefaultSettings()
	settings.TimeoutState = object.Warning
	got := r.Do(t.Context(), Request{
		Object: testSvc, Check: plugin(script(t, `echo "said | a=1"; sleep 50`)), Timeout: 200 * time.Millisecond, Settings: &settings,
	})
	expect(t, got, object.Warning, "(Service check timed out after 0.")
	if strings.Contains(got.Output+got.Perfdata, "a=1") || got.Took < 200_000 || got.Took > 10_000_000 {
		t.Errorf("got %+v", got)
	}
}

func TestHostsAreUpOrDown(t *testing.T) {
	r := open(t, Options{})
	aggressive := object.DefaultSettings()
	aggressive.AggressiveHostChecking = true
	for _, c := range []struct {
		exit     string
		settings *object.Settings
		want     object.State
	}{{"0", nil, object.Up}, {"1", nil, object.Up}, {"1", &aggressive, object.Down}, {"2", nil, object.Down}, {"3", nil, object.Down}} {
		got := r.Do(t.Context(), Request{
			Object: testHost, Check: plugin(script(t, "echo x; exit "+c.exit)), Timeout: time.Minute, Settings: c.settings,
		})
		if got.State != c.want {
			t.Errorf("exit %s: got %s, want %s", c.exit, got.State.Name(object.Host), c.want.Name(object.Host))
		}
	}
}

func TestStoppingEndsACheck(t *testing.T) {
	r := open(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	got := r.Do(ctx, Request{Object: testSvc, Check: plugin("/bin/sleep", "60"), Timeout: time.Minute})
	expect(t, got, object.Unknown, "stopped")
	got = r.Do(ctx, Request{Object: testSvc, Check: object.Check{Kind: object.CheckTCP, TCP: &object.TCPCheck{Address: "127.0.0.1:1"}}})
	expect(t, got, object.Unknown, "jaque is stopping")
}

func TestPluginsOfDebian(t *testing.T) {
	r := open(t, Options{})
	expect(t, do(t, r, plugin("check_dummy", "1", "on purpose")), object.Warning, "WARNING: on purpose")
	expect(t, do(t, r, plugin("check_dummy", "2")), object.Critical, "CRITICAL")
	expect(t, do(t, r, plugin("check_load", "-w", "1000,1000,1000", "-c", "2000,2000,2000")), object.OK, "load average", "load1=")
	expect(t, do(t, r, plugin("check_disk", "-w", "0%", "-c", "0%", "-p", "/")), object.OK, "DISK OK", "/=")
	expect(t, do(t, r, plugin("check_procs", "-w", "0:0")), object.Warning, "PROCS WARNING", "procs=")
	expect(t, do(t, r, plugin("check_tcp", "-H", "127.0.0.1", "-p", "1")), object.Critical, "refused")
}

func TestStartFailuresSayWhatToDo(t *testing.T) {
	for n, want := range map[syscall.Errno]string{
		syscall.ENOENT: "does not exist", syscall.EACCES: "may not be executed", syscall.ENOEXEC: "no program for this machine",
		syscall.E2BIG: "too long", syscall.EAGAIN: "raise the limits", syscall.EMFILE: "run fewer checks", syscall.EIO: "cannot start: input/output error",
	} {
		if got := startFailure("/nonexistent/check", n); !strings.Contains(got, want) || !strings.HasPrefix(got, "plugin /nonexistent/check ") {
			t.Errorf("%v: got %q", n, got)
		}
	}
}

func TestAFailureToStartIsCounted(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	r := open(t, Options{Registerer: reg})
	path := filepath.Join(t.TempDir(), "check")
	if err := os.WriteFile(path, []byte("#!/nonexistent/perl\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	expect(t, do(t, r, plugin(path)), object.Unknown, "interpreter")
	expect(t, do(t, r, plugin("check_nonesuch")), object.Unknown, "not found")
	if got := gather(t, reg)["jaque_probe_spawn_errors_total"]; got != 2 {
		t.Errorf("counted %v, want 2", got)
	}
}
