package channel_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/channel"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/probe"
	"jaque.sh/jaque/appliance/rule/macro"
	"jaque.sh/jaque/appliance/rule/message"
)

// newRunner starts what runs commands.
func newRunner(t *testing.T) *probe.Runner {
	t.Helper()
	r, err := probe.New(probe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// script writes a script for sh that sees $out, a file.
func script(t *testing.T, lines string) (path, out string) {
	t.Helper()
	path, out = filepath.Join(t.TempDir(), "notify"), filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nout='"+out+"'\n"+lines+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path, out
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

func newCommand(t *testing.T, h *object.Handler, timeout time.Duration) channel.Channel {
	t.Helper()
	c, err := channel.NewCommand(channel.CommandOptions{
		Handler: h, Timeout: timeout, Run: newRunner(t).Command, ShellSigns: "`$;|&<>\"'",
		Source: func(_ *message.Message, it *message.Item) *macro.Source {
			return &macro.Source{
				Object: it.Object, Contact: &macro.Contact{Name: "ann", Email: "ann@example.com"}, Static: map[string]string{"ADMINEMAIL": "root@example.com"},
				FindContact: func(name string) *macro.Contact {
					if name != "bob" {
						return nil
					}
					return &macro.Contact{Name: "bob", Alias: "Bob B."}
				},
				// What has become of the object since must not be told.
				State: func(object.ID) *fold.State { return &fold.State{Status: event.Status{Checked: true}} },
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestACommandIsToldWithTheMacrosOfNagios(t *testing.T) {
	path, out := script(t, `printf '%s\n' "$@" > "$out"`)
	m := problem()
	m.Items[0].Author, m.Items[0].Text, m.Items[0].Kind = "bob", "on it", "ACKNOWLEDGEMENT"
	h := &object.Handler{Plugin: []string{
		path, "$NOTIFICATIONTYPE$", "$CONTACTNAME$ $CONTACTEMAIL$", "$HOSTNAME$/$SERVICEDESC$ $SERVICESTATE$ $SERVICESTATETYPE$ $SERVICEATTEMPT$",
		"$NOTIFICATIONNUMBER$ $SERVICENOTIFICATIONNUMBER$", "$NOTIFICATIONRECIPIENTS$ $NOTIFICATIONISESCALATED$",
		"$NOTIFICATIONAUTHOR$, $NOTIFICATIONAUTHORNAME$, $NOTIFICATIONAUTHORALIAS$: $NOTIFICATIONCOMMENT$",
		"$SERVICEOUTPUT$", "$HOSTADDRESS$ $_SERVICEPORT$ $ADMINEMAIL$", "$SHORTDATETIME$",
	}}
	if err := newCommand(t, h, 0).Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	want := `ACKNOWLEDGEMENT
ann ann@example.com
web1/http CRITICAL HARD 3
2 2
ann,bob 1
bob, bob, Bob B.: on it
"x" <b> & 'y' $(id) \ end
192.0.2.10  root@example.com
03-01-2026 08:00:00
`
	if got := read(t, out); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestACommandGetsTheMacrosInItsEnvironmentIfItWantsThem(t *testing.T) {
	path, out := script(t, `env | grep -E '^(NAGIOS_(NOTIFICATIONTYPE|SERVICEDESC|CONTACTEMAIL|SERVICEOUTPUT)|JAQUE_)' | sort > "$out"`)
	m := problem()
	m.Repeat = true
	if err := newCommand(t, &object.Handler{Plugin: []string{path}, Environ: true}, 0).Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	want := "JAQUE_MESSAGE_ID=m-1\nJAQUE_REPEAT=true\nJAQUE_TEST=false\nNAGIOS_CONTACTEMAIL=ann@example.com\nNAGIOS_NOTIFICATIONTYPE=PROBLEM\n" +
		"NAGIOS_SERVICEDESC=http\nNAGIOS_SERVICEOUTPUT=\"x\" <b> & 'y' $(id) \\ end\n"
	if got := read(t, out); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestALineForTheShellHoldsNothingThatTheShellWouldRun(t *testing.T) {
	_, out := script(t, "")
	m := problem()
	m.Items[0].Text, m.Items[0].Author = "`touch "+out+".bad`", "$(touch "+out+".bad)"
	h := &object.Handler{Shell: `/usr/bin/printf "%s|%s|%s" "$SERVICEOUTPUT$" "$NOTIFICATIONCOMMENT$" "$NOTIFICATIONAUTHOR$" > ` + out}
	if err := newCommand(t, h, 0).Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if got := read(t, out); !strings.Contains(got, "touch") || strings.ContainsAny(got, "`$") {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(out + ".bad"); err == nil {
		t.Error("a comment has become a command")
	}
}

func TestACommandIsTriedAsATestToo(t *testing.T) {
	path, out := script(t, `echo "$1 $2 $3 $4 $5 $JAQUE_TEST [$6] [$7]" > "$out"`)
	h := &object.Handler{Plugin: []string{
		path, "$NOTIFICATIONTYPE$", "$CONTACTNAME$", "$NOTIFICATIONAUTHOR$", "$HOSTNAME$", "$HOSTSTATE$", "$NOTIFICATIONCOMMENT$", "$HOSTOUTPUT$",
	}}
	if err := newCommand(t, h, 0).Send(t.Context(), test()); err != nil {
		t.Fatal(err)
	}
	if got := read(t, out); !strings.HasPrefix(got, "CUSTOM ann TEST TEST UP true [TEST: This is a test") || strings.Count(got, "[TEST: This") != 2 {
		t.Error(got)
	}
}

// several is a message about so many services.
func several(n int) *message.Message {
	m := problem()
	one := m.Items[0]
	m.Items = nil
	for i := range n {
		it := one
		o := *one.Object
		o.ID, o.Name = object.ServiceID("web1", fmt.Sprint("s", i)), fmt.Sprint("s", i)
		it.ID, it.Object = o.ID, &o
		m.Items = append(m.Items, it)
	}
	return m
}

func TestACommandRunsOnceForEachItemAndAgainOnlyForThoseThatFailed(t *testing.T) {
	path, out := script(t, `echo "$1" >> "$out"
if [ "$1" = s1 ] && [ ! -e "$out.ok" ]; then echo no route >&2; exit 4; fi`)
	c := newCommand(t, &object.Handler{Name: "notify-by-sms", Plugin: []string{path, "$SERVICEDESC$"}}, 0)
	err := c.Send(t.Context(), several(3))
	checkError(t, err, false, false, 0, "notification command notify-by-sms for web1!s1: exit code 4: no route (1 of 3 failed)")
	if got := read(t, out); got != "s0\ns1\ns2\n" {
		t.Errorf("%q", got)
	}
	if err := os.WriteFile(out+".ok", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Send(t.Context(), several(3)); err != nil {
		t.Fatal(err)
	}
	if got := read(t, out); got != "s0\ns1\ns2\ns1\n" {
		t.Errorf("%q", got)
	}
	// The same once more is a wish to be told again.
	if err := c.Send(t.Context(), several(1)); err != nil || read(t, out) != "s0\ns1\ns2\ns1\ns0\n" {
		t.Errorf("%v, %q", err, read(t, out))
	}
}

// The items of a message stand worst first; a script would end with a recovery from a
// problem that has come back since.
func TestACommandIsToldInTheOrderOfWhatHappened(t *testing.T) {
	path, out := script(t, `echo "$1" >> "$out"`)
	m := problem()
	again := m.Items[0]
	back := again
	back.Kind, back.Time = "RECOVERY", again.Time-1000
	m.Items = []message.Item{again, back}
	h := &object.Handler{Plugin: []string{path, "$NOTIFICATIONTYPE$"}}
	if err := newCommand(t, h, 0).Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, out), "RECOVERY\nPROBLEM\n"; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
}

func TestACommandThatHangsIsKilled(t *testing.T) {
	path, _ := script(t, `sleep 300 & wait`)
	err := newCommand(t, &object.Handler{Plugin: []string{path}}, 100*time.Millisecond).Send(t.Context(), problem())
	checkError(t, err, false, false, 0, "killed after 100ms")
}

func TestACommandThatCannotStartIsTriedAgain(t *testing.T) {
	err := newCommand(t, &object.Handler{Plugin: []string{"/nowhere/notify"}}, 0).Send(t.Context(), problem())
	checkError(t, err, false, false, 0, "/nowhere/notify")
	if _, err := channel.NewCommand(channel.CommandOptions{Handler: &object.Handler{}}); err == nil {
		t.Error("a command without a command is taken")
	}
}

func TestNoMoreCommandsAreBegunWhenTimeIsOver(t *testing.T) {
	ran := 0
	ctx, cancel := context.WithCancel(t.Context())
	c, err := channel.NewCommand(channel.CommandOptions{
		Handler: &object.Handler{Plugin: []string{"x"}},
		Source:  func(*message.Message, *message.Item) *macro.Source { return &macro.Source{} },
		Run: func(context.Context, *probe.Command) probe.Ran {
			ran++
			cancel()
			return probe.Ran{Exit: -1, NotRun: true, Problem: "killed: jaque is stopping"}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	checkError(t, c.Send(ctx, several(5)), false, false, 0, "(5 of 5 failed)")
	if ran != 1 {
		t.Errorf("ran %d", ran)
	}
}

func TestACommandDoesNotBringASecretBack(t *testing.T) {
	path, _ := script(t, `printf '%s %s' "$2" "$1" >&2; exit 3`)
	for _, padding := range []int{0, 165, 180, 185} {
		c, err := channel.NewCommand(channel.CommandOptions{
			Handler: &object.Handler{Plugin: []string{path, "$USER3$", "fail" + strings.Repeat("x", padding)}}, Run: newRunner(t).Command,
			Secrets: []string{"FILEMACSECRET", "of a gateway"},
			Source: func(*message.Message, *message.Item) *macro.Source {
				return &macro.Source{User: func(int) string { return "FILEMACSECRET" }}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		err = c.Send(t.Context(), test())
		if err == nil || !strings.Contains(err.Error(), "exit code 3: fail") || strings.Contains(err.Error(), "FILE") || !strings.Contains(err.Error(), "(secret)") {
			t.Errorf("behind %d characters: %v", padding, err)
		}
	}
}
