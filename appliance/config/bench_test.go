package config

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// fleet writes a config of hosts in a CSV inventory with ten rules, each of
// which selects every host, and returns its path.
func fleet(tb testing.TB, hosts int) string {
	tb.Helper()
	dir := tb.TempDir()
	var csv, cue bytes.Buffer
	csv.WriteString("name,address,label.role,label.site,parents,groups,var.rack\n")
	for i := range hosts {
		parent := ""
		if i >= 100 {
			parent = fmt.Sprintf("host-%05d", i%100)
		}
		fmt.Fprintf(&csv, "host-%05d,10.%d.%d.%d,%s,site%02d,%s,%s,r%d\n", i, i>>16, i>>8&255, i&255,
			[]string{"web", "db", "mail"}[i%3], i%20, parent, []string{"linux", "linux;rack"}[i%2], i%40)
	}
	cue.WriteString("package site\n\ninventory: [\"hosts.csv\"]\ndefaults: host_check: icmp: {}\n")
	for i := range 10 {
		fmt.Fprintf(&cue, "services: check%02d: {on: {}, interval: \"%ds\", check: plugin: [\"check_x\", \"-H\", \"$HOSTADDRESS$\", \"-n\", \"%d\"]}\n", i, 30+i, i)
	}
	for name, content := range map[string][]byte{"hosts.csv": csv.Bytes(), "site.cue": cue.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return filepath.Join(dir, "site.cue")
}

// cpu is the processor time this process has used.
func cpu(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func benchmarkLoad(b *testing.B, hosts int) {
	path := fleet(b, hosts)
	b.ReportAllocs()
	start := cpu(b)
	for b.Loop() {
		c, problems := Load(path, Options{})
		if len(problems) > 0 {
			b.Fatal(problems)
		}
		if got := len(c.Set.Objects); got != 11*hosts {
			b.Fatalf("got %d objects, want %d", got, 11*hosts)
		}
	}
	b.ReportMetric(float64(cpu(b)-start)/1e9/float64(b.N), "cpu-s/op")
}

// BenchmarkLoadFixed is what CUE and the schema cost with one host.
func BenchmarkLoadFixed(b *testing.B) { benchmarkLoad(b, 1) }

// BenchmarkLoad10k is 1,000 hosts with 10,000 services.
func BenchmarkLoad10k(b *testing.B) { benchmarkLoad(b, 1000) }

// BenchmarkLoad100k is 10,000 hosts with 100,000 services.
func BenchmarkLoad100k(b *testing.B) { benchmarkLoad(b, 10000) }

// BenchmarkLoadDeclared is 400 hosts written in CUE, which CUE itself unifies
// with the schema.
func BenchmarkLoadDeclared(b *testing.B) {
	path := filepath.Join(b.TempDir(), "site.cue")
	text := "package site\n\nservices: ping: {on: {}, check: icmp: {}}\n"
	for i := range 400 {
		text += fmt.Sprintf("hosts: \"host-%d\": {address: \"192.0.2.1\", labels: {role: \"web\", os: \"linux\"}, groups: [\"all\"]}\n", i)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, problems := Load(path, Options{}); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}

// BenchmarkDiff100k compares two generations that differ in one host.
func BenchmarkDiff100k(b *testing.B) {
	path := fleet(b, 10000)
	old, problems := Load(path, Options{})
	if len(problems) > 0 {
		b.Fatal(problems)
	}
	appendFile(b, path, "hosts: extra: {}\n")
	next, problems := Load(path, Options{})
	if len(problems) > 0 {
		b.Fatal(problems)
	}
	b.ReportAllocs()
	for b.Loop() {
		if got := len(Diff(old.Set, next.Set).Added); got != 11 {
			b.Fatalf("got %d added objects, want 11", got)
		}
	}
}

func appendFile(tb testing.TB, path, text string) {
	tb.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		tb.Fatal(err)
	}
}

// liveBytes is the memory in use after collection.
func liveBytes() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestServicesShareWhatTheyCan(t *testing.T) {
	const hosts = 2000
	path := fleet(t, hosts)
	before := liveBytes()
	c, problems := Load(path, Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	perObject := float64(liveBytes()-before) / (hosts * 11)
	t.Logf("%.0f bytes per object, hosts included", perObject)
	if perObject > 420 {
		t.Errorf("got %.0f bytes per object, want at most 420", perObject)
	}
	rules := map[*object.Rule]bool{}
	for _, o := range c.Set.Objects {
		rules[o.Rule] = true
	}
	if len(rules) != 11 {
		t.Errorf("got %d rules in memory, want 11", len(rules))
	}
	runtime.KeepAlive(c)
}
