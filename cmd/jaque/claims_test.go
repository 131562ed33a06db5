package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/ingress"
	"jaque.sh/jaque/appliance/rule/operate"
)

// S136, S142 to S145: commands of a ui reach one of three engines each, go to the owners of
// their objects and are done once, also those that are submitted twice.
func TestThreeEnginesShareTheCommandsOfAUI(t *testing.T) {
	t.Parallel()
	const commands = 60
	x := newTwins(t, commands)
	x.start("e3")
	for _, r := range x.engines {
		r.until("/metrics", "\njaque_engine_members 3\n")
	}
	url := x.nats.ClientURL()
	ui := launch(t, "-target", "ui", "-config", x.site, "-eventlog", url, "-coordination", url, "-log-level", "info")
	ui.until("/readyz", "ok")
	ui.until("/api/v1/status", "e3") // it has read that the last one joined
	watcher := x.nats.connect()
	heard, err := watcher.SubscribeSync("jaque.>")
	if err != nil || heard.SetPendingLimits(-1, -1) != nil || watcher.Flush() != nil {
		t.Fatal(err)
	}
	var states []string
	for i := range commands {
		states = append(states, ui.sent(fmt.Sprintf(`{"command":"add-comment","object":"h%d!s","author":"ann","comment":"number %d"}`, i, i)))
	}
	for _, state := range states {
		ui.until(state, `"state":"applied"`)
	}
	x.total(`jaque_ingress_received_total{outcome="claimed"}`, commands)
	x.onceEach(commands)

	// Whoever may publish there has commands done; one that comes twice is done once.
	nc := x.nats.connect()
	id := ingress.NewID()
	data, err := ingress.Encode(&ingress.Command{ID: id, Actions: []operate.Action{{Object: "h0!s", Command: fold.AddComment{Author: "eve", Text: "twice"}}}})
	if err != nil {
		t.Fatal(err)
	}
	for range 6 { // some engine has it twice, and some two have it
		if m, err := nc.Request(ingress.Subject(""), data, patience); err != nil || !strings.Contains(string(m.Data), "claimed") {
			t.Fatalf("%v, %v", m, err)
		}
	}
	ui.until("/api/v1/comments?object=h0!s", "twice")
	time.Sleep(300 * time.Millisecond) // those behind the first do nothing that could be waited for
	if _, text := ui.get("/api/v1/comments?object=h0!s"); strings.Count(text, `"twice"`) != 1 {
		t.Errorf("a command that was submitted six times left %s", text)
	}
	for _, r := range x.engines {
		if _, text := r.post("/api/v1/commands", `{"command":"add-comment","object":"h0!s","author":"ann","comment":"goes on"}`); !strings.Contains(text, `"done"`) {
			t.Errorf("the next command is answered with %s", text)
		}
	}
	x.audit(heard)
}

// total demands the sum of a metric over all engines.
func (x *twins) total(name string, want float64) {
	x.t.Helper()
	sum := 0.0
	for _, r := range x.engines {
		sum += gauge(x.t, r, name)
	}
	if sum != want {
		x.t.Errorf("%s is %v in all, want %v", name, sum, want)
	}
}

// onceEach demands one comment on the log for each of the commands.
func (x *twins) onceEach(commands int) {
	x.t.Helper()
	for i := range commands {
		subject := "jaque.log." + object.ID(fmt.Sprintf("h%d!s", i)).Token()
		m, err := x.stream.GetLastMsgForSubject(x.t.Context(), subject)
		if err != nil || !strings.Contains(string(m.Data), fmt.Sprintf(`"number %d"`, i)) || m.Header.Get("Nats-Expected-Last-Subject-Sequence") != "0" {
			x.t.Errorf("h%d!s: the first event about it is not the comment, or not the last one: %v", i, err)
		}
	}
}

// audit demands that commands went over the subjects of the contract and no others.
func (x *twins) audit(heard *nats.Subscription) {
	x.t.Helper()
	count := map[string]int{}
	for m, err := heard.NextMsg(100 * time.Millisecond); err == nil; m, err = heard.NextMsg(100 * time.Millisecond) {
		root := strings.Join(strings.Split(m.Subject, ".")[:2], ".")
		if root == "jaque.cmd" || m.Subject == ingress.Subject("") {
			root = m.Subject
		}
		count[root]++
	}
	for _, subject := range []string{"jaque.cmd.e1", "jaque.cmd.e2", "jaque.cmd.e3", ingress.Subject("")} {
		if count[subject] == 0 {
			x.t.Errorf("nothing went over %s", subject)
		}
	}
	x.t.Logf("messages by subject: %v", count)
}
