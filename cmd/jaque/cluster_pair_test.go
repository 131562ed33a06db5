package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"jaque.sh/jaque/appliance/audit"
	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/listen/listentest"
)

// Two members without a witness: when one is killed, the other writes nothing more, says
// so and ends; started again it waits. When both run they go on by themselves, with one
// log.
func TestTwoMembersWithoutAWitnessStopTogetherAndGoOnTogether(t *testing.T) {
	if testing.Short() {
		t.Skip("starts two members and kills one")
	}
	t.Parallel()
	x := founded(t)
	x.join("b")
	x.until("two engines", func() bool { r := x.status("a"); return shared(r, "a", "b") && whole(r, 2) })
	x.kill("b")
	a := x.members["a"]
	x.until("a says what is missing", func() bool {
		r := x.status("a")
		return r != nil && !r.Quorum && strings.Contains(strings.Join(r.Trouble, " "), "no quorum: 1 of 2 members") &&
			strings.Contains(strings.Join(r.Outlook, " "), "nothing is written at present")
	})
	x.until("a is not ready", func() bool {
		res, err := http.Get(a.url + "/readyz")
		if err != nil {
			return a.over() // on a busy machine its time is over before anybody has asked
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		return res.StatusCode == http.StatusServiceUnavailable && strings.Contains(string(text), "not ready: the cluster site has no quorum: 1 of 2 members can be reached, b cannot")
	})
	if code, text := remark(a, "lost-1"); code == http.StatusAccepted && strings.Contains(text, `"done"`) {
		t.Errorf("a alone answers a command with %d %s", code, text)
	}
	if code := a.end(); code != 1 || !strings.Contains(a.log(), "no heartbeat succeeded for "+memberTTL+": the cluster site has no quorum: 1 of 2 members can be reached, b cannot") {
		t.Errorf("a ended with %d:\n%s", code, a.log())
	}
	address := listentest.Address(t) // one that waits does not say where it listens
	a = spawn(t, "-config", x.config, "-data", x.data["a"], "-heartbeat-ttl", memberTTL, "-listen", address)
	a.url = "http://" + address
	x.members["a"] = a
	x.until("a serves again", func() bool {
		c, err := net.Dial("tcp", address)
		return err == nil && c.Close() == nil
	})
	x.until("a says for whom it waits", func() bool {
		code, text := a.get("/readyz")
		return code == http.StatusServiceUnavailable && strings.Contains(text, "not ready: waiting for a quorum of the cluster site: 1 of 2 members can be reached; start b")
	})
	if code, _ := a.get("/healthz"); code != http.StatusOK {
		t.Errorf("/healthz of one that waits is %d", code)
	}
	if code, text := remark(a, "lost-2"); code != http.StatusServiceUnavailable || !strings.HasPrefix(text, "not ready: ") {
		t.Errorf("a command to one that waits is answered with %d %s", code, text)
	}
	x.start("b")
	x.ready("a")
	x.until("two engines again", func() bool { r := x.status("b"); return shared(r, "a", "b") && whole(r, 2) })
	if code, text := remark(a, "kept"); code != http.StatusAccepted || !strings.Contains(text, `"done"`) {
		t.Errorf("two again answer a command with %d %s", code, text)
	}
	x.oneLog([]string{"a", "b"}, "kept", "lost-2")
}

// remark sends a command that adds a comment, and returns its answer; 0 for none.
func remark(r *running, text string) (int, string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	body := `{"command":"add-comment","object":"web01!quiet","author":"ann","comment":"` + text + `"}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/api/v1/commands", strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := (&http.Client{}).Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, string(answer)
}

// oneLog stops members and demands that the log of each breaks no rule, holds some
// comments and lacks others.
func (x *clusterRig) oneLog(ids []string, holds, lacks string) {
	x.t.Helper()
	for _, id := range ids {
		x.members[id].signal(syscall.SIGTERM)
	}
	for _, id := range ids {
		x.members[id].end()
		r, err := audit.Verify(x.t.Context(), &audit.Folder{Data: x.data[id]}, audit.Options{Keep: 10})
		if err != nil {
			x.t.Errorf("log verify of %s: %v", id, err)
			continue
		}
		for _, v := range r.Violations {
			x.t.Errorf("log of %s, position %d, %s, %s: %s", id, v.Seq, v.Object, v.Rule, v.Text)
		}
		comments := x.comments(id)
		if !slices.Contains(comments, holds) || slices.Contains(comments, lacks) {
			x.t.Errorf("the log of %s has the comments %q; want %q and not %q", id, comments, holds, lacks)
		}
		x.t.Logf("log of %s: positions %d to %d, %d violations, comments %q", id, r.First, r.Last, r.Count(), comments)
	}
}

// comments reads those on the log of a member that has ended.
func (x *clusterRig) comments(id string) (texts []string) {
	x.t.Helper()
	name := bus.NamesFor("").Log
	blocks, err := bus.StoredBlocks(x.data[id], name)
	if err != nil {
		x.t.Fatal(err)
	}
	for _, k := range blocks {
		data, err := os.ReadFile(k.Path())
		if err == nil {
			err = bus.Records(name, k.Index(), data, func(r *bus.Record) bool {
				var e event.Event
				if !r.Removed && journal.ReadStored(bytes.Clone(r.Headers), bytes.Clone(r.Data), &e) == nil && e.Kind == event.CommentAdded {
					texts = append(texts, e.Text)
				}
				return true
			})
		}
		if err != nil {
			x.t.Fatal(err)
		}
	}
	return texts
}
