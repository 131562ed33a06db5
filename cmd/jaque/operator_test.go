package main

import (
	"strings"
	"testing"
)

const crowdConfig = `package site

hosts: web01: {address: "192.0.2.1", labels: role: "web", check: passive: {}}
services: {for i in [0, 1, 2, 3, 4, 5] for k in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] {"s\(i)\(k)": {on: {}, check: passive: {}}}}
`

// What a running appliance answers leads to the exit status that the help
// promises, and the text says what to write.
func TestCommandsAgainstARunningAppliance(t *testing.T) {
	t.Parallel()
	r := launch(t, "-config", site(t, crowdConfig), "-eventlog", "memory", "-api-token", "secret", "-log-level", "info")
	r.until("/readyz", "ok")
	for _, c := range []struct {
		name, args string // words separated by blanks
		code       int
		out, errs  string
	}{
		{"a result", "submit web01!s00 CRITICAL broken", 0, "web01!s00  done", ""},
		{"a result of a misspelt object", "submit web01!s0O CRITICAL broken", 3, "", `did you mean "web01!s00"?`},
		{"a filter with a mistake", "check-now -filter stat=CRITICAL", 2, "", "\njaque check-now:   stat=CRITICAL\njaque check-now:   ^"},
		{"a filter that nothing matches", "ack -filter state=UNKNOWN -comment x", 3, "", "state=UNKNOWN"},
		{"no problem to acknowledge", "ack web01!s01 -comment x", 1, "", "only a problem can be acknowledged"},
		{"a preview of many", "comment -filter * -comment x -preview", 0, "61 objects would be touched", ""},
		{"many at once", "comment -filter * -comment x", 1, "", "write -confirm 61, or -yes"},
		{"many with another number", "comment -filter * -comment x -confirm 60", 1, "", "61 objects now, not 60"},
		{"many with their number", "comment -filter * -comment x -confirm 61", 0, "web01!s59  done", ""},
		{"a list of comments", "comment list web01!s59 -o json", 0, `"comment":"x"`, ""},
		{"a recurring downtime", "downtime web01 -every sunday+02:00-04:00 -timezone Europe/Berlin -comment x", 0, "done", "STARTS (UTC)"},
		{"one with a range that is none", "downtime web01 -every someday -timezone UTC -comment x", 2, "", "someday"},
		{"one on no clock", "downtime web01 -every sunday+02:00-04:00 -timezone Mars -comment x", 2, "", "write one such as Europe/Berlin"},
		{"no downtime of this id", "downtime cancel nothing", 3, "", "nothing"},
		{"a period that is not there", "set check_period=nights web01", 2, "", "nights"},
		{"a switch of the program", "disable service_checks -program", 0, "the whole program  done", ""},
		{"without the token", "disable service_checks -program -token wrong", 1, "", "-token-file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := strings.Fields(c.args)
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "+", " ")
			}
			cmd := command(t, args...)
			cmd.Env = append(cmd.Env, "JAQUE_URL="+r.url, "JAQUE_API_TOKEN=secret")
			code, out, errs := finish(t, cmd)
			if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(errs, c.errs) {
				t.Errorf("exit %d, want %d\nstdout %q lacks %q\nor stderr %q lacks %q", code, c.code, out, c.out, errs, c.errs)
			}
		})
	}
}
