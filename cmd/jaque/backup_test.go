package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/chain"
)

// restlessSite has services that change all the time, and a few that stay as they are
// for operators to work on.
const restlessSite = `package site

defaults: {interval: "1s", retry: "1s", attempts: 2}
hosts: {for i in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] {"h\(i)": {address: "127.0.0.1", labels: role: "storm", check: dummy: state: "UP"}}}
services: {for i in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19] {"s\(i)": {on: role: "storm", check: dummy: {states: ["OK", "CRITICAL", "WARNING"], period: "1s"}}}}
services: still: {on: role: "storm", check: dummy: {state: "CRITICAL", text: "it stays so"}}
`

// do runs a command that must succeed and returns what it says.
func do(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := finish(t, command(t, args...))
	if code != 0 {
		t.Fatalf("jaque %s: exit %d: %s%s", strings.Join(args, " "), code, out, errs)
	}
	return out
}

// refused runs a command that must fail with a text.
func refused(t *testing.T, text string, args ...string) {
	t.Helper()
	if code, out, errs := finish(t, command(t, args...)); code != 1 || !strings.Contains(errs, text) {
		t.Errorf("jaque %s: exit %d, want %q: %s%s", strings.Join(args, " "), code, text, out, errs)
	}
}

// verified runs jaque log verify, which must find nothing, and returns its report.
func verified(t *testing.T, args ...string) chain.Report {
	t.Helper()
	var r struct {
		chain.Report
		Clean bool
	}
	if err := json.Unmarshal([]byte(do(t, append([]string{"log", "verify", "-o", "json"}, args...)...)), &r); err != nil || !r.Clean {
		t.Fatal(err, r.Violations)
	}
	return r.Report
}

// digests folds a log up to a position: what every reader knows there of each object.
func digests(t *testing.T, data, site string, last uint64) map[object.ID]string {
	t.Helper()
	states := map[object.ID]fold.State{}
	readLog(t, bus.Options{Data: data}, site, func(e *event.Event) {
		if e.Object != "" && e.Stream == event.Log && e.Seq <= last {
			states[e.Object], _ = fold.Apply(states[e.Object], e)
		}
	})
	all := map[object.ID]string{}
	for id, st := range states {
		all[id] = string(fold.AppendState(nil, &st))
	}
	return all
}

var upTo = regexp.MustCompile(`the log up to position (\d+)`)

// position reads the position from what jaque backup says.
func position(t *testing.T, said string) uint64 {
	t.Helper()
	m := upTo.FindStringSubmatch(said)
	if m == nil {
		t.Fatalf("no position in %q", said)
	}
	n, err := strconv.ParseUint(m[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A backup is taken under load in three ways, the appliance is killed, and what is
// restored elsewhere is the same up to the backup's position, and goes on from there.
func TestABackupUnderLoadComesBackElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills the whole appliance")
	}
	site := site(t, restlessSite)
	dir := t.TempDir()
	data, file := filepath.Join(dir, "data"), filepath.Join(dir, "one.backup")
	r := launch(t, "-config", site, "-data", data, "-nats-listen", "127.0.0.1:0", "-engine-id", "a")
	r.until("/api/v1/services/h1/still", `"state":"CRITICAL"`)
	do(t, "ack", "h1!still", "-comment", "somebody is on it", "-url", r.url, "-author", "alice")
	do(t, "comment", "h2!still", "-comment", "remember the milk", "-url", r.url, "-author", "alice")
	do(t, "downtime", "h3!still", "-for", "2h", "-comment", "new disks", "-url", r.url, "-author", "alice")
	r.until("/api/v1/services/h3/still", `"downtime_depth":1`)
	for deadline := time.Now().Add(30 * time.Second); verified(t, "-data", data).Last < 400 && time.Now().Before(deadline); {
		time.Sleep(100 * time.Millisecond)
	}
	last := position(t, do(t, "backup", "-o", file, "-data", data))
	do(t, "credentials", "backup", "-data", data, "-out", filepath.Join(dir, "b.creds"))
	address := serverAddress(t, r)
	other := filepath.Join(dir, "two.backup")
	var later uint64
	for deadline := time.Now().Add(20 * time.Second); later == 0; time.Sleep(200 * time.Millisecond) { // until the server knows the user
		code, out, errs := finish(t, command(t, "backup", "-o", other, "-eventlog", "tls://"+address, "-nats-creds", filepath.Join(dir, "b.creds")))
		if code == 0 {
			later = position(t, out)
		} else if time.Now().After(deadline) {
			t.Fatal(errs)
		}
	}
	if atServer := verified(t, "-eventlog", "tls://"+address, "-nats-creds", filepath.Join(dir, "b.creds")); later < last || atServer.Last < later {
		t.Errorf("positions %d, %d and %d", last, later, atServer.Last)
	}
	refused(t, "exists", "backup", "-o", file, "-data", data)
	refused(t, "is not empty", "restore", file, "-data", data)
	r.signal(syscall.SIGKILL)
	r.end()

	whole := verified(t, "-data", data)
	inFile := verified(t, file)
	third := filepath.Join(dir, "three.backup")
	if at := position(t, do(t, "backup", "-o", third, "-data", data)); at != whole.Last || inFile.Last != last {
		t.Errorf("stopped: %d of %d; the file: %d of %d", at, whole.Last, inFile.Last, last)
	}
	elsewhere := filepath.Join(dir, "elsewhere")
	do(t, "restore", file, "-data", elsewhere)
	if again := verified(t, "-data", elsewhere); fmt.Sprint(again) != fmt.Sprint(inFile) {
		t.Errorf("the report of what was restored\n%+v, of the file\n%+v", again, inFile)
	}
	if was, now := digests(t, data, site, last), digests(t, elsewhere, site, last); !maps.Equal(was, now) || len(was) != 220 {
		t.Errorf("%d objects before, %d restored, not the same", len(was), len(now))
	}
	t.Logf("%d events of %d were in the backup", last, whole.Last)

	r = launch(t, "-config", site, "-data", elsewhere, "-engine-id", "a")
	r.until("/api/v1/services/h1/still", `"acknowledged":true`)
	r.until("/api/v1/services/h2/still", `"comments":1`)
	r.until("/api/v1/services/h3/still", `"downtime_depth":1`)
	for deadline := time.Now().Add(20 * time.Second); verified(t, "-data", elsewhere).Last < last+50; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing is written after the restore")
		}
	}
	r.signal(syscall.SIGTERM)
	if code := r.end(); code != 0 {
		t.Errorf("exit %d: %s", code, r.log())
	}
	if after := verified(t, "-data", elsewhere); after.Epoch <= whole.Epoch || !after.Complete {
		t.Errorf("the epoch after the restore is %d, it was %d", after.Epoch, whole.Epoch)
	}
}

// serverAddress is where the log server listens for others.
func serverAddress(t *testing.T, r *running) string {
	t.Helper()
	for line := range strings.SplitSeq(r.log(), "\n") {
		var said struct{ Msg, Address string }
		if json.Unmarshal([]byte(line), &said) == nil && said.Msg == "log server listens" {
			return said.Address
		}
	}
	t.Fatalf("the log server does not listen: %s", r.log())
	return ""
}

func TestABackupGoesToAnExternalServer(t *testing.T) {
	site := site(t, siteText)
	dir := t.TempDir()
	data, file := filepath.Join(dir, "data"), filepath.Join(dir, "one.backup")
	r := launch(t, "-config", site, "-data", data)
	r.until("/api/v1/services/web01/quiet", `"state":"OK"`)
	last := position(t, do(t, "backup", "-o", file, "-data", data))
	r.signal(syscall.SIGTERM)
	r.end()
	n := startNATS(t)
	do(t, "restore", file, "-eventlog", n.ClientURL())
	if got := verified(t, "-eventlog", n.ClientURL()); got.Last != last {
		t.Errorf("the server has the log up to %d, want %d", got.Last, last)
	}
	refused(t, "is not empty", "restore", file, "-eventlog", n.ClientURL())
	again := filepath.Join(dir, "two.backup")
	if at := position(t, do(t, "backup", "-o", again, "-eventlog", n.ClientURL())); at != last {
		t.Errorf("a backup of the server goes to %d", at)
	}
	if said := do(t, "restore", again, "-check"); !strings.Contains(said, "is whole") {
		t.Errorf("said %q", said)
	}
	r = launch(t, "-config", site, "-eventlog", n.ClientURL())
	r.until("/api/v1/services/web01/quiet", `"state":"OK"`)
}

func TestBackupsThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	empty, text := filepath.Join(dir, "empty"), filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("no backup"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, "there is no event log in "+empty, "backup", "-o", filepath.Join(dir, "x"), "-data", empty)
	refused(t, "there is no event log in "+empty, "log", "verify", "-data", empty)
	refused(t, "is no backup of jaque; nothing was changed", "restore", text, "-data", empty)
	refused(t, "is no backup of jaque", "log", "verify", text)
	if _, err := os.Stat(empty); err == nil {
		t.Error("a folder was made")
	}
	for _, args := range [][]string{
		{"backup"},
		{"backup", "file"},
		{"backup", "-o", "x", "-data", "y", "-eventlog", "nats://127.0.0.1:1"},
		{"backup", "-o", "x", "-data", "y", "-nats-creds", "z"},
		{"restore"},
		{"restore", "a", "b"},
		{"log"},
		{"log", "print"},
		{"log", "verify", "-o", "yaml"},
		{"log", "verify", "a", "-data", "b"},
		{"backup", "-o", "x", "-eventlog", "memory"},
	} {
		if code, _, errs := finish(t, command(t, args...)); code != 2 || !strings.Contains(errs, "tells more") {
			t.Errorf("jaque %s: exit %d: %s", strings.Join(args, " "), code, errs)
		}
	}
}
