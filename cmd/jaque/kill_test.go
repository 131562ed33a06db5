package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
)

var kills = flag.Int("kills", 3, "how often TestKillLosesNothing kills the appliance")

// stormConfig runs 500 checks a second whose states change all the time, a part
// of them real plugins.
const stormConfig = `package site

defaults: {interval: "10s", retry: "2s", attempts: 3, timeout: "5s"}
hosts: {for i in %s {"h\(i)": {address: "127.0.0.1", labels: role: "storm"}}}
services: plugin: {on: role: "storm", check: plugin: ["%s"]}
%s`

// writeStorm writes the config: 100 hosts with one plugin and 49 changing
// services each.
func writeStorm(t *testing.T, dir string) {
	t.Helper()
	plugin := filepath.Join(dir, "check_flip")
	script := "#!/bin/sh\nt=$(($(date +%s) / 3 % 3))\necho \"state $t | t=$t\"\nexit $t\n"
	if err := os.WriteFile(plugin, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	var hosts, services []string
	for i := range 100 {
		hosts = append(hosts, fmt.Sprint(i))
	}
	for i := range 49 {
		services = append(services, fmt.Sprintf(
			`services: dummy%d: {on: role: "storm", check: dummy: {states: ["OK", "CRITICAL", "OK", "WARNING"], period: "%ds"}}`, i, 3+i%11))
	}
	text := fmt.Sprintf(stormConfig, "["+strings.Join(hosts, ", ")+"]", plugin, strings.Join(services, "\n"))
	if err := os.WriteFile(filepath.Join(dir, "site.cue"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestKillLosesNothing kills the appliance at random moments of a run at 500
// checks a second. After each kill every event that was read back before it
// must stand on the log unchanged, and what a restart makes of snapshot and tail
// must equal a fresh fold of the whole log.
func TestKillLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills the whole appliance")
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "jaque")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	site := filepath.Join(dir, "site")
	if err := os.Mkdir(site, 0o755); err != nil {
		t.Fatal(err)
	}
	writeStorm(t, site)
	seed := rand.Uint64()
	t.Logf("seed %d, %d kills", seed, *kills)
	dice := rand.New(rand.NewPCG(seed, 1))
	storm := &storm{t: t, dir: dir, binary: binary, site: site, seen: map[uint64]string{}}
	for i := range *kills {
		storm.runAndKill(time.Duration(200+dice.IntN(2500)) * time.Millisecond)
		storm.check(i)
	}
	if len(storm.seen) < 50**kills {
		t.Errorf("only %d decisions in %d runs; the storm is too calm to prove anything", len(storm.seen), *kills)
	}
	t.Logf("%d decisions and %d measurements were read back before %d kills; none of the decisions is missing, %d measurements are",
		len(storm.seen), storm.measured, *kills, storm.lostMeasured)
}

type storm struct {
	t                      *testing.T
	dir, binary, site      string
	seen                   map[uint64]string // log position → event id, as -events-out had them
	offset                 int64
	measured, lostMeasured int
	results                map[uint64]string
}

// runAndKill starts the appliance, waits until it is ready, and kills it after.
func (s *storm) runAndKill(after time.Duration) {
	s.t.Helper()
	var stderr bytes.Buffer
	address := make(chan string, 1)
	cmd := exec.Command(s.binary, "-config", s.site, "-data", filepath.Join(s.dir, "data"), "-listen", "127.0.0.1:0",
		"-events-out", filepath.Join(s.dir, "events.jsonl"), "-log-format", "json")
	pipe, err := cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		findAddress(io.TeeReader(pipe, &stderr), address)
	}()
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGKILL)
		<-logged
		_ = cmd.Wait()
	}()
	select {
	case a := <-address:
		waitReady(s.t, a)
	case <-time.After(60 * time.Second):
		s.t.Fatalf("no address was logged within 60 s:\n%s", stderr.String())
	case <-logged:
		s.t.Fatalf("the appliance ended by itself:\n%s", stderr.String())
	}
	select {
	case <-time.After(after):
	case <-logged:
		s.t.Fatalf("the appliance ended by itself:\n%s", stderr.String())
	}
}

// findAddress reads JSON log lines and sends the first address in them.
func findAddress(r io.Reader, found chan<- string) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		var line struct {
			Address string `json:"address"`
		}
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Address != "" {
			select {
			case found <- line.Address:
			default:
			}
		}
	}
	_, _ = io.Copy(io.Discard, r)
}

func waitReady(t *testing.T, address string) {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for time.Now().Before(deadline) {
		res, err := http.Get("http://" + address + "/readyz")
		if err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(20 * time.Millisecond) // poll: another process gets ready
	}
	t.Fatal("not ready within 60 s")
}

// check reads the log of the killed appliance and compares.
func (s *storm) check(round int) {
	s.t.Helper()
	s.readEventsOut()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer cancel()
	quiet := slog.New(slog.DiscardHandler)
	b, err := bus.Open(ctx, bus.Options{Data: filepath.Join(s.dir, "data"), Logger: quiet})
	if err != nil {
		s.t.Fatalf("round %d: open the log after the kill: %v", round, err)
	}
	defer func() { _ = b.Close(context.Background()) }()
	j, err := journal.OpenJetStream(ctx, b, journal.Options{Logger: quiet})
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = j.Close(context.Background()) }()
	c, problems := config.Load(s.site, config.Options{})
	if len(problems) > 0 {
		s.t.Fatal(problems)
	}

	whole := projection.New(c.Set)
	decisions, measurements := map[uint64]string{}, map[uint64]string{}
	follow(s.t, j, whole, journal.Position{}, func(e *event.Event) {
		if e.Stream == event.Log {
			decisions[e.Seq] = e.ID
		} else {
			measurements[e.Seq] = e.ID
		}
	})
	for seq, id := range s.seen {
		if decisions[seq] != id {
			s.t.Fatalf("round %d: decision %s at %d was read back before the kill, now %q stands there", round, id, seq, decisions[seq])
		}
	}
	for seq, id := range s.results {
		if measurements[seq] != id {
			s.lostMeasured++
		}
	}
	s.compareWithSnapshot(round, j, c.Set, whole)
}

// compareWithSnapshot restores the newest snapshot, folds the tail behind it and
// expects the state of the whole log.
func (s *storm) compareWithSnapshot(round int, j journal.Journal, set *object.Set, whole *projection.Projection) {
	s.t.Helper()
	at, data, err := j.LoadSnapshot(s.t.Context())
	if err != nil {
		return // none was saved before the kill: a start folds the whole log too
	}
	short := projection.New(set)
	if err := short.Restore(at, data); err != nil {
		s.t.Fatalf("round %d: restore: %v", round, err)
	}
	follow(s.t, j, short, at, func(*event.Event) {})
	for _, o := range set.Objects {
		a, b := fold.AppendState(nil, short.State(o.ID)), fold.AppendState(nil, whole.State(o.ID))
		if !bytes.Equal(a, b) {
			s.t.Fatalf("round %d: %s by snapshot and tail\n%s\nby the whole log\n%s", round, o.ID, a, b)
		}
	}
}

// follow folds both streams from a position to their present end.
func follow(t *testing.T, j journal.Journal, p *projection.Projection, from journal.Position, each func(*event.Event)) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	done := false
	err := j.Follow(ctx, from, func(batch []event.Event) error {
		for i := range batch {
			if o := p.Apply(&batch[i]); o == fold.Stale || o == fold.Conflict {
				t.Errorf("event %s at %d is %s", batch[i].ID, batch[i].Seq, o)
			}
			each(&batch[i])
		}
		return nil
	}, func() { done = true; stop() })
	if err != nil || !done {
		t.Fatalf("read the log: %v, reached the end: %t", err, done)
	}
}

// readEventsOut takes the new complete lines of -events-out.
func (s *storm) readEventsOut() {
	s.t.Helper()
	f, err := os.Open(filepath.Join(s.dir, "events.jsonl"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Seek(s.offset, io.SeekStart); err != nil {
		s.t.Fatal(err)
	}
	s.results = map[uint64]string{}
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return // the kill cut the last line off
		}
		s.offset += int64(len(line))
		var e struct {
			Stream string `json:"stream"`
			Seq    uint64 `json:"seq"`
			ID     string `json:"id"`
		}
		if err := json.Unmarshal(line, &e); err != nil {
			s.t.Fatalf("line of -events-out: %v: %s", err, line)
		}
		if e.Stream == "log" {
			s.seen[e.Seq] = e.ID
		} else {
			s.measured++
			s.results[e.Seq] = e.ID
		}
	}
}
