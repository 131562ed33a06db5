package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestStatReadsNamesWithParentheses(t *testing.T) {
	line := "42 (a) b (c)) S 7 1 1 0 -1 0 0 0 0 0 120 30 500 250 20 0 1 0 100 0 0\n"
	got, err := parseStat([]byte(line))
	want := stat{pid: 42, parent: 7, name: "a) b (c)", own: 1.5, reaped: 7.5}
	if err != nil || got != want {
		t.Fatalf("got %+v, %v; want %+v", got, err, want)
	}
	for _, bad := range []string{"", "42", "42 (x", "42 (x) S 1"} {
		if _, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestOwnProcessIsInItsTree(t *testing.T) {
	me, err := readStat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	procs := tree(os.Getpid())
	if len(procs) == 0 || procs[0].pid != me.pid {
		t.Fatalf("tree %+v does not start with %d", procs, me.pid)
	}
	if got := pss(os.Getpid()); got < 1<<20 {
		t.Fatalf("memory of a Go process: %d bytes", got)
	}
}

func TestPssIsInBytes(t *testing.T) {
	if got := parsePss([]byte("Rss:  9 kB\nPss:     123 kB\nPss_Dirty: 5 kB\n")); got != 123<<10 {
		t.Fatalf("got %d", got)
	}
}

func TestRecordsAreReadInOrderOfStart(t *testing.T) {
	r := records{path: filepath.Join(t.TempDir(), "records")}
	var b []byte
	for _, v := range [][2]uint64{{9, 1}, {1, 3_000}, {2, 2_000}, {1, 13_000}} {
		b = binary.NativeEndian.AppendUint64(b, v[0])
		b = binary.NativeEndian.AppendUint64(b, v[1])
	}
	if err := os.WriteFile(r.path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := r.count(); got != 4 {
		t.Fatalf("count %d, want 4", got)
	}
	starts, err := r.since(1)
	if err != nil || len(starts) != 3 || starts[0].id != 2 {
		t.Fatalf("got %v, %v", starts, err)
	}
	if got := periods(starts, 9*time.Microsecond); len(got) != 1 || got[0] != time.Microsecond {
		t.Fatalf("period errors %v, want one of 1µs", got)
	}
}

func TestSilence(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	starts := []start{{1, at(1)}, {2, at(11)}, {3, at(14)}, {4, at(40)}}
	for _, c := range []struct {
		name     string
		from, to int
		want     time.Duration
	}{
		{"between two starts", 10, 20, 6 * time.Second},
		{"before the first", 5, 14, 6 * time.Second},
		{"nobody at all", 20, 30, 10 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := silence(starts, at(c.from), at(c.to)); got != c.want {
				t.Fatalf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestQuantiles(t *testing.T) {
	var d []time.Duration
	for i := range 100 {
		d = append(d, time.Duration(99-i))
	}
	if quantile(d, 0.5) != 50 || quantile(d, 0.99) != 99 || quantile(d, 1) != 99 || quantile(nil, 0.5) != 0 {
		t.Fatal(quantile(d, 0.5), quantile(d, 0.99), quantile(d, 1))
	}
}

const metrics = `# TYPE jaque_checks_total counter
jaque_checks_total{kind="plugin"} 40
# TYPE jaque_check_lateness_seconds histogram
jaque_check_lateness_seconds_bucket{le="0.001"} 50
jaque_check_lateness_seconds_bucket{le="0.005"} 98
jaque_check_lateness_seconds_bucket{le="0.01"} 100
jaque_check_lateness_seconds_bucket{le="+Inf"} 100
jaque_check_lateness_seconds_sum 0.2
jaque_check_lateness_seconds_count 100
`

func TestMetricsAreRead(t *testing.T) {
	h := parseHistogram([]byte(metrics), metricLateness)
	if len(h) != 4 {
		t.Fatalf("buckets %v", h)
	}
	if got := h.quantile(0.5); got != time.Millisecond {
		t.Fatalf("p50 %v, want 1ms", got)
	}
	if got := h.quantile(0.99); got != 7500*time.Microsecond {
		t.Fatalf("p99 %v, want 7.5ms", got)
	}
	if got := h.quantile(1); got != 10*time.Millisecond {
		t.Fatalf("max %v, want 10ms", got)
	}
}

func TestTableShowsRatiosAndHoles(t *testing.T) {
	var tb table
	tb.put("A", "A engine alone", "engine alone", "CPU s/1000", "floor", 0.15)
	tb.put("A", "A engine alone", "engine alone", "CPU s/1000", "nagios4", 0.42)
	tb.put("A", "A engine alone", "engine alone", "CPU s/1000", "jaque", 0.21)
	got := tb.markdown("Taken.")
	line := "| A | engine alone | CPU s/1000 | 0.150 | 0.420 | not measured | 0.210 | 0.50 | 1.40 | ≤ 0.65 × nagios4 |"
	if !strings.Contains(got, line) {
		t.Fatalf("got\n%s\nwant a line\n%s", got, line)
	}
	f := tb.put("A", "", "checks done", "1/s", "nagios4", 900)
	f.higher = true
	f.cells["icinga2"] = 700
	if best, ok := f.best(); !ok || best != 900 {
		t.Fatalf("best rate %v", best)
	}
}

func TestEveryBudgetIsReachable(t *testing.T) {
	for key := range must {
		if !strings.HasPrefix(key, "A ") && !strings.HasPrefix(key, "C ") && !strings.HasPrefix(key, "D ") && !strings.HasPrefix(key, "H ") {
			t.Errorf("%q belongs to no row", key)
		}
	}
}

func TestTheTableIsReplacedBetweenItsMarkers(t *testing.T) {
	name := filepath.Join(t.TempDir(), "benchmarks.md")
	if err := os.WriteFile(name, []byte("before\n"+tableBegin+"\nold\n"+tableEnd+"\nafter\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := replaceTable(name, "new\n"); err != nil {
			t.Fatal(err)
		}
	}
	got, _ := os.ReadFile(name)
	if want := "before\n" + tableBegin + "\nnew\n" + tableEnd + "\nafter\n"; string(got) != want {
		t.Fatalf("got %q, want %q", got, want)
	}
	if err := os.WriteFile(name, []byte("no markers"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := replaceTable(name, "new"); err == nil {
		t.Fatal("a file without markers was written")
	}
}

func TestConfigurationsHoldEveryService(t *testing.T) {
	s := site{interval: 10 * time.Second, check: "plugin", plugin: "/bin/true"}.forRate(5)
	for name, c := range map[string]struct {
		write  func(string, site) error
		file   string
		needle string
		want   int
	}{
		"nagios":      {writeNagios, "objects.cfg", "service_description", 50},
		"icinga":      {writeIcinga, "icinga2.conf", "object Service", 50},
		"jaque hosts": {writeJaque, "config/hosts.csv", ",yes", 5},
		"jaque rules": {writeJaque, "config/site.cue", "services:", perHost},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := c.write(dir, s); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(filepath.Join(dir, c.file))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(string(b), c.needle); got != c.want {
				t.Fatalf("%d × %q, want %d", got, c.needle, c.want)
			}
			if err := c.write(dir, s.changedOnce()); err != nil {
				t.Fatal(err)
			}
			changed, _ := os.ReadFile(filepath.Join(dir, c.file))
			if (string(changed) != string(b)) != !strings.HasSuffix(c.file, ".cue") {
				t.Fatalf("a changed site: file differs = %v", string(changed) != string(b))
			}
		})
	}
}

func TestWrongUsageEndsWithTwo(t *testing.T) {
	for _, args := range [][]string{{"-rates", "fast"}, {"-sizes", "0"}, {"extra"}} {
		if got := run(args); got != 2 {
			t.Errorf("%v: exit %d, want 2", args, got)
		}
	}
}

func TestFloorsRun(t *testing.T) {
	for kind, f := range map[string]func(string) error{"forkexec": forkExec, "osexec": osExec} {
		if err := f("/bin/true"); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if err := f("/bin/false"); err == nil {
			t.Errorf("%s: a failing plugin was taken for fine", kind)
		}
	}
}
