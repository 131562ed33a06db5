package target

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/listen/listentest"
	"jaque.sh/jaque/appliance/rule/sample"
	"jaque.sh/jaque/appliance/sink"
)

// Where Debian puts the programs.
const (
	victoriaProgram   = "/usr/bin/victoria-metrics"
	influxProgram     = "/usr/bin/influxd"
	carbonProgram     = "/usr/bin/carbon-cache"
	prometheusProgram = "/usr/bin/prometheus"
)

// there tells whether a program is installed. Continuous integration has those that
// needs.sh installs.
func there(t *testing.T, program, debian string, insist bool) bool {
	t.Helper()
	if _, err := os.Stat(program); err == nil {
		return true
	}
	t.Logf("no %s: this test needs Debian's package %s", program, debian)
	if insist && os.Getenv("CI") != "" {
		t.Fatal("continuous integration has to run this test")
	}
	return false
}

// server is a program that runs on ports of its own.
type server struct {
	t       *testing.T
	ask     string // a path over HTTP that is answered once it serves; "" = port is looked at
	port    int
	command func() *exec.Cmd
	running *exec.Cmd
	said    *bytes.Buffer
}

// start runs the program and waits until it serves.
func (s *server) start() {
	s.t.Helper()
	s.said = &bytes.Buffer{}
	s.running = s.command()
	s.running.Stdout, s.running.Stderr = s.said, s.said
	s.running.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.running.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.stop)
	s.eventually("the server serves", func() bool {
		if s.ask == "" {
			conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.port))
			if err == nil {
				conn.Close()
			}
			return err == nil
		}
		_, status := s.get(s.ask, nil)
		return status/100 == 2
	})
}

// stop ends the program as its administrator would.
func (s *server) stop() {
	if s.running == nil {
		return
	}
	_ = s.running.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	_ = s.running.Wait()
	s.running = nil
}

// eventually waits until something holds.
func (s *server) eventually(what string, holds func() bool) {
	s.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !holds(); <-tick.C {
		if time.Now().After(end) {
			s.t.Fatalf("waited in vain until %s; the server says:\n%s", what, s.said.String())
		}
	}
}

func (s *server) address(path string) string {
	return fmt.Sprintf("http://127.0.0.1:%d%s", s.port, path)
}

// get asks over HTTP; the status is 0 without an answer.
func (s *server) get(path string, query url.Values) (body []byte, status int) {
	client := &http.Client{Timeout: 5 * time.Second}
	res, err := client.Get(s.address(path) + "?" + query.Encode())
	if err != nil {
		return nil, 0
	}
	defer res.Body.Close()
	body, err = io.ReadAll(res.Body)
	if err != nil {
		return nil, 0
	}
	return body, res.StatusCode
}

// point is a sample as a server gives it back.
type point struct {
	series string // name and labels
	at     int64  // milliseconds
	value  float64
}

func series(name string, labels map[string]string) string {
	var b strings.Builder
	b.WriteString(name)
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		fmt.Fprintf(&b, ";%s=%s", k, labels[k])
	}
	return b.String()
}

// points is what a server should have of samples, times cut to a step.
func points(samples []sample.Sample, suffix string, step int64) []point {
	var all []point
	for _, s := range samples {
		labels := map[string]string{}
		for _, l := range s.Labels {
			labels[l.Name] = l.Value
		}
		all = append(all, point{series(s.Name+suffix, labels), int64(s.Time) / step * step, s.Value})
	}
	return sorted(all)
}

func sorted(all []point) []point {
	slices.SortFunc(all, func(a, b point) int {
		if c := strings.Compare(a.series, b.series); c != 0 {
			return c
		}
		return int(a.at - b.at)
	})
	return slices.Compact(all)
}

// measured maps perfdata as a sink of the target would, one result a second, the
// newest some seconds ago.
func measured(t *testing.T, m *sample.Mapping) []sample.Sample {
	t.Helper()
	r, err := sample.NewMapper(*m)
	if err != nil {
		t.Fatal(err)
	}
	host := &object.Object{ID: "web01.example", Name: "web01.example", Rule: &object.Rule{}, Labels: map[string]string{"env": "prod"}}
	service := &object.Object{ID: `web01.example!GET /a,b=c "d"`, Name: `GET /a,b=c "d"`, Host: host, Rule: &object.Rule{}}
	odd := &object.Object{ID: `Fräulein 雪!C:\`, Name: `C:\`, Host: &object.Object{ID: `Fräulein 雪`, Rule: &object.Rule{}}, Rule: &object.Rule{}}
	at := time.Now().Add(-20 * time.Second).Truncate(time.Second)
	var all []sample.Sample
	for n := range 5 {
		for i, o := range []*object.Object{host, service, odd} {
			e := result(o.ID, at.Add(time.Duration(n)*time.Second), fmt.Sprintf("rta=%d.%dms;100;200;0 '/var log'=%dMB 'c#1'=%dc neg=-%de-9 big=12345678901234567890", n, i, n, n*i, n))
			var left []sample.Left
			if all, left = r.Map(all, nil, e, o); len(left) > 0 {
				t.Fatalf("left out: %v", left)
			}
		}
	}
	return all
}

// send makes a target of settings and writes all samples in one batch.
func send(t *testing.T, kind string, settings map[string]string, samples func(*sample.Mapping) []sample.Sample) []sample.Sample {
	t.Helper()
	made, err := New(Setup{Kind: kind, Input: Metrics, Settings: settings, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { made.Target.Close() })
	all := samples(made.Mapping)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	n, err := made.Target.Write(ctx, &sink.Batch{Samples: all})
	if err != nil || n == 0 {
		t.Fatalf("%d bytes, %v", n, err)
	}
	return all
}

func same(a, b []point) bool {
	return slices.EqualFunc(a, b, func(a, b point) bool {
		return a.series == b.series && a.at == b.at && math.Abs(a.value-b.value) <= 1e-12*math.Abs(a.value)
	})
}

// victoria is VictoriaMetrics, which speaks four protocols.
type victoria struct {
	server
	graphite, telnet, put int
}

func newVictoria(t *testing.T) *victoria {
	v := &victoria{server: server{t: t, port: listentest.Port(t), ask: "/health"}, graphite: listentest.Port(t), telnet: listentest.Port(t), put: listentest.Port(t)}
	dir := t.TempDir()
	v.command = func() *exec.Cmd {
		on := func(flag string, port int) string { return fmt.Sprintf("-%s=127.0.0.1:%d", flag, port) }
		return exec.Command(victoriaProgram, "-storageDataPath="+dir, on("httpListenAddr", v.port), on("graphiteListenAddr", v.graphite),
			on("opentsdbListenAddr", v.telnet), on("opentsdbHTTPListenAddr", v.put), "-memory.allowedBytes=64MB", "-retentionPeriod=1y")
	}
	v.start()
	return v
}

// points reads what the server has of names that begin in a way.
func (v *victoria) points(prefix string) []point {
	v.get("/internal/force_flush", nil)
	body, status := v.get("/api/v1/export", url.Values{"match[]": {`{__name__=~"` + prefix + `.*"}`}})
	if status != http.StatusOK {
		return nil
	}
	var all []point
	for lines := bufio.NewScanner(bytes.NewReader(body)); lines.Scan(); {
		var line struct {
			Metric     map[string]string
			Values     []float64
			Timestamps []int64
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			v.t.Fatal(err)
		}
		name := line.Metric["__name__"]
		delete(line.Metric, "__name__")
		for i, value := range line.Values {
			all = append(all, point{series(name, line.Metric), line.Timestamps[i], value})
		}
	}
	return sorted(all)
}

func TestVictoriaMetricsGivesBackWhatWasMeasured(t *testing.T) {
	t.Parallel()
	if !there(t, victoriaProgram, "victoria-metrics", true) {
		return
	}
	v := newVictoria(t)
	local := func(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }
	for _, c := range []struct {
		name, kind, suffix string
		step               int64
		settings           map[string]string
	}{
		{"line protocol as of InfluxDB 1", "influx", "_value", 1, map[string]string{"url": v.address(""), "database": "", "thresholds": "true"}},
		{"line protocol as of InfluxDB 2", "influx", "_value", 1, map[string]string{"url": v.address(""), "bucket": "b", "org": "o"}},
		{"remote write 1.0", "remote_write", "", 1, map[string]string{"url": v.address("/api/v1/write"), "labels": "env", "thresholds": "true"}},
		{"Graphite", "graphite", "", 1000, map[string]string{"address": local(v.graphite), "name": "NAME.{host}.{check}.{metric}"}},
		{"Graphite with tags", "graphite", "", 1000, map[string]string{"address": local(v.graphite), "label.host": "{host}", "label.metric": "{metric}", "label.check": "{check}"}},
		{"OpenTSDB telnet", "opentsdb", "", 1000, map[string]string{"address": local(v.telnet)}},
		{"OpenTSDB JSON", "opentsdb", "", 1, map[string]string{"url": "http://" + local(v.put)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := strings.ReplaceAll(c.kind+c.name, " ", "_")
			name = strings.NewReplacer(".", "_", "-", "_").Replace(name)
			settings := maps.Clone(c.settings)
			if settings["name"] = strings.Replace(settings["name"], "NAME", name, 1); settings["name"] == "" {
				settings["name"] = name
			}
			if db, ok := settings["database"]; ok && db == "" {
				settings["database"] = "db"
			}
			sent := send(t, c.kind, settings, func(m *sample.Mapping) []sample.Sample { return measured(t, m) })
			want := points(sent, c.suffix, c.step)
			if c.kind == "influx" {
				want = slashed(want)
			}
			if settings["database"] != "" {
				for i := range want { // VictoriaMetrics makes the database a label
					want[i].series = withLabel(want[i].series, "db=db")
				}
			}
			var got []point
			end := time.Now().Add(5 * time.Second)
			for got = v.points(name); !same(got, sorted(want)) && time.Now().Before(end); got = v.points(name) {
				time.Sleep(50 * time.Millisecond)
			}
			compare(t, got, sorted(want))
		})
	}
}

// slashed is what line protocol makes of a backslash at the end of a value.
func slashed(all []point) []point {
	for i := range all {
		all[i].series = strings.ReplaceAll(all[i].series, `C:\`, `C:/`)
	}
	return sorted(all)
}

// withLabel puts a label into its place.
func withLabel(s, label string) string {
	parts := strings.Split(s, ";")
	labels := append(parts[1:], label)
	slices.Sort(labels)
	return strings.Join(append(parts[:1], labels...), ";")
}

func compare(t *testing.T, got, want []point) {
	t.Helper()
	t.Logf("%d values compared", len(want))
	if len(want) == 0 || same(got, want) {
		if len(want) == 0 {
			t.Error("nothing was sent")
		}
		return
	}
	shown := 0
	for i := range max(len(got), len(want)) {
		var a, b point
		if i < len(got) {
			a = got[i]
		}
		if i < len(want) {
			b = want[i]
		}
		if a != b && shown < 5 {
			t.Errorf("got  %+v\nwant %+v", a, b)
			shown++
		}
	}
	t.Errorf("%d points, want %d", len(got), len(want))
}

func newInfluxDB(t *testing.T) *server {
	s := &server{t: t, port: listentest.Port(t), ask: "/ping"}
	dir := t.TempDir()
	config := filepath.Join(dir, "influx.conf")
	text := fmt.Sprintf("reporting-disabled = true\nbind-address = \"127.0.0.1:%d\"\n[meta]\ndir = %q\n[data]\ndir = %q\nwal-dir = %q\n[http]\nbind-address = \"127.0.0.1:%d\"\nlog-enabled = false\n[monitor]\nstore-enabled = false\n",
		listentest.Port(t), dir+"/meta", dir+"/data", dir+"/wal", s.port)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.command = func() *exec.Cmd { return exec.Command(influxProgram, "run", "-config", config) }
	s.start()
	return s
}

// influxQuery asks InfluxDB 1 and reads the points of every series.
func (s *server) influxQuery(query string) []point {
	body, status := s.get("/query", url.Values{"db": {"db"}, "epoch": {"ms"}, "q": {query}})
	if status != http.StatusOK {
		s.t.Fatalf("%s: %d %s", query, status, body)
	}
	var answer struct {
		Results []struct {
			Series []struct {
				Name   string
				Tags   map[string]string
				Values [][]any
			}
			Error string
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		s.t.Fatal(err)
	}
	var all []point
	for _, r := range answer.Results {
		if r.Error != "" {
			s.t.Fatalf("%s: %s", query, r.Error)
		}
		for _, one := range r.Series {
			labels := map[string]string{}
			for k, v := range one.Tags {
				if v != "" {
					labels[k] = v
				}
			}
			for _, row := range one.Values {
				if value, ok := row[1].(float64); ok {
					all = append(all, point{series(one.Name, labels), int64(row[0].(float64)), value})
				}
			}
		}
	}
	return sorted(all)
}

func TestInfluxDBGivesBackWhatWasMeasured(t *testing.T) {
	t.Parallel()
	if !there(t, influxProgram, "influxdb", true) {
		return
	}
	s := newInfluxDB(t)
	settings := map[string]string{"url": s.address(""), "database": "db", "name": "jaque,metric {unit}", "thresholds": "true"}
	made, err := New(Setup{Kind: "influx", Input: Metrics, Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	_, err = made.Target.Write(t.Context(), &sink.Batch{Samples: measured(t, made.Mapping)})
	if err == nil || !strings.Contains(err.Error(), "database not found") {
		t.Errorf("without its database the server answers %v", err)
	}
	if e, ok := err.(*sink.Error); !ok || e.Permanent {
		t.Errorf("what an operator can put right is not permanent: %#v", err)
	}
	s.create()
	sent := send(t, "influx", settings, func(m *sample.Mapping) []sample.Sample { return measured(t, m) })
	want := points(sent, "", 1)
	compare(t, s.influxQuery(`SELECT value FROM /.*/ GROUP BY *`), slashed(want))
}

// create makes the database; a server that has just begun to serve may refuse.
func (s *server) create() {
	s.t.Helper()
	client := &http.Client{Timeout: 5 * time.Second}
	s.eventually("there is a database", func() bool {
		res, err := client.PostForm(s.address("/query"), url.Values{"q": {"CREATE DATABASE db"}})
		if err != nil {
			return false
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if strings.Contains(string(body), "error") {
			s.t.Logf("the database is not made: %s", body)
			return false
		}
		return err == nil && res.StatusCode == http.StatusOK
	})
}
