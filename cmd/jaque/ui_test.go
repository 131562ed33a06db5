package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sent posts a command that must be taken and returns where its state is told.
func (r *running) sent(body string) string {
	r.t.Helper()
	status, text := r.post("/api/v1/commands", body)
	var a struct {
		ID      string
		Results []struct{ Outcome string }
	}
	if err := json.Unmarshal([]byte(text), &a); err != nil || status != http.StatusAccepted || len(a.Results) == 0 || a.Results[0].Outcome != "submitted" {
		r.t.Fatalf("the command is answered with %d %s, want 202 and that it is submitted", status, text)
	}
	return "/api/v1/commands/" + a.ID
}

const shown = `package site

hosts: a: {check: dummy: state: "UP"}
services: s: {on: {}, interval: "1s", retry: "1s", attempts: 1, check: dummy: {state: "WARNING", text: "round"}}
`

// S026, S028, S036, S037, S038, S152: a ui shows what the log says, hands commands to the
// engines and ignores SIGHUP.
func TestAUIHandsCommandsToTheEngines(t *testing.T) {
	t.Parallel()
	x := &split{t: t, nats: startNATS(t), dir: t.TempDir(), site: site(t, shown)}
	url := x.nats.ClientURL()
	start := func() {
		x.engine = launch(t, "-config", x.site, "-eventlog", url, "-coordination", url, "-engine-id", "e1")
	}
	start()
	x.engine.until("/readyz", "ok")
	ui := launch(t, "-target", "ui", "-config", x.site, "-eventlog", url, "-coordination", url)
	reader := launch(t, "-target", "ui", "-config", x.site, "-eventlog", url)
	for _, r := range []*running{ui, reader} {
		r.until("/readyz", "ok")
		r.until("/api/v1/services/a/s", "round")
	}
	ack := `{"command":"acknowledge","object":"a!s","author":"ann","comment":"seen by ann"}`
	ui.until(ui.sent(ack), `"state":"applied"`)
	ui.until("/api/v1/services/a/s", "seen by ann")
	ui.until(ui.sent(`{"command":"check-now","object":"a!s","author":"ann"}`), `"state":"applied"`)
	ui.until(ui.sent(`{"command":"remove-acknowledgement","object":"a!s","author":"ann"}`), `"state":"applied"`)

	refused := ui.sent(`{"command":"acknowledge","object":"a","author":"ann","comment":"it is up"}`)
	ui.until(refused, `"state":"refused"`)
	reader.until("/api/v1/events?kind=command.rejected", strings.TrimPrefix(refused, "/api/v1/commands/"))

	if status, text := reader.post("/api/v1/commands", ack); status != http.StatusServiceUnavailable || !strings.Contains(text, "-coordination") {
		t.Errorf("a ui without -coordination answers %d %s, want 503 and what to do", status, text)
	}
	ui.signal(syscall.SIGHUP)
	ui.await("SIGHUP is ignored in this role: start it again to read the config anew")
	if _, text := ui.get("/api/v1/status"); strings.Contains(text, `"role":"all"`) {
		t.Errorf("the ui says that it is %s", text)
	}

	x.engine.signal(syscall.SIGTERM)
	if code := x.engine.end(); code != 0 {
		t.Errorf("the engine ended with %d", code)
	}
	if status, text := ui.post("/api/v1/commands", ack); status != http.StatusServiceUnavailable || !strings.Contains(text, "no engine takes commands") {
		t.Errorf("without an engine: %d %s, want 503 that no engine takes commands", status, text)
	}
	x.nats.restart()
	start()
	x.engine.until("/readyz", "ok")
	ui.until("/readyz", "ok")
	ui.until(ui.sent(`{"command":"add-comment","object":"a","author":"ann","comment":"after the restart"}`), `"state":"applied"`)
	ui.until("/api/v1/comments", "after the restart")
	x.nats.stop()
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if status, _ := ui.get("/readyz"); status == http.StatusServiceUnavailable {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the ui is ready although the log cannot be reached")
		}
	}
	ui.signal(syscall.SIGTERM)
	if code := ui.end(); code != 0 {
		t.Errorf("the ui ended with %d\n%s", code, ui.log())
	}
}
