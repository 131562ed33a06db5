package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/cluster"
	"jaque.sh/jaque/appliance/listen/listentest"
)

// A backup is taken at each member of a running cluster; all are killed, the cluster is
// founded anew with the backup on a fresh machine and grows to three copies again, and an
// old member that is started has no part in it.
func TestABackupOfAClusterIsFoundedAnew(t *testing.T) {
	if testing.Short() {
		t.Skip("starts six members and kills three")
	}
	t.Parallel()
	x := founded(t)
	x.join("b")
	x.join("c")
	x.until("three engines and three copies", func() bool { r := x.status("a"); return shared(r, "a", "b", "c") && whole(r, 3) })
	dir := t.TempDir()
	file, last := x.backups(dir)
	r := x.report("a")
	old := map[string]string{}
	for id := range r.Members {
		old[r.Members[id].ID] = r.Members[id].Address
	}
	for _, id := range []string{"a", "b", "c"} {
		x.kill(id)
	}
	x.refusals(file)
	// A fresh machine in place of a.
	was := x.data
	x.data = map[string]string{"a": filepath.Join(dir, "a")}
	x.do("restore", file, "-data", x.data["a"])
	x.do("cluster", "init", "-cluster-name", "site", "-cluster-listen", old["a"], "-join-listen", listentest.Address(t), "-engine-id", "a", "-data", x.data["a"])
	x.start("a")
	if got := verified(t, "-data", x.data["a"]); got.Last < last || !got.Complete {
		t.Errorf("the log of the new cluster goes to %d, the backup to %d; %+v", got.Last, last, got)
	}
	x.stays("b", was["b"])
	x.join("d")
	x.join("e")
	x.until("three engines and three copies again", func() bool { r := x.status("d"); return shared(r, "a", "d", "e") && whole(r, 3) })
	again := filepath.Join(dir, "again.backup")
	if at := position(t, x.do("backup", "-o", again, "-data", x.data["e"])); at <= last {
		t.Errorf("a backup of the new cluster goes to %d, that of the old one to %d", at, last)
	}
	if got := verified(t, again); !got.Complete || got.Missing > 0 {
		t.Errorf("%+v", got)
	}
}

// backups takes one at each member while decisions are written; it returns the newest.
func (x *clusterRig) backups(dir string) (file string, last uint64) {
	x.t.Helper()
	for _, id := range []string{"a", "b", "c"} {
		x.do("comment", "web01", "-comment", "in front of the backup at "+id, "-url", x.members[id].url, "-author", "alice")
		file = filepath.Join(dir, id+".backup")
		r := x.report(id)
		leads := r.Leader == id
		for _, s := range r.Streams {
			leads = leads || s.Leader == id
		}
		at := position(x.t, x.do("backup", "-o", file, "-data", x.data[id]))
		x.t.Logf("the backup at %s, which leads something: %v, goes to %d", id, leads, at)
		if inFile := verified(x.t, file); at <= last || inFile.Last != at {
			x.t.Errorf("the backup at %s goes to %d, verified to %d, that before to %d", id, at, inFile.Last, last)
		}
		last = at
	}
	return file, last
}

// refusals are what a restore says that would merge two logs.
func (x *clusterRig) refusals(file string) {
	x.t.Helper()
	x.not("two logs are never merged", "restore", file, "-data", x.data["a"])
	for _, name := range []string{"jetstream", "marks.json", "acknowledged"} {
		if err := os.Rename(filepath.Join(x.data["a"], name), filepath.Join(x.data["a"], name+".old")); err != nil && !os.IsNotExist(err) {
			x.t.Fatal(err)
		}
	}
	x.not("jaque cluster init", "restore", file, "-data", x.data["a"])
	if _, err := os.Stat(filepath.Join(x.data["a"], "jetstream")); err == nil {
		x.t.Error("something was restored beside the other members' log")
	}
}

// stays starts a member of the old cluster beside the new one: neither has the other.
func (x *clusterRig) stays(id, data string) {
	x.t.Helper()
	old := begin(x.t, command(x.t, "-config", x.config, "-data", data, "-listen", "127.0.0.1:0", "-log-format", "json"))
	x.until("the old member is refused", func() bool {
		return strings.Contains(old.log(), "has no certificate of the other's cluster authority")
	})
	time.Sleep(3 * time.Second) // in which it would have been let in
	if m, err := cluster.Read(x.data["a"]); err != nil || len(m.Peers) > 0 {
		x.t.Errorf("the new cluster knows %+v, %v", m, err)
	}
	if r := x.report("a"); len(r.Members) != 1 || !r.Quorum {
		x.t.Errorf("the new cluster is %+v", r)
	}
	old.signal(syscall.SIGKILL)
	old.end()
	x.t.Logf("%s says\n%s", id, old.log())
}
