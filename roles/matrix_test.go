package roles

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// contractMatrix is the role × flag table of the contract, written down a second
// time: columns all, engine, worker, ui, sink, notifier; "." = accepted.
const contractMatrix = `
target              . . . . . .
config              R R F R R R
data                . . F F F F
listen              . . . . . .
eventlog            . . F R R R
queue               F R R F F F
coordination        . . F . . .
heartbeat-ttl       . . F F . .
engine-id           . . F F F F
sink-id             F F F F . F
notifier-id         F F F F F .
zones               F F . F F F
sinks               F F F F . F
command-file        . . F F F F
events-out          . . F F F F
livestatus-socket   . . F F F F
livestatus-listen   . . F F F F
snapshot-out        . . F . F F
api-token           . . F . F F
api-token-file      . . F . F F
smtp-host           . . F F F .
smtp-port           . . F F F .
smtp-user           . . F F F .
smtp-password-file  . . F F F .
smtp-from           . . F F F .
smtp-tls            . . F F F .
telegram-token      . . F F F .
telegram-token-file . . F F F .
notify-delivery     . . F F F F
notify-workers      . . F F F .
notify-queue        . . F F F .
nats-listen         . . F F F F
cluster-name        . . F F F F
cluster-listen      . . F F F F
cluster-peers       . . F F F F
nats-creds          . . . . . .
nats-tls-ca         . . . . . .
nats-tls-cert       . . . . . .
nats-tls-key        . . . . . .
log-level           . . . . . .
log-format          . . . . . .
`

// cell is one field of the matrix.
type cell struct {
	role Name
	flag Flag
	want string
}

func cells(t *testing.T) []cell {
	t.Helper()
	byName := map[string]Flag{}
	for _, f := range Flags() {
		if byName[f.Name].Name != "" {
			t.Fatalf("flag %s stands twice in the table", f.Name)
		}
		byName[f.Name] = f
	}
	delete(byName, "version")
	delete(byName, "help")
	var all []cell
	for _, line := range strings.Split(strings.TrimSpace(contractMatrix), "\n") {
		words := strings.Fields(line)
		f, ok := byName[words[0]]
		if !ok {
			t.Fatalf("the table lacks flag %s", words[0])
		}
		delete(byName, words[0])
		for i, r := range Roles() {
			all = append(all, cell{r.Name, f, strings.Trim(words[i+1], ".")})
		}
	}
	for name := range byName {
		t.Errorf("flag %s stands in the table, but not in this test", name)
	}
	return all
}

// valid returns a value that the flag takes in the role.
func valid(f Flag, role Name) string {
	switch f.Name {
	case "target":
		return string(role)
	case "eventlog", "queue", "coordination":
		return "nats://127.0.0.1:4222"
	case "listen", "livestatus-listen", "nats-listen", "cluster-listen", "cluster-peers":
		return "127.0.0.1:0"
	}
	if f.Default != "" && !strings.Contains(f.Default, " ") {
		return f.Default // presence counts, also of the default (O8)
	}
	return "x"
}

// minimal is what a role needs so that nothing but the cell decides.
func minimal(t *testing.T, role Name, without string) map[string]string {
	t.Helper()
	given := map[string]string{"target": string(role)}
	for _, f := range Flags() {
		if f.Cell(role) == "R" && f.Name != without {
			given[f.Name] = valid(f, role)
		}
	}
	return given
}

func arguments(given map[string]string) []string {
	var args []string
	for _, f := range Flags() {
		if v, ok := given[f.Name]; ok {
			args = append(args, "-"+f.Name, v)
		}
	}
	return args
}

// pair completes flags that belong together.
func pair(given map[string]string) {
	switch {
	case given["nats-tls-cert"] != "":
		given["nats-tls-key"] = "key.pem"
	case given["nats-tls-key"] != "":
		given["nats-tls-cert"] = "cert.pem"
	}
}

// form is one way to give a flag: what stands on the command line for it, and what
// in the environment.
type form struct {
	name string
	give func(f Flag, value string) (args []string, vars map[string]string)
}

func forms() []form {
	line := func(format string, apart bool) func(Flag, string) ([]string, map[string]string) {
		return func(f Flag, value string) ([]string, map[string]string) {
			if apart {
				return []string{fmt.Sprintf(format, f.Name), value}, nil
			}
			return []string{fmt.Sprintf(format, f.Name, value)}, nil
		}
	}
	return []form{
		{"-flag value", line("-%s", true)},
		{"-flag=value", line("-%s=%s", false)},
		{"--flag value", line("--%s", true)},
		{"--flag=value", line("--%s=%s", false)},
		{"environment", func(f Flag, value string) ([]string, map[string]string) {
			return nil, map[string]string{f.Env(): value}
		}},
	}
}

// values are those that a flag is given with: one that fits, and its default. A role
// that refuses it is to look at none of them.
func values(f Flag, role Name, refused bool) []string {
	all := []string{valid(f, role)}
	if !refused {
		return all
	}
	if f.Default != "" && f.Default != all[0] {
		all = append(all, f.Default)
	}
	return append(all, "", " no value of this flag ")
}

// Every role × every flag × every form in which a flag can be given, with each kind of
// value. Files of secrets are flags of their own.
// S002, S005, S006, S007; all: S010, S011, S012; engine: S015, S016, S017; worker: S020,
// S021, S022, S023, S024; ui: S029, S030, S031, S032, S033, S034, S035; sink: S042,
// S043, S044, S045, S046, S047, S048, S049, S050; notifier: S060, S061, S062, S063,
// S064, S065, S066, S067, S069, S070, S071, S072; and S068, by the cells of all and
// engine.
func TestEveryRoleTakesExactlyTheFlagsOfTheContract(t *testing.T) {
	tried := 0
	for _, c := range cells(t) {
		t.Run(fmt.Sprintf("%s and -%s", c.role, c.flag.Name), func(t *testing.T) {
			if got := c.flag.Cell(c.role); got != c.want {
				t.Fatalf("the table says %q, the contract %q", got, c.want)
			}
			for _, how := range forms() {
				for _, value := range values(c.flag, c.role, c.want == "F") {
					tryCell(t, c, how, value)
					tried++
				}
			}
			if c.want == "R" {
				tryWithout(t, c)
				tried++
			}
		})
	}
	t.Logf("%d combinations of a role, a flag, a form and a value", tried)
}

// tryCell gives a role what it needs and one flag more.
func tryCell(t *testing.T, c cell, how form, value string) {
	t.Helper()
	given := minimal(t, c.role, "")
	given[c.flag.Name] = value
	pair(given)
	delete(given, c.flag.Name)
	args, vars := how.give(c.flag, value)
	_, err := Parse(append(arguments(given), args...), world(vars))
	switch {
	case c.want == "F":
		mustRefuse(t, err, c)
	case err != nil:
		t.Fatalf("%s %q is accepted by the contract, got %v", how.name, value, err)
	}
}

// tryWithout leaves a required flag out.
func tryWithout(t *testing.T, c cell) {
	t.Helper()
	_, err := Parse(arguments(minimal(t, c.role, c.flag.Name)), world(nil))
	want := fmt.Sprintf("role %s requires -%s: %s", c.role, c.flag.Name, c.flag.Required[c.role])
	if problems := problemsOf(err); len(problems) != 1 || problems[0] != want {
		t.Fatalf("without it: got %v, want %q", err, want)
	}
}

// S005: whatever is refused is told at once, from wherever it came, and nothing else
// hides it.
func TestEveryRefusalIsToldAtOnce(t *testing.T) {
	for _, r := range Roles() {
		for _, how := range forms() {
			t.Run(fmt.Sprintf("%s by %s", r.Name, how.name), func(t *testing.T) {
				args, vars := []string{"-target", string(r.Name)}, map[string]string{}
				var want []string
				for _, f := range Flags() {
					if reason, ok := f.Required[r.Name]; ok {
						want = append(want, fmt.Sprintf("role %s requires -%s: %s", r.Name, f.Name, reason))
					}
					reason, ok := f.Refused[r.Name]
					if !ok {
						continue
					}
					more, set := how.give(f, valid(f, r.Name))
					args = append(args, more...)
					origin := "-" + f.Name
					for name, value := range set {
						vars[name], origin = value, origin+" (set by "+name+")"
					}
					want = append(want, fmt.Sprintf("role %s refuses %s: %s", r.Name, origin, reason))
				}
				_, err := Parse(args, world(vars))
				if got := problemsOf(err); !slices.Equal(got, want) || ExitCode(err) != ExitUsage {
					t.Errorf("exit status %d, got\n%s\nwant\n%s", ExitCode(err), strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			})
		}
	}
}

// A role may not even read a secret that it refuses, and not hide one of its forms
// behind another.
func TestEveryFormOfARefusedSecretIsRefused(t *testing.T) {
	vars := map[string]string{"JAQUE_API_TOKEN": "x", "JAQUE_API_TOKEN_FILE": "gone"}
	for name, c := range map[string]struct {
		args string
		want []string
	}{
		"both of the environment": {"", []string{"-api-token (set by JAQUE_API_TOKEN)", "-api-token-file (set by JAQUE_API_TOKEN_FILE)"}},
		"a file on the line":      {"-api-token-file gone", []string{"-api-token (set by JAQUE_API_TOKEN)", "-api-token-file"}},
		"the secret on the line":  {"-api-token s3cret", []string{"-api-token", "-api-token-file (set by JAQUE_API_TOKEN_FILE)"}},
		"both on the line":        {"-api-token s3cret -api-token-file gone", []string{"-api-token", "-api-token-file"}},
	} {
		t.Run(name, func(t *testing.T) {
			for i, from := range c.want {
				c.want[i] = "role worker refuses " + from + ": it opens no API"
			}
			_, err := Parse(strings.Fields("-target worker -queue nats://h:1 "+c.args), world(vars))
			if got := problemsOf(err); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// mustRefuse demands one problem that names role, flag and reason.
func mustRefuse(t *testing.T, err error, c cell) {
	t.Helper()
	problems := problemsOf(err)
	if len(problems) != 1 {
		t.Fatalf("got %v, want one refusal", err)
	}
	for _, part := range []string{"role " + string(c.role) + " refuses", "-" + c.flag.Name, ": " + c.flag.Refused[c.role]} {
		if !strings.Contains(problems[0], part) {
			t.Fatalf("%q lacks %q", problems[0], part)
		}
	}
}

func problemsOf(err error) []string {
	var usage *UsageError
	if !errors.As(err, &usage) {
		return nil
	}
	return usage.Problems
}

func TestEveryRequirementAndRefusalHasAReason(t *testing.T) {
	for _, f := range Flags() {
		for _, rules := range []Rules{f.Required, f.Refused} {
			for role, reason := range rules {
				if len(reason) < 10 {
					t.Errorf("-%s in role %s: the reason %q says nothing", f.Name, role, reason)
				}
			}
		}
		if f.Meaning == "" || strings.HasSuffix(f.Meaning, ".") {
			t.Errorf("-%s: the meaning %q is no sentence without a full stop", f.Name, f.Meaning)
		}
	}
}
