package main

import (
	"context"
	_ "embed"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

//go:embed c/plugin.c
var pluginSource []byte

//go:embed c/spawn.c
var spawnSource []byte

// compile builds a C source as dir/name.
func compile(ctx context.Context, dir, name string, source []byte, flags ...string) (string, error) {
	src, out := filepath.Join(dir, name+".c"), filepath.Join(dir, name)
	if err := os.WriteFile(src, source, 0o644); err != nil {
		return "", err
	}
	args := append([]string{"-O2", "-Wall", "-Werror", "-o", out, src}, flags...)
	if msg, err := exec.CommandContext(ctx, "gcc", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("gcc %s.c: %w\n%s", name, err, msg)
	}
	return out, nil
}

// records is the file that the plugin of one run appends to.
type records struct {
	plugin, path string
}

// newRecords builds a plugin that appends to a new file in dir.
func newRecords(ctx context.Context, dir string) (records, error) {
	r := records{path: filepath.Join(dir, "records")}
	if err := os.WriteFile(r.path, nil, 0o666); err != nil {
		return r, err
	}
	var err error
	r.plugin, err = compile(ctx, dir, "bench_plugin", pluginSource, fmt.Sprintf("-DRECORDS=%q", r.path))
	return r, err
}

// count tells how many plugins have run.
func (r records) count() int {
	info, err := os.Stat(r.path)
	if err != nil {
		return 0
	}
	return int(info.Size() / recordSize)
}

const recordSize = 16

// start is one run of the plugin.
type start struct {
	id uint64 // of the service
	at time.Time
}

// since reads the runs after the first skip ones, in the order of their start.
func (r records) since(skip int) ([]start, error) {
	b, err := os.ReadFile(r.path)
	if err != nil {
		return nil, err
	}
	var out []start
	for i := skip * recordSize; i+recordSize <= len(b); i += recordSize {
		out = append(out, start{
			id: binary.NativeEndian.Uint64(b[i:]),
			at: time.Unix(0, int64(binary.NativeEndian.Uint64(b[i+8:]))),
		})
	}
	slices.SortFunc(out, func(a, b start) int { return a.at.Compare(b.at) })
	return out, nil
}

// periods returns, for every pair of runs of one service, by how much their
// distance differs from the interval.
func periods(starts []start, interval time.Duration) []time.Duration {
	last := map[uint64]time.Time{}
	var out []time.Duration
	for _, s := range starts {
		if was, ok := last[s.id]; ok {
			out = append(out, s.at.Sub(was)-interval)
		}
		last[s.id] = s.at
	}
	return out
}

// silence is the longest time without any start between from and to.
func silence(starts []start, from, to time.Time) time.Duration {
	longest, last := time.Duration(0), from
	for _, s := range starts {
		if s.at.Before(from) || s.at.After(to) {
			continue
		}
		longest, last = max(longest, s.at.Sub(last)), s.at
	}
	return max(longest, to.Sub(last))
}

// quantile returns the q-th (0 to 1) of values, 0 without any.
func quantile(values []time.Duration, q float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// mean of values, 0 without any.
func mean(values []time.Duration) time.Duration {
	var sum time.Duration
	for _, v := range values {
		sum += v
	}
	return sum / time.Duration(max(1, len(values)))
}
