package roles

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/listen"
)

// answerOf asks a process for a page of its health.
func answerOf(t *testing.T, address, path string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Timeout: 10 * time.Second}).Do(r)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := io.ReadAll(resp.Body)
	return fmt.Sprint(resp.StatusCode, " ", strings.TrimSpace(string(text)))
}

// Whoever needs the log may be started before the engine that makes it.
func TestAProcessWaitsForTheLogAndSaysSo(t *testing.T) {
	n := freshServer(t)
	path := folder(t, shop+"sinks: numbers: {input: \"metrics\", file: {path: \"numbers.jsonl\"}}\n")
	type process struct {
		role    string
		address string
		stop    context.CancelFunc
		ended   chan error
	}
	var all []process
	for _, role := range []string{"ui", "sink", "notifier", "ui"} {
		l, err := listen.Open(t.Context(), "127.0.0.1:0", "-listen", quiet())
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		p := process{role, l.Addr(), stop, make(chan error, 1)}
		s := exitSettings(t, fmt.Sprintf("-target %s -config %s -eventlog %s", role, path, n.ClientURL()))
		go func() { p.ended <- Run(ctx, s, Process{Logger: quiet(), Listener: l}) }()
		all = append(all, p)
	}
	until := func(p process, path, want string) {
		t.Helper()
		got := ""
		for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			if got = answerOf(t, p.address, path); got == want {
				return
			}
		}
		t.Errorf("%s of the %s: %q, want %q", path, p.role, got, want)
	}
	for _, p := range all {
		until(p, "/readyz", "503 not ready: waiting for an engine to make the log")
		until(p, "/livez", "200 ok")
	}
	early := all[3]
	early.stop()
	if err := <-early.ended; err != nil {
		t.Errorf("one that is stopped while it waits ends with %v", err)
	}
	b, err := bus.Open(t.Context(), bus.Options{URL: n.ClientURL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	for _, p := range all[:3] {
		if p.role == "notifier" {
			until(p, "/livez", "200 ok") // an engine has yet to leave the delivery to it
		} else {
			until(p, "/readyz", "200 ok")
		}
		p.stop()
		if err := <-p.ended; err != nil {
			t.Errorf("the %s ends with %v", p.role, err)
		}
	}
}

// Only who executes a plugin says that it is missing.
func TestMissingPluginsAreSaidByWhoNeedsThem(t *testing.T) {
	path := folder(t, `package site
hosts: web01: {check: plugin: ["/no/check"], event_handler: plugin: ["/no/handler"]}
`)
	for _, c := range []struct {
		role, queue, want string // want: which plugins are warned of
	}{
		{"all", "", "check handler"},
		{"engine", "memory", "check handler"},
		{"engine", "nats://h:4222", "handler"},
		{"notifier", "", "handler"},
		{"ui", "", ""},
		{"sink", "", ""},
	} {
		a := &appliance{s: Settings{Role: Role{Name: Name(c.role)}, Queue: c.queue}}
		loaded, problems := config.Load(path, a.configOptions())
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		var got []string
		for _, name := range []string{"check", "handler"} {
			for _, w := range loaded.Warnings {
				if strings.Contains(w.String(), "/no/"+name) {
					got = append(got, name)
				}
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s with queue %q warns of %q, want %q", c.role, c.queue, text, c.want)
		}
	}
}
