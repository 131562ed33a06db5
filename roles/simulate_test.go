package roles

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/rehearse"
	"jaque.sh/jaque/roles/client"
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
	return simulationOf(t, simulatedSite, args)
}

func simulationOf(t *testing.T, site, args string) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.cue")
	if err := os.WriteFile(path, []byte(site), 0o600); err != nil {
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
			"3 together: PROBLEM of sw1, web01, web02, because of sw1",
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
			"Nobody would be told: no policy is for it.",
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

func TestWellIsOkAndUpOfBothKinds(t *testing.T) {
	for _, tt := range []struct{ name, args string }{
		{"a host that is ok", "-object sw1 -state DOWN -for 45m -then ok"},
		{"a host that is up", "-object sw1 -state down -for 45m -then Up"},
		{"a service that is up", "-object web01!http -state Critical -for 45m -then UP"},
		{"a service that is ok", "-object web01!http -state critical -for 45m -then OK"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if out, err := simulation(t, tt.args); err != nil || !strings.Contains(out, "RECOVERY") {
				t.Errorf("got %v\n%s", err, out)
			}
		})
	}
}

// The second notification would be due in the very instant in which all is well.
func TestWhoRecoversIsNotToldOfTheProblemInTheSameInstant(t *testing.T) {
	out, err := simulation(t, "-object web01!http -state critical -at 2026-12-01T03:00 -for 1h40s -then ok")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out, "PROBLEM 2") || !strings.Contains(out, "RECOVERY web01!http OK") {
		t.Errorf("got\n%s", out)
	}
}

func TestWhatIsKeptBackIsSummedUp(t *testing.T) {
	site := strings.Replace(simulatedSite, "\n]\n", "\n\t{notify: [\"ops\"]},\n]\n", 1)
	for i := range 60 {
		site += fmt.Sprintf("hosts: n%02d: {parents: [\"sw1\"], services: load: check: dummy: {}}\n", i)
	}
	out, err := simulationOf(t, site, "-object sw1 -state down -at 2026-12-01T03:00 -for 1h -behind")
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for _, line := range tableLines(out) {
		if strings.Contains(line, " not ") {
			held++
		}
	}
	if held == 0 || held > 20 || !strings.Contains(out, " times until ") {
		t.Errorf("%d lines about what is kept back in\n%s", held, out)
	}
}

// A channel's limit that holds messages back for hours gives none up.
func TestAMessageThatWaitsForTheLimitIsStillTold(t *testing.T) {
	const site = `
defaults: {interval: "1m", retry: "20s", attempts: 1, host_check: dummy: {}}
hosts: web01: {}
contacts: ops: email: "ops@example.com"
policies: [{notify: ["ops"], group: by: "none", escalate: [{after: "5m", notify: ["ops"]}]}]
delivery: {deadline: "1m", rates: email: {messages: 1, per: "2h"}}
`
	out, err := simulationOf(t, site, "-object web01 -state down -at 2026-12-01T03:00 -for 10m -then ok")
	if err != nil || !strings.Contains(out, "; waited ") || strings.Contains(out, "given up") {
		t.Errorf("got %v\n%s", err, out)
	}
}

func TestWhatWouldBeGivenUpIsTold(t *testing.T) {
	at := object.At(time.Date(2026, 12, 1, 3, 0, 0, 0, time.UTC))
	e := rehearse.Entry{Time: at, Object: "web01", Kind: "PROBLEM", Number: 1, State: object.Down, Contact: "ops", Told: true, Channel: "email", Abandoned: true}
	r := told{
		story: &rehearse.Story{Object: "web01", State: object.Down, At: at, For: time.Hour}, scene: &rehearse.Scene{}, zone: time.UTC,
		out: &rehearse.Outcome{Entries: []rehearse.Entry{e}, Abandoned: []rehearse.Message{{Time: at.Add(time.Minute), Contact: "ops", Channel: "email", Entries: []int{0}}}},
	}
	var out bytes.Buffer
	if err := r.table(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"not ops", "given up: 1m after it was decided", "0 messages to 0 contacts. 1 message would be given up."} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if j := r.json(); len(j.Abandoned) != 1 || !j.Verdicts[0].Abandoned || len(j.Messages) != 0 {
		t.Errorf("got %+v", j)
	}
}

// In a span in which the clocks are changed a time without its zone is two.
func TestASimulationTellsTheDoubledHourApart(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "site.cue")
	if err := os.WriteFile(path, []byte(simulatedSite), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args string) string {
		var out bytes.Buffer
		s := Simulation{Stdout: &out, Stderr: &out, Now: time.Date(2026, 10, 1, 10, 0, 0, 0, berlin)}
		if err := Simulate(strings.Fields("-config "+path+" -object sw1 -state down "+args), s); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	night := run("-at 2026-10-25T01:30 -for 3h")
	for _, want := range []string{"01:30:00 CEST", "02:30:40 CEST", "02:30:40 CET", "which opens at 2026-10-26 10:00:00 CET"} {
		if !strings.Contains(night, want) {
			t.Errorf("no %q in\n%s", want, night)
		}
	}
	if day := run("-at 2026-10-12T01:30 -for 3h"); strings.Contains(day, "01:30:00 CEST  ") || strings.Contains(day, "UTC") || !strings.Contains(day, "which opens at 2026-10-12 11:00:00 CEST") {
		t.Errorf("a night without a change\n%s", day)
	}
}

func TestTimesOfASimulation(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	spring, autumn := time.Date(2026, 3, 28, 23, 0, 0, 0, berlin), time.Date(2026, 10, 24, 23, 0, 0, 0, berlin)
	for _, tt := range []struct {
		name, text string
		now        time.Time
		want       string // in UTC, or a part of the error
	}{
		{"a time that the clocks leave out", "2026-03-29T02:30", spring, "never show 02:30 on 2026-03-29"},
		{"and on the next day, unnamed", "02:30", spring, "never show 02:30"},
		{"before it", "2026-03-29T01:30", spring, "2026-03-29T00:30:00Z"},
		{"behind it", "03:00", spring, "2026-03-29T01:00:00Z"},
		{"an hour that comes twice is the first", "2026-10-25T02:30", autumn, "2026-10-25T00:30:00Z"},
		{"the second has an offset", "2026-10-25T02:30:00+01:00", autumn, "2026-10-25T01:30:00Z"},
		{"today", "23:30", autumn, "2026-10-24T21:30:00Z"},
		{"this very minute is that of tomorrow, as for all commands", "23:00", autumn, "2026-10-25T22:00:00Z"},
		{"now", "now", autumn, "2026-10-24T21:00:00Z"},
		{"tomorrow", "22:59", autumn, "2026-10-25T21:59:00Z"},
		{"a day", "2026-10-26", autumn, "2026-10-25T23:00:00Z"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at, err := client.ReadTime(tt.text, tt.now)
			got := at.UTC().Format(time.RFC3339)
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
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
		{"a state of services for a host", "-object sw1 -state critical", `"critical" is no state of a host; write down`},
		{"a state of hosts for a service", "-object web01!http -state down", `"down" is no state of a service; write warning, critical or unknown`},
		{"a state of services for a host at last", "-object sw1 -state down -then warning", `-then: "warning" is no state of a host; write ok or down`},
		{"well in other words", "-object web01!http -state ok", "give a state that is a problem"},
		{"a host that cannot be reached", "-object sw1 -state unreachable", "let a parent be down, with -behind"},
		{"no problem", "-object sw1 -state up", "give a state that is a problem"},
		{"a time that is none", "-object sw1 -state down -at never", "is no time; write 15:04"},
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
