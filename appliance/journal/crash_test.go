package journal

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// childFolder, in the environment, makes the test binary a process that writes
// until it is killed.
const childFolder = "JAQUE_TEST_WRITE_TO"

func TestMain(m *testing.M) {
	if folder := os.Getenv(childFolder); folder != "" {
		if err := writeUntilKilled(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if folder := os.Getenv(memberFolder); folder != "" {
		if err := runMember(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// writeUntilKilled appends and records in circles and prints every acknowledged
// position with its event's id: "log 12 h3-7", "results 99 h3-8".
func writeUntilKilled(folder string) error {
	ctx := context.Background()
	b, err := bus.Open(ctx, bus.Options{Data: folder})
	if err != nil {
		return err
	}
	j, err := OpenJetStream(ctx, b, Options{})
	if err != nil {
		return err
	}
	run := time.Now().UnixNano()
	var serial atomic.Int64
	var next func(id object.ID, at uint64)
	next = func(id object.ID, at uint64) {
		e := decision(id, int(serial.Add(1)), at)
		e.ID = fmt.Sprintf("%s-%d-%d", id, run, serial.Add(1))
		j.Append(e, at, func(seq uint64, err error) {
			if err != nil {
				fmt.Fprintln(os.Stderr, "append", err)
				return
			}
			fmt.Println("log", seq, e.ID)
			next(id, seq)
		})
	}
	for o := range 40 {
		id := object.HostID(fmt.Sprintf("h%d", o))
		at, _, err := j.LastOf(ctx, id)
		if err != nil {
			return err
		}
		next(id, at)
	}
	for n := 0; ; n++ {
		e := measurement(object.HostID(fmt.Sprintf("h%d", n%40)), n)
		e.ID = fmt.Sprintf("r-%d-%d", run, n)
		if err := j.Record(ctx, e, func(seq uint64, err error) {
			if err == nil {
				fmt.Println("results", seq, e.ID)
			}
		}); err != nil {
			return err
		}
		time.Sleep(200 * time.Microsecond) // a rate, not a wait
	}
}

// acknowledged collects what children were promised.
type acknowledged struct {
	log     map[uint64]string
	results map[uint64]string // of the last child
	events  int
}

// runChild starts a writer, kills it after it was promised some events and
// reads the rest of what it printed.
func (a *acknowledged) runChild(t *testing.T, folder string, kill int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childFolder+"="+folder)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	a.results = map[uint64]string{}
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		f := strings.Fields(lines.Text())
		if len(f) == 3 {
			seq, err := strconv.ParseUint(f[1], 10, 64)
			if err != nil {
				t.Fatalf("child printed %q", lines.Text())
			}
			a.note(t, f[0], seq, f[2])
		}
		if n == kill {
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait()
	if stderr.Len() > 0 {
		t.Fatalf("the writer failed:\n%s", stderr.String())
	}
}

func (a *acknowledged) note(t *testing.T, stream string, seq uint64, id string) {
	a.events++
	if stream == "results" {
		a.results[seq] = id
		return
	}
	if before, twice := a.log[seq]; twice {
		t.Fatalf("position %d was acknowledged for %s and for %s", seq, before, id)
	}
	a.log[seq] = id
}

// check opens the folder and compares.
func (a *acknowledged) check(t *testing.T, folder string) {
	t.Helper()
	b := openBus(t, folder)
	defer b.Close(context.Background())
	j := openJournal(t, b)
	defer j.Close(context.Background())
	kept := [2]map[uint64]string{{}, {}}
	last := map[object.ID]uint64{}
	for _, e := range readAll(t, j, Position{}) {
		kept[e.Stream][e.Seq] = e.ID
		if e.Stream == event.Results {
			continue
		}
		if e.Prev != last[e.Object] {
			t.Errorf("event %d of %s is based on %d, but %d came before it", e.Seq, e.Object, e.Prev, last[e.Object])
		}
		last[e.Object] = e.Seq
	}
	for seq, id := range a.log {
		if kept[event.Log][seq] != id {
			t.Fatalf("position %d was acknowledged for %s and now holds %q", seq, id, kept[event.Log][seq])
		}
	}
	end := uint64(len(kept[event.Results])) // they begin at 1
	for seq, id := range a.results {
		if seq <= end && kept[event.Results][seq] != id {
			t.Fatalf("measurement %d was acknowledged for %s and now is %q: not a prefix", seq, id, kept[event.Results][seq])
		}
	}
}

// What was acknowledged is there after kill -9 at any moment; of measurements
// what is left is a prefix.
func TestAcknowledgedSurvivesKill(t *testing.T) {
	t.Parallel()
	const rounds = 10
	folder := t.TempDir()
	a := &acknowledged{log: map[uint64]string{}}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for range rounds {
		a.runChild(t, folder, random.IntN(400))
		a.check(t, folder)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d kills, %d events acknowledged, %d of them on the log", rounds, a.events, len(a.log))
}

// copyFolder is used by the damage tests, which begin from the same store.
func copyFolder(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}
