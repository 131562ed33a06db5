package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"jaque.sh/jaque/appliance/cluster"
)

// A member is killed and removed, the others are restarted, and then somebody starts the
// old machine again: it ends and says what to do, and the others do not notice.
func TestAnOldMachineThatIsStartedAgainStaysOut(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three members, kills one and restarts the others")
	}
	t.Parallel()
	x := founded(t)
	x.join("b")
	x.join("c")
	x.until("three engines and three copies", func() bool { r := x.status("a"); return shared(r, "a", "b", "c") && whole(r, 3) })
	for _, id := range []string{"a", "b", "c"} {
		x.until(id+" knows the others", func() bool { m, err := cluster.Read(x.data[id]); return err == nil && len(m.Peers) == 2 })
	}
	x.kill("c")
	x.until("c is away", func() bool { r := x.status("a"); return r != nil && r.Quorum && !r.Members[2].Online })
	x.not("leave -lost out", "cluster", "remove", "c", "-lost", "-data", x.data["a"])
	x.do("cluster", "remove", "c", "-data", x.data["a"])
	x.until("two are left", func() bool { r := x.status("b"); return shared(r, "a", "b") && whole(r, 2) })
	for _, id := range []string{"a", "b"} {
		x.members[id].signal(syscall.SIGTERM)
		if code := x.members[id].end(); code != 0 {
			t.Errorf("SIGTERM ended %s with %d", id, code)
		}
		x.start(id)
		x.until("two engines with "+id+" restarted", func() bool { r := x.status(id); return shared(r, "a", "b") && whole(r, 2) })
	}
	before := last(x.report("a"))
	for _, what := range []string{"with its folder", "with a copy of its folder that was made before"} {
		c := spawn(t, "-config", x.config, "-data", x.data["c"], "-heartbeat-ttl", memberTTL)
		if code := c.end(); code != 1 || !strings.Contains(c.log(), "c was taken out of cluster site by an operator") || !strings.Contains(c.log(), "move it away and join with an empty one") {
			t.Errorf("%s it ended with %d:\n%s", what, code, c.log())
		}
		if err := os.Remove(filepath.Join(x.data["c"], "removed-from-cluster")); err != nil {
			t.Error(err)
		}
	}
	x.until("two go on", func() bool {
		r := x.status("b")
		return shared(r, "a", "b") && whole(r, 2) && len(r.Members) == 2 && len(r.Trouble) == 0 && last(r) > before
	})
	if log := x.members["a"].log() + x.members["b"].log(); !strings.Contains(log, "it was removed from the cluster; stop it") {
		t.Errorf("nobody says who was refused:\n%s", log)
	}
}
