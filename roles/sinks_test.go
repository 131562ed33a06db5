package roles

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/config"
)

const twoSinks = `package site

hosts: h: check: dummy: state: "UP"
sinks: numbers: {input: "metrics", file: {path: "numbers.jsonl"}}
sinks: others: {input: "metrics", file: {path: "others.jsonl"}}
`

// S052, S053, S054, S055: which sinks a process of role sink runs, and which it refuses.
func TestWhichSinksAProcessMayRun(t *testing.T) {
	audit := "sinks: audit: {input: \"events\", file: {path: \"audit.jsonl\"}}\n"
	for _, c := range []struct {
		name, config, sinks string
		runs                string
		says                []string
	}{
		{"without a selection all of them run", twoSinks, "", "numbers others", nil},
		{"a selected one runs alone", twoSinks, "others", "others", nil},
		{"a name that nobody declares is refused", twoSinks, "number,others", "", []string{`declares no sink "number"; did you mean numbers?`}},
		{"a sink of events is refused without a selection", twoSinks + audit, "", "", []string{`sink audit has input: "events", which -target sink does not run`}},
		{"a sink of events is refused when it is selected", twoSinks + audit, "numbers,audit", "", []string{"sink audit has"}},
		{"a sink of events that is not selected never runs", twoSinks + audit, "numbers", "numbers", nil},
		{"everything wrong is told at once", twoSinks + audit, "audit,x", "", []string{"sink audit has", `no sink "x"; it declares`}},
		{"a config without sinks is only odd", shop, "", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			role, _ := Find(Sink)
			a := &appliance{p: Process{Logger: quiet()}, s: Settings{Role: role, Config: folder(t, c.config)}}
			if c.sinks != "" {
				a.s.Sinks = strings.Split(c.sinks, ",")
			}
			var problems config.Problems
			if a.config, problems = config.Load(a.s.Config, config.Options{}); len(problems) > 0 {
				t.Fatal(problems)
			}
			err := a.chooseSinks(t.Context())
			var usage *UsageError
			if (len(c.says) > 0) != errors.As(err, &usage) {
				t.Fatalf("got error %v", err)
			}
			for _, want := range c.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got:\n%v\nwant %q in it", err, want)
				}
			}
			if got := strings.Join(sortedNames(a.sinksOf(a.config)), " "); err == nil && got != c.runs {
				t.Errorf("it runs %q, want %q", got, c.runs)
			}
		})
	}
}

// holds waits until a file holds a text.
func holds(t *testing.T, path, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		data, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(data), text) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s never held %q: %v\n%s", path, text, err, data)
		}
	}
}

// S009: all runs sinks of both inputs, and a reload adds, removes and changes them.
func TestSinksFollowTheConfig(t *testing.T) {
	const declared = "sinks: numbers: {input: \"metrics\", wait: \"10ms\", file: {path: %q}}\nsinks: audit: {input: \"events\", file: {path: \"audit.jsonl\", wait: \"10ms\"}}\n"
	write := func(path, file string) {
		text := shop + strings.ReplaceAll(fmt.Sprintf(declared, file), `"metrics", wait: "10ms", file: {`, `"metrics", file: {wait: "10ms", `)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := folder(t, shop)
	dir := filepath.Dir(path)
	write(path, "numbers.jsonl")
	x := startAll(t, path)
	submit := func(value int) {
		body := fmt.Sprintf(`{"command":"submit-result","object":"web01!door","state":"OK","output":"open","perfdata":"angle=%d"}`, value)
		if code, text := x.call(http.MethodPost, "/api/v1/commands", body); code/100 != 2 {
			t.Fatalf("a result: %d %s", code, text)
		}
	}
	x.until("/metrics", `jaque_sink_running{sink="numbers"} 1`)
	x.until("/metrics", `jaque_sink_running{sink="audit"} 1`)
	submit(11)
	holds(t, filepath.Join(dir, "numbers.jsonl"), `"value":11`)
	holds(t, filepath.Join(dir, "audit.jsonl"), `"object":"web01!`)
	write(path, "moved.jsonl")
	loaded := func() string {
		_, page := x.call(http.MethodGet, "/metrics", "")
		_, line, _ := strings.Cut(page, "\njaque_config_last_reload_success_timestamp_seconds ")
		line, _, _ = strings.Cut(line, "\n")
		return line
	}
	before := loaded()
	x.reload <- struct{}{}
	for end := time.Now().Add(20 * time.Second); loaded() == before; {
		if time.Now().After(end) {
			t.Fatal("the config is not loaded again")
		}
	}
	submit(12)
	holds(t, filepath.Join(dir, "moved.jsonl"), `"value":12`)
	if err := os.WriteFile(path, []byte(shop), 0o600); err != nil {
		t.Fatal(err)
	}
	x.reload <- struct{}{}
	for end := time.Now().Add(10 * time.Second); ; {
		_, page := x.call(http.MethodGet, "/metrics", "")
		if !strings.Contains(page, "jaque_sink_running{") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("sinks that are not declared any more still run")
		}
	}
	if err := x.stop(); err != nil {
		t.Error(err)
	}
}
