package roles

import (
	"errors"
	"fmt"
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

// S005, S006, S007, S010–S012, S015–S017, S020–S024, S029–S035, S042–S050,
// S060–S072: every role × every flag, in every form a flag can be given.
func TestEveryRoleTakesExactlyTheFlagsOfTheContract(t *testing.T) {
	for _, c := range cells(t) {
		t.Run(fmt.Sprintf("%s and -%s", c.role, c.flag.Name), func(t *testing.T) {
			if got := c.flag.Cell(c.role); got != c.want {
				t.Fatalf("the table says %q, the contract %q", got, c.want)
			}
			given := minimal(t, c.role, "")
			given[c.flag.Name] = valid(c.flag, c.role)
			pair(given)
			_, byFlag := Parse(arguments(given), world(nil))

			value := given[c.flag.Name]
			delete(given, c.flag.Name)
			_, byEnvironment := Parse(arguments(given), world(map[string]string{c.flag.Env(): value}))
			if c.want != "F" {
				if byFlag != nil || byEnvironment != nil {
					t.Fatalf("accepted by the contract, got %v and %v", byFlag, byEnvironment)
				}
			} else {
				mustRefuse(t, byFlag, c)
				mustRefuse(t, byEnvironment, c)
			}
			if c.want != "R" {
				return
			}
			_, err := Parse(arguments(minimal(t, c.role, c.flag.Name)), world(nil))
			want := fmt.Sprintf("role %s requires -%s: %s", c.role, c.flag.Name, c.flag.Required[c.role])
			if problems := problemsOf(err); len(problems) != 1 || problems[0] != want {
				t.Fatalf("without it: got %v, want %q", err, want)
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
