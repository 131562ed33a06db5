package roles

import (
	"strings"
	"testing"
	"time"
)

// TestValues gives every kind of value what it takes and what it refuses; the
// refusal has to say what to write, because it is all that an operator sees.
func TestValues(t *testing.T) {
	var s string
	var d time.Duration
	var n int
	var b bool
	var words []string
	for _, c := range []struct {
		name   string
		parse  func(string) error
		takes  []string
		refuse map[string]string
	}{
		{"a text", text(&s), []string{"x", " ", "a b"}, map[string]string{"": "empty"}},
		{"a word of a set", oneOf(&s, "json", "text"), []string{"json", "text"}, map[string]string{
			"": "none of json, text", "JSON": "none of json, text", "jsn": "did you mean json?", "xml": "none of json, text",
		}},
		{"a duration", duration(&d), []string{"1ns", "10s", "1h30m", "0.5s"}, map[string]string{
			"": "not a duration", "10": "not a duration; write 10s or 1m", "1d": "not a duration", "0s": "not above zero", "-1s": "not above zero",
		}},
		{"a count", count(&n, 1, 50), []string{"1", "50", "+7"}, map[string]string{
			"": "from 1 to 50", "0": "from 1 to 50", "51": "from 1 to 50", "1.5": "from 1 to 50", "x": "from 1 to 50", "99999999999999999999": "from 1 to 50",
		}},
		{"an address", address(&s), []string{":8420", "127.0.0.1:0", "[::1]:8420", "host.example:65535"}, map[string]string{
			"": "write host:port", "8420": "write host:port", "host": "write host:port", "::1:80": "write host:port", "host:": `the port is ""`,
			"host:http": `the port is "http"`, "host:65536": "from 0 to 65535", "host:-1": "from 0 to 65535", "a b:80": `the host is "a b"`,
			"http://h:80": "write host:port", "u@h:80": `the host is "u@h"`,
		}},
		{"a server", server(&s, "memory", "embedded"), []string{"memory", "embedded", "nats://h", "nats://h:4222", "tls://u:p@h:4222", "nats://[::1]:4222"}, map[string]string{
			"": "none of memory, embedded, nats://host:port", "memry": "did you mean memory?", "h:4222": "none of", "http://h": "none of",
			"nats://": "a URL without a host; write nats://host:port", "tls://:4222": "write tls://host:port", "nats://h h": "none of",
		}},
		{"an id", identifier(&s), []string{"a", "web-1", "A_9", strings.Repeat("x", 128)}, map[string]string{
			"": "empty", "a.b": `because of '.'`, "a b": `because of ' '`, "a*": `because of '*'`, "é": `because of 'é'`, strings.Repeat("x", 129): "longer than 128",
		}},
		{"a list", list(&words, notEmpty), []string{"a", "a,b", " a , b "}, map[string]string{
			"": `the entry "" is empty`, "a,": `the entry "" is empty`, "a,,b": `the entry "" is empty`, "a,b,a": `"a" stands twice`, "a, a": `"a" stands twice`,
		}},
		{"a list that may be empty", orEmpty(list(&words, notEmpty)), []string{"", "a"}, map[string]string{",": `the entry "" is empty`}},
		{"a list of ids", list(&words, checkIdentifier), []string{"a,b"}, map[string]string{"a,b.c": `the entry "b.c" is not usable as an id`}},
		{"a switch", yes(&b), []string{"true", "false", "1", "0", "T"}, map[string]string{"": "neither true nor false", "yes": "neither true nor false"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, v := range c.takes {
				if err := c.parse(v); err != nil {
					t.Errorf("%q is refused: %v", v, err)
				}
			}
			for v, want := range c.refuse {
				if err := c.parse(v); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%q: %v, want %q", v, err, want)
				}
			}
		})
	}
}

// A refused value must not leave half of itself behind.
func TestRefusedValuesChangeNothing(t *testing.T) {
	s, d, n, words := "before", time.Minute, 7, []string{"before"}
	for _, err := range []error{
		text(&s)(""), oneOf(&s, "a")("b"), address(&s)("nowhere"), server(&s)("x"), identifier(&s)("a.b"),
		duration(&d)("-1s"), count(&n, 1, 5)("6"), list(&words, notEmpty)("a,a"),
	} {
		if err == nil {
			t.Error("a wrong value was taken")
		}
	}
	if s != "before" || d != time.Minute || n != 7 || len(words) != 1 || words[0] != "before" {
		t.Errorf("left behind: %q, %s, %d, %q", s, d, n, words)
	}
}

func TestHostIDsCanBeSubjects(t *testing.T) {
	for host, want := range map[string]string{
		"web-1.example.com": "web-1-example-com", "größe": "gr--e", "": "jaque", "...": "jaque", "a b": "a-b", "UPPER_9": "UPPER_9",
		strings.Repeat("h", 200): strings.Repeat("h", 128),
	} {
		got := HostID(host)
		if got != want {
			t.Errorf("%q became %q, want %q", host, got, want)
		}
		if err := checkIdentifier(got); err != nil {
			t.Errorf("%q is no id: %v", got, err)
		}
	}
}

// TestFormsOfFlags writes one flag in each way that a command line can.
func TestFormsOfFlags(t *testing.T) {
	for args, want := range map[string]string{
		"-config site -listen 127.0.0.1:1":                     "127.0.0.1:1",
		"-config site --listen 127.0.0.1:1":                    "127.0.0.1:1",
		"-config site -listen=127.0.0.1:1":                     "127.0.0.1:1",
		"--config=site --listen=127.0.0.1:1":                   "127.0.0.1:1",
		"-config site -listen 127.0.0.1:9 -listen 127.0.0.1:1": "127.0.0.1:1",
		"-listen 127.0.0.1:1 -target all -config site":         "127.0.0.1:1",
		"-config site": DefaultListen,
	} {
		s, err := Parse(strings.Fields(args), world(nil))
		if err != nil || s.Listen != want || s.Config != "site" {
			t.Errorf("%s: %q, %q, %v", args, s.Listen, s.Config, err)
		}
	}
	for args, want := range map[string]string{
		"-config site ---listen=x": `unexpected argument "---listen=x"`,
		"-config site -":           `unexpected argument "-"`,
		"-config site --":          `unexpected argument "--"`,
		"-config site -listen=":    "-listen: \"\" is not an address",
		"-config= ":                "-config: \"\" is empty",
		"-config site -listen":     "-listen needs a value: -listen HOST:PORT",
	} {
		if _, err := Parse(strings.Fields(args), world(nil)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

// TestUsageErrors counts what is wrong and says where to read on.
func TestUsageErrors(t *testing.T) {
	one, two := &UsageError{[]string{"a"}}, &UsageError{[]string{"a", "b"}}
	if got := one.Error(); got != "a\nrun \"jaque help\" for the flags of each role" {
		t.Errorf("%q", got)
	}
	if got := two.Error(); got != "a\nb\n2 problems; run \"jaque help\" for the flags of each role" {
		t.Errorf("%q", got)
	}
	for word, want := range map[string]string{
		"chek-config": "did you mean check-config?", "demos": "did you mean demo?", "verison": "did you mean version?", "zzz": "or flags for a role",
	} {
		if err := UnknownCommand(word); !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"`+word+`"`) {
			t.Errorf("%s: %v", word, err)
		}
	}
}

// TestSecretsComeFromFiles gives a secret's file in each state.
func TestSecretsComeFromFiles(t *testing.T) {
	for _, f := range Flags() {
		if !f.Secret {
			continue
		}
		var role Name
		for _, r := range []Name{All, Engine, Worker, UI, Sink, Notifier} {
			if _, refused := f.Refused[r]; !refused {
				role = r
				break
			}
		}
		_, err := Parse([]string{"-target", string(role), "-" + f.Name + "-file", "gone"}, world(nil))
		if err == nil || !strings.Contains(err.Error(), "-"+f.Name+"-file: open gone: no such file") {
			t.Errorf("%s of %s: %v", f.Name, role, err)
		}
		_, err = Parse([]string{"-target", string(role), "-" + f.Name + "-file", "token", "-" + f.Name, "x"}, world(nil))
		if err == nil || !strings.Contains(err.Error(), "name the same secret: give only one") {
			t.Errorf("%s of %s: %v", f.Name, role, err)
		}
	}
}
