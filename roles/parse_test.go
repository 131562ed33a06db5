package roles

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the pages in docs/reference instead of comparing them")

// world is a machine called web-1.example with the given variables.
func world(vars map[string]string) Environment {
	return Environment{
		Host: "web-1.example",
		Lookup: func(name string) (string, bool) {
			v, ok := vars[name]
			return v, ok
		},
		ReadFile: func(name string) ([]byte, error) {
			switch name {
			case "token", "x":
				return []byte("s3cret\n"), nil
			case "empty":
				return []byte("\n"), nil
			}
			return nil, fmt.Errorf("open %s: no such file", name)
		},
	}
}

func TestWrongCommandLinesSayWhatToWriteInstead(t *testing.T) {
	const all = "-config site "
	cases := map[string]struct {
		args string
		vars map[string]string
		want []string
	}{
		"an unknown flag with a near one": {
			all + "-evntlog memory", nil,
			[]string{"there is no flag -evntlog; did you mean -eventlog?"},
		},
		"an unknown flag with nothing near": {all + "--frobnicate=1", nil, []string{"there is no flag -frobnicate"}},
		"all unknown flags at once": {
			"-confg site -listn :80", nil,
			[]string{
				"there is no flag -confg; did you mean -config?", "there is no flag -listn; did you mean -listen?",
				"role all requires -config: it declares what is monitored",
			},
		},
		// S003
		"an unknown role": {"-target enginee", nil, []string{
			`-target: "enginee" is no role; the roles are all, engine, worker, ui, sink, notifier; did you mean engine?`,
		}},
		"an unknown role from the environment": {"", map[string]string{"JAQUE_TARGET": "x"}, []string{
			`JAQUE_TARGET: "x" is no role; the roles are all, engine, worker, ui, sink, notifier`,
		}},
		"an argument without a flag": {
			all + "site.cue", nil,
			[]string{`unexpected argument "site.cue": every value follows a flag, as in -config site.cue`},
		},
		"a flag without its value": {
			"-config", nil,
			[]string{"-config needs a value: -config PATH", "role all requires -config: it declares what is monitored"},
		},
		"every refused flag at once": {all + "-queue memory -notifier-id n -zones default", nil, []string{
			"role all refuses -queue: there is no second process to dispatch to",
			"role all refuses -notifier-id: there is no separate notifier to name",
			"role all refuses -zones: every zone runs in this process",
		}},
		"a refused flag that came from the environment": {all, map[string]string{"JAQUE_QUEUE": "memory"}, []string{
			"role all refuses -queue (set by JAQUE_QUEUE): there is no second process to dispatch to",
		}},
		"a refused flag with an empty value": {
			all + "-queue=", nil,
			[]string{"role all refuses -queue: there is no second process to dispatch to"},
		},
		"both required flags missing": {"-target engine", nil, []string{
			"role engine requires -config: it declares what is monitored",
			"role engine requires -queue: an engine never runs a check itself, it publishes each to a queue",
		}},
		"the notifier deciding about itself": {
			"-target notifier -config s -eventlog nats://h:1 -notify-delivery local", nil, []string{
				"role notifier refuses -notify-delivery: a notifier is the delivery target and has nothing to decide",
			},
		},
		"a duration without a unit": {
			all + "-heartbeat-ttl 5", nil,
			[]string{`-heartbeat-ttl: "5" is not a duration; write 10s or 1m`},
		},
		"a duration of nothing": {
			all + "-heartbeat-ttl 0s", nil,
			[]string{`-heartbeat-ttl: "0s" is not above zero; write 10s or 1m`},
		},
		"an address without a port": {all + "-listen localhost", nil, []string{
			`-listen: "localhost" is not an address; write host:port, for example 127.0.0.1:8420 or [::1]:8420`,
		}},
		"a port that is too high": {all + "-listen :70000", nil, []string{
			`-listen: ":70000" is not an address: the port is "70000"; write a number from 0 to 65535`,
		}},
		"a URL as an address": {all + "-listen http://x:80", nil, []string{
			`-listen: "http://x:80" is not an address; write host:port, for example 127.0.0.1:8420 or [::1]:8420`,
		}},
		"an event log of another kind": {all + "-eventlog kafka://x", nil, []string{
			`-eventlog: "kafka://x" is none of embedded, memory, nats://host:port, tls://host:port`,
		}},
		"a misspelt event log": {all + "-eventlog embeded", nil, []string{
			`-eventlog: "embeded" is none of embedded, memory, nats://host:port, tls://host:port; did you mean embedded?`,
		}},
		"an event log without a host": {
			all + "-eventlog nats://", nil,
			[]string{`-eventlog: "nats://" is a URL without a host; write nats://host:port`},
		},
		"a ui with a log of its own": {"-target ui -config s -eventlog embedded", nil, []string{
			`-eventlog: role ui cannot use "embedded": it embeds no server; write nats://host:port`,
		}},
		"a ui that embeds coordination": {"-target ui -config s -eventlog nats://h:1 -coordination embedded", nil, []string{
			`-coordination: role ui cannot use "embedded": it embeds no server; write nats://host:port`,
		}},
		"a worker alone with its queue": {"-target worker -queue memory", nil, []string{
			`-queue: role worker cannot use "memory": no engine in another process can reach it; write nats://host:port`,
		}},
		"an id with a dot": {all + "-engine-id a.b", nil, []string{
			`-engine-id: "a.b" is not usable as an id because of '.'; write letters, digits, - and _`,
		}},
		"an empty id": {all + "-engine-id=", nil, []string{`-engine-id: "" is empty`}},
		"a zone that stands twice": {
			"-target worker -queue nats://h:1 -zones a,a", nil,
			[]string{`-zones: "a,a" is not a list of different things: "a" stands twice`},
		},
		"an empty zone": {
			"-target worker -queue nats://h:1 -zones a,", nil,
			[]string{`-zones: "a," is not a list: the entry "" is empty`},
		},
		"no deliveries at all": {
			all + "-notify-workers 0", nil,
			[]string{`-notify-workers: "0" is not a whole number from 1 to 1000`},
		},
		"an unknown log level": {
			all + "-log-level warning", nil,
			[]string{`-log-level: "warning" is none of debug, info, warn, error; did you mean warn?`},
		},
		"a secret given twice": {
			all + "-api-token a -api-token-file token", nil,
			[]string{"-api-token and -api-token-file name the same secret: give only one"},
		},
		"a secret's file that is not there": {
			all + "-api-token-file gone", nil,
			[]string{"-api-token-file: open gone: no such file"},
		},
		"a secret's file with nothing in it": {
			all + "-api-token-file empty", nil,
			[]string{"-api-token-file: the content of empty is empty"},
		},
		"an empty secret, which is not shown": {all + "-api-token=", nil, []string{"-api-token: its value is empty"}},
		"a certificate without its key": {
			all + "-nats-tls-cert c", nil,
			[]string{"-nats-tls-cert and -nats-tls-key belong together: give both or none"},
		},
		"a switch that is neither on nor off": {
			"-version=perhaps", nil,
			[]string{"role all requires -config: it declares what is monitored", `-version: "perhaps" is neither true nor false`},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(strings.Fields(c.args), world(c.vars))
			if got := problemsOf(err); !slices.Equal(got, c.want) {
				t.Fatalf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
			}
		})
	}
}

// S004, S041, S097, S102
func TestDefaultsAreThoseOfTheContract(t *testing.T) {
	s, err := Parse([]string{"-config", "site"}, world(map[string]string{"HOME": "/home/a"}))
	if err != nil {
		t.Fatal(err)
	}
	want := Settings{
		Config: "site", Data: "/home/a/.local/state/jaque", Listen: "127.0.0.1:8420",
		EventLog: "embedded", Coordination: "memory", HeartbeatTTL: 10 * time.Second, Host: "web-1-example", EngineID: "web-1-example",
		Zones: []string{"default"}, LogLevel: "info", LogFormat: "text",
	}
	want.Role, _ = Find(All)
	want.Notify = Notify{Delivery: "local", Workers: 8, Queue: 1000, SMTPPort: 587, SMTPTLS: "starttls"}
	if !reflect.DeepEqual(s, want) {
		t.Fatalf("got\n%+v\nwant\n%+v", s, want)
	}
	s, err = Parse(strings.Fields("-target sink -config c -eventlog nats://h:1"), world(nil))
	if err != nil || s.SinkID != "web-1-example" || s.EngineID != "" || s.Data != "" || s.Sinks != nil {
		t.Fatalf("sink: %+v, %v", s, err)
	}
}

func TestTheFlagWinsOverItsEnvironmentTwin(t *testing.T) {
	vars := map[string]string{"JAQUE_CONFIG": "env", "JAQUE_LISTEN": ":1", "JAQUE_API_TOKEN": "env"}
	s, err := Parse(strings.Fields("--config=flag --api-token-file token"), world(vars))
	if err != nil {
		t.Fatal(err)
	}
	if s.Config != "flag" || s.Listen != ":1" || s.APIToken != "s3cret" {
		t.Fatalf("config %q, listen %q, token %q", s.Config, s.Listen, s.APIToken)
	}
}

func TestASecretComesInFourForms(t *testing.T) {
	forms := map[string]struct {
		args string
		vars map[string]string
	}{
		"the flag":                 {"-api-token s3cret", nil},
		"the flag's file":          {"-api-token-file token", nil},
		"the environment":          {"", map[string]string{"JAQUE_API_TOKEN": "s3cret"}},
		"the environment's file":   {"", map[string]string{"JAQUE_API_TOKEN_FILE": "token"}},
		"a flag over both of them": {"-api-token s3cret", map[string]string{"JAQUE_API_TOKEN_FILE": "gone"}},
	}
	for name, c := range forms {
		t.Run(name, func(t *testing.T) {
			s, err := Parse(append(strings.Fields(c.args), "-config", "x"), world(c.vars))
			if err != nil || s.APIToken != "s3cret" {
				t.Fatalf("got %q, %v", s.APIToken, err)
			}
		})
	}
}

func TestVersionAndHelpNeedNothingElse(t *testing.T) {
	for _, args := range []string{"-version", "--help", "-h", "-help -target ui", "-target worker -config x -h"} {
		s, err := Parse(strings.Fields(args), world(map[string]string{"JAQUE_QUEUE": "x"}))
		if err != nil || !s.Help && !s.Version {
			t.Errorf("%s: %+v, %v", args, s, err)
		}
	}
	if s, _ := Parse([]string{"-help", "-target", "ui"}, world(nil)); s.Role.Name != UI {
		t.Errorf("help of ui is about %q", s.Role.Name)
	}
}

func TestTheDataFolderFollowsTheMachine(t *testing.T) {
	cases := map[string]struct {
		root bool
		vars map[string]string
		want string
	}{
		"root":                          {true, map[string]string{"HOME": "/root"}, "/var/lib/jaque"},
		"a user with a state folder":    {false, map[string]string{"XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/jaque"},
		"a relative state folder":       {false, map[string]string{"XDG_STATE_HOME": "s", "HOME": "/h"}, "/h/.local/state/jaque"},
		"a user without one":            {false, map[string]string{"HOME": "/h"}, "/h/.local/state/jaque"},
		"a unit with a state directory": {true, map[string]string{"STATE_DIRECTORY": "/var/lib/x:/y"}, "/var/lib/x"},
		"nobody":                        {false, nil, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := world(c.vars)
			e.Root = c.root
			if got := DefaultData(e); got != c.want {
				t.Fatalf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAnEngineWithAQueueInMemoryIsWarned(t *testing.T) { // O7
	s, err := Parse(strings.Fields("-target engine -config c -queue memory"), world(nil))
	if err != nil || len(s.Warnings) != 1 {
		t.Fatalf("got %v, %v", s.Warnings, err)
	}
}

func TestAHostNameBecomesAnID(t *testing.T) {
	for host, want := range map[string]string{
		"a.b.c": "a-b-c", "web01": "web01", "": "jaque", "...": "jaque",
		"ö": "jaque", strings.Repeat("a", 200): strings.Repeat("a", 128),
	} {
		if got := HostID(host); got != want || checkIdentifier(got) != nil {
			t.Errorf("%q becomes %q, want %q", host, got, want)
		}
	}
}

func TestTheReferencePagesAreUpToDate(t *testing.T) { // S006
	for page, want := range map[string]string{
		"../docs/reference/flags.md": flagReference(), "../docs/reference/roles.md": roleReference(),
	} {
		if *update {
			if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(page); err != nil || string(got) != want {
			t.Errorf("%s differs from the table (%v); run: go test ./roles -update", page, err)
		}
	}
}

func TestHelpShowsTheFlagsOfARole(t *testing.T) {
	for _, r := range Roles() {
		help := Help(r)
		for _, f := range Flags() {
			shown := strings.Contains(help, "\n  -"+f.Name+" ") || strings.Contains(help, "\n  -"+f.Name+"\n")
			if shown != (f.Cell(r.Name) != "F") {
				t.Errorf("help of %s shows -%s: %v", r.Name, f.Name, shown)
			}
		}
	}
	if all := Help(Role{}); !strings.Contains(all, "-queue") || !strings.Contains(all, "notifier  follows") {
		t.Errorf("help lacks flags or roles:\n%s", all)
	}
}

// Whatever stands on the line, Parse returns settings or problems, and a secret
// never appears in a message.
func TestNoCommandLineBreaksTheParser(t *testing.T) {
	words := []string{"-", "--", "=", "-=", "---x", "-config", "-config=", "x", "-h=1", "-help=2", ""}
	for _, f := range Flags() {
		words = append(words, "-"+f.Name, "-"+f.Name+"=verysecret.", "-"+f.Name+"=x")
	}
	rapid.Check(t, func(r *rapid.T) {
		args := rapid.SliceOfN(rapid.SampledFrom(words), 0, 8).Draw(r, "args")
		s, err := Parse(args, world(nil))
		if err != nil && len(problemsOf(err)) == 0 {
			r.Fatalf("an error without a problem: %v", err)
		}
		if err == nil && s.Role.Name == "" && !s.Help && !s.Version {
			r.Fatalf("neither error nor role: %+v", s)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("-config site")
	f.Add("-target worker\n-queue\nnats://[::1]:4222\n-zones\na,b")
	f.Add("--listen=[::1]:0\n-heartbeat-ttl=1h")
	f.Fuzz(func(t *testing.T, line string) {
		if _, err := Parse(strings.Split(line, "\n"), world(nil)); err != nil && len(problemsOf(err)) == 0 {
			t.Fatalf("%q: an error without a problem: %v", line, err)
		}
	})
}

func TestDidYouMeanFindsNearWordsOnly(t *testing.T) {
	words := []string{"all", "engine", "worker", "notifier"}
	for got, want := range map[string]string{
		"engin": "engine", "worekr": "worker", "zzz": "", "": "", "al": "all",
		"notifyer": "notifier", "reverse": "",
	} {
		hint := didYouMean(got, words)
		if want == "" && hint != "" || want != "" && hint != "; did you mean "+want+"?" {
			t.Errorf("%q: got %q, want %q", got, hint, want)
		}
	}
}
