package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// metricLateness is the one metric that is read; everything else is seen from
// outside.
const metricLateness = "jaque_check_lateness_seconds"

// jaque is the binary under test with -target all.
func jaque(binary string) engine {
	e := engine{name: "jaque"}
	if info, err := os.Stat(binary); err == nil && !info.IsDir() {
		e.binary = binary
	}
	e.write = writeJaque
	e.start = func(dir string) []string {
		return []string{
			e.binary, "-target", "all", "-config", filepath.Join(dir, "config"),
			"-data", filepath.Join(dir, "data"), "-listen", jaqueAddress(dir),
		}
	}
	e.validate = func(dir string) []string {
		return []string{e.binary, "check-config", "-config", filepath.Join(dir, "config")}
	}
	e.late = jaqueLateness
	return e
}

// writeJaque writes config/site.cue and config/hosts.csv, and picks a port.
func writeJaque(dir string, s site) error {
	if err := os.MkdirAll(filepath.Join(dir, "config"), 0o755); err != nil {
		return err
	}
	check := fmt.Sprintf("plugin: [%q, \"$HOSTNAME$\", \"$SERVICEDESC$\"]", s.plugin)
	switch s.check {
	case "tcp":
		check = fmt.Sprintf("tcp: address: \"$HOSTADDRESS$:%d\"", s.port)
	case "http":
		check = fmt.Sprintf("http: url: \"http://$HOSTADDRESS$:%d/\"", s.port)
	}
	var cue, csv bytes.Buffer
	fmt.Fprintf(&cue, "package site\n\ndefaults: {interval: \"%ds\", retry: \"%ds\", attempts: 3, timeout: \"30s\"}\n\n", s.seconds(), s.seconds())
	fmt.Fprintf(&cue, "inventory: [\"hosts.csv\"]\n\n")
	for i := range perHost {
		fmt.Fprintf(&cue, "services: %s: {on: {bench: \"yes\"}, check: %s}\n", s.service(i), check)
	}
	fmt.Fprintf(&csv, "name,address,label.bench\n")
	for h := range s.hosts() {
		fmt.Fprintf(&csv, "%s,%s,yes\n", s.host(h), s.address(h))
	}
	if err := os.WriteFile(filepath.Join(dir, "config", "site.cue"), cue.Bytes(), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "config", "hosts.csv"), csv.Bytes(), 0o644); err != nil {
		return err
	}
	if jaqueAddress(dir) != "" {
		return nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	return os.WriteFile(filepath.Join(dir, "address"), []byte(l.Addr().String()), 0o644)
}

// jaqueAddress is where jaque was told to listen, "" before it was written.
func jaqueAddress(dir string) string {
	b, err := os.ReadFile(filepath.Join(dir, "address"))
	if err != nil {
		return ""
	}
	return string(b)
}

// scrape reads /metrics.
func scrape(dir string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+jaqueAddress(dir)+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", req.URL, r.Status)
	}
	return b, err
}

// jaqueLateness reads the histogram of lateness. "Most" is the upper bound of
// the highest bucket that holds anything.
func jaqueLateness(dir string) (p50, p99, most time.Duration, err error) {
	text, err := scrape(dir)
	if err != nil {
		return 0, 0, 0, err
	}
	h := parseHistogram(text, metricLateness)
	if len(h) == 0 || h[len(h)-1].count == 0 {
		return 0, 0, 0, fmt.Errorf("no %s in /metrics", metricLateness)
	}
	return h.quantile(0.5), h.quantile(0.99), h.quantile(1), nil
}

// bucket is one cumulative bucket of a histogram.
type bucket struct {
	le    float64 // seconds
	count float64
}

// histogram holds the buckets in rising order.
type histogram []bucket

// parseHistogram reads a histogram without other labels, or the first set of
// labels, from the text form of metrics.
func parseHistogram(text []byte, name string) histogram {
	var h histogram
	for sc := bufio.NewScanner(bytes.NewReader(text)); sc.Scan(); {
		rest, ok := strings.CutPrefix(sc.Text(), name+"_bucket{")
		if !ok {
			continue
		}
		labels, value, ok := strings.Cut(rest, "} ")
		_, le, found := strings.Cut(labels, `le="`)
		if !ok || !found {
			continue
		}
		le, _, _ = strings.Cut(le, `"`)
		bound, err1 := strconv.ParseFloat(le, 64) // reads "+Inf" too
		count, err2 := strconv.ParseFloat(value, 64)
		if err1 != nil || err2 != nil {
			continue
		}
		if len(h) > 0 && bound <= h[len(h)-1].le {
			break
		}
		h = append(h, bucket{bound, count})
	}
	return h
}

// quantile interpolates within the bucket; beyond the last bound it is that
// bound.
func (h histogram) quantile(q float64) time.Duration {
	total := h[len(h)-1].count
	var low, below float64
	for _, b := range h {
		if b.count >= q*total && b.count > 0 {
			if b.le > 1e9 { // +Inf
				return time.Duration(low * float64(time.Second))
			}
			at := low + (b.le-low)*(q*total-below)/max(1, b.count-below)
			return time.Duration(at * float64(time.Second))
		}
		low, below = b.le, b.count
	}
	return time.Duration(low * float64(time.Second))
}
