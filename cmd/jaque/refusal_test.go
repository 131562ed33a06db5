package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"jaque.sh/jaque/roles"
)

// S001, S003, S005, S006, S007: the same program refuses in every role what that role
// has no use for, whether it stands on the command line or in the environment. It says
// all of it at once, changes nothing, and ends with exit status 2.
func TestTheProgramRefusesWhatItsRoleDoes(t *testing.T) {
	t.Parallel()
	refused := 0
	for _, r := range roles.Roles() {
		for _, byEnvironment := range []bool{false, true} {
			want, given := refusalsOf(r.Name, byEnvironment)
			refused += len(want)
			t.Run(fmt.Sprintf("%s, by environment %t", r.Name, byEnvironment), func(t *testing.T) {
				t.Parallel()
				c := command(t)
				if byEnvironment {
					c.Env = append(c.Env, given...)
				} else {
					c.Args = append(c.Args, given...)
				}
				code, stdout, stderr := finish(t, c)
				got := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
				end := fmt.Sprintf("jaque: %d problems; run \"jaque help\" for the flags of each role", len(want))
				if code != roles.ExitUsage || stdout != "" || !slices.Equal(got, append(want, end)) {
					t.Errorf("exit status %d, stdout %q\ngot\n%s\nwant\n%s", code, stdout, stderr, strings.Join(want, "\n"))
				}
			})
		}
	}
	t.Logf("%d refusals by 12 starts of the program", refused)
}

// refusalsOf returns the lines that a role answers when it is given everything that it
// refuses and nothing that it requires, and the arguments or variables for that. No
// value is one that the flag takes: nobody is to look at it.
func refusalsOf(role roles.Name, byEnvironment bool) (want, given []string) {
	given = []string{"-target=" + string(role)}
	if byEnvironment {
		given = []string{"JAQUE_TARGET=" + string(role)}
	}
	for _, f := range roles.Flags() {
		if reason, ok := f.Required[role]; ok {
			want = append(want, fmt.Sprintf("jaque: role %s requires -%s: %s", role, f.Name, reason))
		}
		reason, ok := f.Refused[role]
		if !ok {
			continue
		}
		from := "-" + f.Name
		if byEnvironment {
			from += " (set by " + f.Env() + ")"
			given = append(given, f.Env()+"=none")
		} else {
			given = append(given, "-"+f.Name+"=none")
		}
		want = append(want, fmt.Sprintf("jaque: role %s refuses %s: %s", role, from, reason))
	}
	return want, given
}
