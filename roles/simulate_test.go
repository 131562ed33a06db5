package roles

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/config"
)

const simulatedSite = `
defaults: {interval: "1m", retry: "20s", attempts: 3, host_check: dummy: {}}
hosts: sw1: {}
hosts: web01: parents: ["sw1"]
hosts: web02: parents: ["sw1"]
hosts: lone: {}
services: http: {hosts: ["web01", "web02"], check: dummy: {}}
services: backup: {hosts: ["lone"], interval: "24h", check: passive: {}}
periods: office: {timezone: "UTC", ranges: ["monday-friday 09:00-17:00"]}
contacts: ops: {email: "ops@example.com"}
contacts: boss: {email: "boss@example.com", period: "office"}
policies: [
	{name: "sites", objects: ["sw1", "web*", "web*!*"], notify: ["ops"], repeat: "1h", escalate: [{after: "30m", notify: ["boss"]}], group: {by: "root", wait: "2m", interval: "10m"}},
	{name: "backups", objects: ["lone!*"], notify: ["ops"], repeat: "0"},
]
delivery: url: "https://monitoring.example.com/"
`

// simulation runs "jaque notify simulate" on a config and returns what it prints.
func simulation(t *testing.T, args string) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.cue")
	if err := os.WriteFile(path, []byte(simulatedSite), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	now := time.Date(2026, 12, 1, 10, 0, 0, 0, time.FixedZone("CET", 3600))
	err := Simulate(strings.Fields("-config "+path+" "+args), Simulation{Stdout: &out, Stderr: &errs, Now: now})
	return out.String(), err
}

// lines returns the lines of the table as words with single spaces.
func tableLines(out string) (rows []string) {
	for _, line := range strings.Split(out, "\n") {
		rows = append(rows, strings.Join(strings.Fields(line), " "))
	}
	return rows
}

func TestASimulationSaysWhoIsTold(t *testing.T) {
	for _, tt := range []struct {
		name, args string
		want       []string // parts of lines, in order
	}{
		{"a problem becomes hard, is told, escalated and over", "-object web01!http -state critical -at 2026-12-01T09:00 -for 45m -then ok", []string{
			"If web01!http were CRITICAL from Tue 2026-12-01 09:00:00 CET on for 45m, then OK",
			"09:00:00 +0s PROBLEM 1 web01!http CRITICAL not boss, ops - hard: the state is soft: attempt 1 of 3",
			"hard: the state is soft: attempt 2 of 3",
			"09:02:40 +2m40s PROBLEM 1 web01!http CRITICAL ops email",
			"+45m RECOVERY web01!http OK not boss",
			"RECOVERY web01!http OK ops email the contact was told of the problem",
			"2 messages to 1 contact.",
			"Nobody is told anything more within 48h if nothing changes.",
		}},
		{"what goes on says what is next", "-object web01!http -state critical -at 2026-12-01T03:00 -for 30m", []string{
			"from Tue 2026-12-01 03:00:00 CET on, seen for 30m",
			"1 message to 1 contact.",
			"Next, if nothing changes: PROBLEM 2 web01!http CRITICAL at Tue 2026-12-01 04:00:40 CET to ops.",
		}},
		{"a switch takes what is behind it along in one message", "-object sw1 -state down -at 03:00 -for 20m -behind", []string{
			"Wed 2026-12-02 03:00:00 CET",
			"4 together: PROBLEM of sw1, web01, web02, web02!http, because of sw1",
			"Next, if nothing changes",
		}},
		{"who submits results repeats them", "-object lone!backup -state warning -output late -for 1h", []string{
			"PROBLEM 1 lone!backup WARNING not ops - hard: the state is soft: attempt 1 of 3",
			"+50s PROBLEM 1 lone!backup WARNING ops email the policy backups names the contact",
			"Nobody is told anything more within 48h",
		}},
		{"an acknowledgement ends what is repeated", "-object web01!http -state critical -for 5h -ack 20m", []string{
			"PROBLEM 1 web01!http CRITICAL ops email",
			"ACKNOWLEDGEMENT web01!http CRITICAL ops email",
			"Nobody is told anything more",
		}},
		{"the host explains what fails on it", "-object web01!http -state critical -host-down -for 10m", []string{
			"PROBLEM 1 web01 DOWN",
		}},
		{"what nobody is named for is told to nobody", "-object lone -state down -for 10m", []string{
			"Nobody would be told: no policy names anybody for it.",
			"0 messages to 0 contacts.",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := simulation(t, tt.args)
			if err != nil {
				t.Fatal(err)
			}
			rest := strings.Join(tableLines(out), "\n")
			for _, want := range tt.want {
				_, after, ok := strings.Cut(rest, want)
				if !ok {
					t.Fatalf("no (further) %q in\n%s", want, out)
				}
				rest = after
			}
		})
	}
}

func TestASimulationForPrograms(t *testing.T) {
	out, err := simulation(t, "-object web01!http -state critical -at 2026-12-01T09:00 -for 45m -then ok -json")
	if err != nil {
		t.Fatal(err)
	}
	var got toldJSON
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.From != "2026-12-01T09:00:00+01:00" || got.State != "CRITICAL" || len(got.Messages) != 2 || got.Next == nil {
		t.Errorf("got %+v", got)
	}
	for _, v := range got.Verdicts {
		if v.Told != (v.Message > 0) || v.Told == (v.Gate != "") || v.Why == "" {
			t.Errorf("verdict %+v", v)
		}
	}
}

func TestASimulationRefusesWhatMakesNoSense(t *testing.T) {
	for _, tt := range []struct{ name, args, want string }{
		{"an object that is misspelt", "-object web01!htpp -state critical", `there is no service "web01!htpp"; did you mean web01!http?`},
		{"a host that is misspelt", "-object sw2 -state down", "did you mean sw1?"},
		{"a flag that is misspelt", "-objekt sw1 -state down", "there is no flag -objekt; did you mean object?"},
		{"no object", "-state down", "-object is missing; give a host"},
		{"no state", "-object sw1", "-state is missing"},
		{"a state of services for a host", "-object sw1 -state critical", `"CRITICAL" is no host state`},
		{"a host that cannot be reached", "-object sw1 -state unreachable", "let a parent be down, with -behind"},
		{"no problem", "-object sw1 -state up", "give a state that is a problem"},
		{"a time that is none", "-object sw1 -state down -at never", "write 03:00 for the next three"},
		{"a length that is none", "-object sw1 -state down -for 0s", "from 1s to 31d"},
		{"an acknowledgement of what is over", "-object sw1 -state down -for 10m -ack 10m", "it has to be before -for 10m"},
		{"the host of a host", "-object sw1 -state down -host-down", "sw1 is a host itself"},
		{"what is behind a service", "-object web01!http -state critical -behind", "let its host be down"},
		{"words that belong to nothing", "-object sw1 -state down now", `"now" belongs to no flag`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := simulation(t, tt.args)
			var usage *UsageError
			if !errors.As(err, &usage) || ExitCode(err) != ExitUsage || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if out != "" {
				t.Errorf("printed %q", out)
			}
		})
	}
}

func TestASimulationNeedsAConfigThatIsRight(t *testing.T) {
	var problems config.Problems
	err := Simulate([]string{"-config", filepath.Join(t.TempDir(), "none.cue"), "-object", "a", "-state", "down"}, Simulation{Stdout: &bytes.Buffer{}})
	if !errors.As(err, &problems) || ExitCode(err) != ExitUsage {
		t.Errorf("got %v, want what is wrong with the config", err)
	}
	var out bytes.Buffer
	if err := Simulate([]string{"-h"}, Simulation{Stdout: &out}); err != nil || out.String() != SimulateHelp {
		t.Errorf("got %v and %q, want the help", err, &out)
	}
}
