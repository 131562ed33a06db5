package roles

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const metricsPage = "../docs/reference/metrics.md"

const metricsHead = `# Metrics

Section: Reference · Next: [Sinks](sinks.md) · Index: [llms.txt](../llms.txt)

This page is generated from what the program serves at ` + "`/metrics`" + ` in role ` + "`all`" + ` (` + "`go test ./roles -update`" + `).
Names, types and labels are a contract; a change of one is a change fragment. Those of the Go runtime and of the process
(` + "`go_…`, `process_…`" + `) are left out.

| metric | type | labels | meaning |
| --- | --- | --- | --- |
`

// TestMetricsAreTheDocumentedOnes compares what /metrics serves with the page, so
// that no metric is renamed unseen. S009, S154
func TestMetricsAreTheDocumentedOnes(t *testing.T) {
	outside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(outside.Close)
	canary := fmt.Sprintf("delivery: canary: {every: \"10s\", url: %q}\n", outside.URL)
	x := startAll(t, folder(t, shop+canary), "-eventlog", "embedded", "-data", filepath.Join(t.TempDir(), "data"),
		"-command-file", filepath.Join(t.TempDir(), "commands"))
	x.until("/metrics", "jaque_canary_round_age_seconds") // the first round is complete
	code, text := x.call(http.MethodGet, "/metrics", "")
	if err := x.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if code != http.StatusOK {
		t.Fatalf("/metrics answered %d", code)
	}
	page := metricsHead + metricRows(text)
	if *update {
		if err := os.WriteFile(metricsPage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(metricsPage)
	if err != nil || string(want) != page {
		t.Fatalf("%s differs from what /metrics serves (%v); run: go test ./roles -update\n%s", metricsPage, err, page)
	}
}

// metricRows turns the text format into one table row for each metric.
func metricRows(text string) string {
	help, kind, labels := map[string]string{}, map[string]string{}, map[string]map[string]bool{}
	var names []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			name, what, _ := strings.Cut(rest, " ")
			help[name] = what
			names = append(names, name)
			continue
		}
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, what, _ := strings.Cut(rest, " ")
			kind[name] = what
			continue
		}
		addLabels(labels, kind, line)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		if strings.HasPrefix(name, "jaque_") {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, kind[name], labelList(labels[name]), help[name])
		}
	}
	return b.String()
}

// addLabels notes the label names of one sample line.
func addLabels(labels map[string]map[string]bool, kind map[string]string, line string) {
	name, rest, ok := strings.Cut(line, "{")
	if !ok {
		return
	}
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if base := strings.TrimSuffix(name, suffix); kind[base] == "histogram" {
			name = base
		}
	}
	if labels[name] == nil {
		labels[name] = map[string]bool{}
	}
	for _, pair := range strings.Split(rest[:strings.LastIndexByte(rest, '}')], "\",") {
		if label, _, ok := strings.Cut(pair, "="); ok && label != "le" {
			labels[name][label] = true
		}
	}
}

func labelList(set map[string]bool) string {
	var names []string
	for l := range set {
		names = append(names, "`"+l+"`")
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
