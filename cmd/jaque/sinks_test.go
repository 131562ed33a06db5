package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/listen/listentest"
)

var sinkOutage = flag.Duration("sink-outage", 4*time.Second, "how long TestSinksMissNothing keeps a target down")

// measuredSite has services whose every result is a number of its own.
const measuredSite = `package site

defaults: {interval: "2s", retry: "2s", timeout: "10s"}
hosts: h: check: dummy: state: "UP"
services: {for i in [%s] {"s\(i)": {on: {}, check: plugin: ["%s"]}}}
sinks: {
	vm:     {input: "metrics", influx: {url: "%s/write", start: "beginning"}}
	influx: {input: "metrics", influx: {url: "%s", database: "db", start: "beginning"}}
	prom:   {input: "metrics", remote_write: {url: "%s/api/v1/write", start: "beginning"}}
	carbon: {input: "metrics", graphite: {address: "%s", start: "beginning"}}
	audit:  {input: "events", file: {path: "audit.jsonl", start: "beginning"}}
}
`

// store is a store of time series that runs as a program of its own. It reads back
// what it has as "service value" of each point.
type store struct {
	*outside
	read func() map[string]bool
}

// stores are those that are installed here; CI has all but one.
func stores(t *testing.T) map[string]*store {
	t.Helper()
	all := map[string]*store{}
	for name, make := range map[string]func(*testing.T) *store{"vm": newVictoria, "influx": newInfluxDB, "prom": newPrometheus, "carbon": newCarbon} {
		if s := make(t); s != nil {
			all[name] = s
		}
	}
	return all
}

func newVictoria(t *testing.T) *store {
	o := newOutside(t, "/usr/bin/victoria-metrics", "/health")
	if o == nil {
		return nil
	}
	dir := t.TempDir()
	o.args = []string{"-storageDataPath=" + dir, "-httpListenAddr=" + o.address, "-memory.allowedBytes=64MB", "-retentionPeriod=1y"}
	o.start()
	return &store{o, func() map[string]bool {
		o.get("/internal/force_flush", nil)
		got := map[string]bool{}
		for line := range bytes.Lines(o.get("/api/v1/export", url.Values{"match[]": {`{metric="n"}`}})) {
			var series struct {
				Metric map[string]string
				Values []float64
			}
			if err := json.Unmarshal(line, &series); err != nil {
				t.Fatal(err)
			}
			for _, v := range series.Values {
				got[point(series.Metric["service"], v)] = true
			}
		}
		return got
	}}
}

func newInfluxDB(t *testing.T) *store {
	o := newOutside(t, "/usr/bin/influxd", "/ping")
	if o == nil {
		return nil
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "influx.conf")
	text := fmt.Sprintf("reporting-disabled = true\nbind-address = %q\n[meta]\ndir = %q\n[data]\ndir = %q\nwal-dir = %q\n[http]\nbind-address = %q\nlog-enabled = false\n[monitor]\nstore-enabled = false\n",
		listentest.Address(t), dir+"/meta", dir+"/data", dir+"/wal", o.address)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o.args = []string{"run", "-config", config}
	o.start()
	o.eventually("there is a database", func() bool {
		res, err := http.PostForm("http://"+o.address+"/query", url.Values{"q": {"CREATE DATABASE db"}})
		if err != nil {
			return false
		}
		return res.Body.Close() == nil && res.StatusCode == http.StatusOK
	})
	return &store{o, func() map[string]bool {
		var answer struct {
			Results []struct {
				Series []struct {
					Tags   map[string]string
					Values [][2]any
				}
			}
		}
		q := `SELECT value FROM jaque_metric WHERE metric = 'n' GROUP BY service`
		if err := json.Unmarshal(o.get("/query", url.Values{"db": {"db"}, "epoch": {"ms"}, "q": {q}}), &answer); err != nil {
			return nil
		}
		got := map[string]bool{}
		for _, r := range answer.Results {
			for _, series := range r.Series {
				for _, v := range series.Values {
					got[point(series.Tags["service"], v[1].(float64))] = true
				}
			}
		}
		return got
	}}
}

func newPrometheus(t *testing.T) *store {
	o := newOutside(t, "/usr/bin/prometheus", "/-/ready")
	if o == nil {
		return nil
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(config, []byte("global: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.args = []string{"--config.file=" + config, "--storage.tsdb.path=" + dir + "/data", "--web.listen-address=" + o.address, "--web.enable-remote-write-receiver"}
	o.start()
	return &store{o, func() map[string]bool {
		var answer struct {
			Data struct {
				Result []struct {
					Metric map[string]string
					Values [][2]any
				}
			}
		}
		if err := json.Unmarshal(o.get("/api/v1/query", url.Values{"query": {`jaque_metric{metric="n"}[1h]`}}), &answer); err != nil {
			return nil
		}
		got := map[string]bool{}
		for _, r := range answer.Data.Result {
			for _, v := range r.Values {
				n, err := strconv.ParseFloat(v[1].(string), 64)
				if err != nil {
					t.Fatal(err)
				}
				got[point(r.Metric["service"], n)] = true
			}
		}
		return got
	}}
}

// readWhisper prints every value below a folder by Graphite's own library.
const readWhisper = `
import os, sys, time, whisper
for folder, _, files in os.walk(sys.argv[1]):
    for name in files:
        if name == "n.wsp":
            for v in whisper.fetch(os.path.join(folder, name), int(time.time()) - 3500)[1]:
                if v is not None: print(os.path.basename(folder), int(v))
`

func newCarbon(t *testing.T) *store {
	o := newOutside(t, "/usr/bin/carbon-cache", "")
	if o == nil {
		return nil
	}
	dir := t.TempDir()
	_, port, _ := strings.Cut(o.address, ":")
	_, pickle, _ := strings.Cut(listentest.Address(t), ":")
	_, query, _ := strings.Cut(listentest.Address(t), ":")
	text := "[cache]\nMAX_CREATES_PER_MINUTE = inf\nMAX_UPDATES_PER_SECOND = inf\nENABLE_UDP_LISTENER = False\nENABLE_TAGS = False\n" +
		"LINE_RECEIVER_INTERFACE = 127.0.0.1\nPICKLE_RECEIVER_INTERFACE = 127.0.0.1\nCACHE_QUERY_INTERFACE = 127.0.0.1\n" +
		"LINE_RECEIVER_PORT = " + port + "\nPICKLE_RECEIVER_PORT = " + pickle + "\nCACHE_QUERY_PORT = " + query + "\n" +
		"STORAGE_DIR = DIR\nCONF_DIR = DIR\nPID_DIR = DIR\nLOG_DIR = DIR\nLOCAL_DATA_DIR = DIR/whisper\n"
	for name, content := range map[string]string{
		"carbon.conf": strings.ReplaceAll(text, "DIR\n", dir+"\n"), "storage-schemas.conf": "[all]\npattern = .*\nretentions = 1s:1h\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.ReplaceAll(content, "= DIR", "= "+dir)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o.env = []string{"GRAPHITE_ROOT=" + dir}
	o.args = []string{"--config=" + filepath.Join(dir, "carbon.conf"), "--pidfile=" + filepath.Join(dir, "pid"), "--nodaemon", "start"}
	o.start()
	return &store{o, func() map[string]bool {
		out, err := exec.Command("/usr/bin/python3", "-c", readWhisper, filepath.Join(dir, "whisper")).Output()
		if err != nil {
			return nil // a file is being made
		}
		got := map[string]bool{}
		for line := range strings.Lines(string(out)) {
			got[strings.TrimSpace(line)] = true
		}
		return got
	}}
}

func point(service string, v float64) string { return fmt.Sprintf("%s %.0f", service, v) }

// measuring is a split whose sinks write to real stores.
type measuring struct {
	*split
	stores map[string]*store
}

func newMeasuring(t *testing.T) *measuring {
	t.Helper()
	m := &measuring{split: &split{t: t, nats: startNATS(t), dir: t.TempDir()}, stores: stores(t)}
	script := "#!/bin/sh\nn=$(date +%s%N | cut -c1-15)\necho \"OK $n | n=$n\"\n"
	if err := os.WriteFile(m.plugin(), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string {
		if s := m.stores[name]; s != nil {
			return s.outside.address
		}
		return "127.0.0.1:9"
	}
	var services []string
	for n := range 20 {
		services = append(services, strconv.Itoa(n))
	}
	m.site = site(t, fmt.Sprintf(measuredSite, strings.Join(services, ", "), m.plugin(),
		"http://"+at("vm"), "http://"+at("influx"), "http://"+at("prom"), at("carbon")))
	return m
}

// sinks starts a process of sinks.
func (m *measuring) sinks(id, names string) *running {
	m.t.Helper()
	return launch(m.t, "-target", "sink", "-config", m.site, "-eventlog", m.nats.ClientURL(), "-sink-id", id, "-sinks", names)
}

// recorded returns "service value" of every result on the log, once each.
func (m *measuring) recorded() map[string]bool {
	m.t.Helper()
	data, err := os.ReadFile(m.events())
	if err != nil && !os.IsNotExist(err) {
		m.t.Fatal(err)
	}
	all := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		var e struct{ Stream, Object, Perfdata string }
		if json.Unmarshal([]byte(line), &e) == nil && e.Stream == "results" && strings.HasPrefix(e.Perfdata, "n=") {
			all[strings.TrimPrefix(e.Object, "h!")+" "+strings.TrimPrefix(e.Perfdata, "n=")] = true
		}
	}
	return all
}

// sameEverywhere demands that each store gives back what stands on the log.
func (m *measuring) sameEverywhere(want map[string]bool) {
	m.t.Helper()
	for name, s := range m.stores {
		var missing, more int
		for end := time.Now().Add(2 * time.Minute); ; time.Sleep(500 * time.Millisecond) {
			got := s.read()
			missing, more = 0, 0
			for p := range want {
				if !got[p] {
					missing++
				}
			}
			for p := range got {
				if !want[p] {
					more++
				}
			}
			if missing+more == 0 || time.Now().After(end) {
				break
			}
		}
		m.t.Logf("%s: %d points, %d missing, %d that nobody measured", name, len(want), missing, more)
		if missing+more > 0 {
			m.t.Errorf("%s: of %d points %d are missing and %d are there that nobody measured", name, len(want), missing, more)
		}
	}
}

// S039, S052 and design of sinks: two processes share the sinks, one is killed, a
// target is down for a while under load, and nothing is missing afterwards.
func TestSinksMissNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts several servers")
	}
	t.Parallel()
	m := newMeasuring(t)
	m.engine = launch(t, "-target", "engine", "-config", m.site, "-eventlog", m.nats.ClientURL(), "-queue", "memory", "-engine-id", "e1", "-events-out", m.events())
	const names = "vm,influx,prom,carbon"
	processes := map[string]*running{"s1": m.sinks("s1", names), "s2": m.sinks("s2", names)}
	runs := func(r *running, name string) bool {
		_, page := r.get("/metrics")
		return strings.Contains(page, fmt.Sprintf("jaque_sink_running{sink=%q} 1", name))
	}
	for name := range m.stores {
		m.await("exactly one process runs "+name, func() bool { return runs(processes["s1"], name) != runs(processes["s2"], name) })
		m.await(name+" is written to", func() bool { return len(m.stores[name].read()) > 0 })
	}
	if _, page := m.engine.get("/metrics"); strings.Contains(page, `jaque_sink_running{sink="vm"}`) || !strings.Contains(page, `jaque_sink_running{sink="audit"} 1`) {
		t.Error("an engine runs the sinks of events and no others")
	}
	for name, s := range m.stores {
		if name == "vm" || len(m.stores) == 1 {
			s.stop()
			time.Sleep(*sinkOutage)
			s.start()
		}
	}
	dead, left := "s1", "s2"
	if runs(processes["s2"], "vm") {
		dead, left = left, dead
	}
	if err := processes[dead].cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for name := range m.stores {
		m.await("the other process runs "+name, func() bool { return runs(processes[left], name) })
	}
	time.Sleep(3 * time.Second)
	m.engine.signal(os.Interrupt)
	if code := m.engine.end(); code != 0 {
		t.Errorf("the engine ended with %d:\n%s", code, m.engine.log())
	}
	m.sameEverywhere(m.recorded())
}
