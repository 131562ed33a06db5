package target

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/listen/listentest"
	"jaque.sh/jaque/appliance/rule/sample"
)

// carbon is Graphite's receiver with the files that it writes.
type carbon struct {
	server
	dir    string
	pickle int
}

func newCarbon(t *testing.T) *carbon {
	c := &carbon{server: server{t: t, port: listentest.Port(t)}, dir: t.TempDir(), pickle: listentest.Port(t)}
	text := fmt.Sprintf(`[cache]
STORAGE_DIR = DIR
CONF_DIR = DIR
LOCAL_DATA_DIR = DIR/whisper
PID_DIR = DIR
LOG_DIR = DIR
MAX_CREATES_PER_MINUTE = inf
MAX_UPDATES_PER_SECOND = inf
LINE_RECEIVER_INTERFACE = 127.0.0.1
LINE_RECEIVER_PORT = %d
PICKLE_RECEIVER_INTERFACE = 127.0.0.1
PICKLE_RECEIVER_PORT = %d
CACHE_QUERY_INTERFACE = 127.0.0.1
CACHE_QUERY_PORT = %d
ENABLE_UDP_LISTENER = False
ENABLE_TAGS = False
`, c.port, c.pickle, listentest.Port(t))
	for name, content := range map[string]string{
		"carbon.conf":          strings.ReplaceAll(text, "DIR\n", c.dir+"\n"),
		"storage-schemas.conf": "[all]\npattern = .*\nretentions = 1s:10m\n",
	} {
		content = strings.ReplaceAll(content, "DIR/whisper", c.dir+"/whisper")
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.command = func() *exec.Cmd {
		cmd := exec.Command(carbonProgram, "--config="+filepath.Join(c.dir, "carbon.conf"), "--pidfile="+filepath.Join(c.dir, "pid"), "--nodaemon", "start")
		cmd.Env = append(os.Environ(), "GRAPHITE_ROOT="+c.dir)
		return cmd
	}
	c.start()
	return c
}

// readAll prints every series below a folder by Graphite's own library.
const readAll = `
import json, os, sys, time, whisper
for folder, _, files in os.walk(sys.argv[1]):
    for name in files:
        path = os.path.join(folder, name)
        (start, end, step), values = whisper.fetch(path, int(time.time()) - 540)
        series = os.path.relpath(path, sys.argv[1])[:-len(".wsp")].replace("/", ".")
        print(json.dumps({"series": series, "start": start, "step": step, "values": values}))
`

// points reads what carbon has written of names that begin in a way.
func (c *carbon) points(prefix string) []point {
	out, err := exec.Command("/usr/bin/python3", "-c", readAll, filepath.Join(c.dir, "whisper")).CombinedOutput()
	if err != nil {
		c.t.Logf("%s", out) // a file is being made
		return nil
	}
	var all []point
	for line := range bytes.Lines(out) {
		var file struct {
			Series      string
			Start, Step int64
			Values      []*float64
		}
		if err := json.Unmarshal(line, &file); err != nil {
			c.t.Fatal(err)
		}
		for i, v := range file.Values {
			if v != nil && strings.HasPrefix(file.Series, prefix) {
				all = append(all, point{file.Series, (file.Start + int64(i)*file.Step) * 1000, *v})
			}
		}
	}
	return sorted(all)
}

func TestCarbonGivesBackWhatWasMeasured(t *testing.T) {
	t.Parallel()
	if !there(t, carbonProgram, "graphite-carbon", true) {
		return
	}
	c := newCarbon(t)
	for format, port := range map[string]int{"plaintext": c.port, "pickle": c.pickle} {
		t.Run(format, func(t *testing.T) {
			c.t = t
			settings := map[string]string{"address": fmt.Sprintf("127.0.0.1:%d", port), "format": format, "name": format + ".{host}.{check}.{metric}"}
			sent := send(t, "graphite", settings, func(m *sample.Mapping) []sample.Sample { return measured(t, m) })
			want := points(sent, "", 1000)
			var got []point
			end := time.Now().Add(10 * time.Second)
			for got = c.points(format); !same(got, want) && time.Now().Before(end); got = c.points(format) {
				time.Sleep(100 * time.Millisecond)
			}
			compare(t, got, want)
		})
	}
}
