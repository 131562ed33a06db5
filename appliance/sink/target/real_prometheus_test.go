package target

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/listen/listentest"
	"jaque.sh/jaque/appliance/rule/sample"
	"jaque.sh/jaque/appliance/sink"
)

func newPrometheus(t *testing.T) *server {
	s := &server{t: t, port: listentest.Port(t), ask: "/-/ready"}
	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(config, []byte("global: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.command = func() *exec.Cmd {
		return exec.Command(prometheusProgram, "--config.file="+config, "--storage.tsdb.path="+dir+"/data",
			fmt.Sprintf("--web.listen-address=127.0.0.1:%d", s.port), "--web.enable-remote-write-receiver")
	}
	s.start()
	return s
}

// promQuery reads the points of a range selector.
func (s *server) promQuery(query string) []point {
	body, status := s.get("/api/v1/query", url.Values{"query": {query}})
	if status != http.StatusOK {
		s.t.Fatalf("%s: %d %s", query, status, body)
	}
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Values [][2]any
			}
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		s.t.Fatal(err)
	}
	var all []point
	for _, r := range answer.Data.Result {
		name := r.Metric["__name__"]
		delete(r.Metric, "__name__")
		for _, v := range r.Values {
			value, err := strconv.ParseFloat(v[1].(string), 64)
			if err != nil {
				s.t.Fatal(err)
			}
			all = append(all, point{series(name, r.Metric), int64(math.Round(v[0].(float64) * 1000)), value})
		}
	}
	return sorted(all)
}

func TestPrometheusGivesBackWhatWasMeasured(t *testing.T) {
	t.Parallel()
	if !there(t, prometheusProgram, "prometheus", false) {
		return
	}
	s := newPrometheus(t)
	settings := map[string]string{"url": s.address("/api/v1/write"), "thresholds": "true", "label.dc": "fra1"}
	sent := send(t, "remote_write", settings, func(m *sample.Mapping) []sample.Sample {
		all := measured(t, m)
		slices.Reverse(all) // a batch may hold what came late
		return all
	})
	compare(t, s.promQuery(`{dc="fra1"}[10m]`), points(sent, "", 1))

	settings["version"] = "2"
	made, err := New(Setup{Kind: "remote_write", Input: Metrics, Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	_, err = made.Target.Write(t.Context(), &sink.Batch{Samples: measured(t, made.Mapping)})
	if err == nil || !strings.Contains(err.Error(), `write version: "1"`) {
		t.Errorf("a receiver of 1.0 that is sent 2.0: %v", err)
	}
	delete(settings, "version")
	if made, err = New(Setup{Kind: "remote_write", Input: Metrics, Settings: settings}); err != nil {
		t.Fatal(err)
	}
	old := sent[0]
	old.Time -= 1000 * 3600 * 24
	_, err = made.Target.Write(t.Context(), &sink.Batch{Samples: []sample.Sample{old}})
	if e, ok := err.(*sink.Error); !ok || !e.Permanent {
		t.Errorf("a sample that is too old is refused with %v", err)
	}
}
