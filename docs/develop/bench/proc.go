package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// tick is the unit of CPU times in /proc: 1/100 s on every Linux that Go runs
// on.
const tick = 0.01

// stat is what we need of /proc/PID/stat.
type stat struct {
	pid, parent int
	name        string
	own, reaped float64 // CPU seconds of itself and of children it waited for
}

// readStat reads one process.
func readStat(pid int) (stat, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	return parseStat(b)
}

// parseStat reads a line of /proc/PID/stat. The name is in parentheses and may
// hold anything, even parentheses.
func parseStat(b []byte) (stat, error) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return stat{}, fmt.Errorf("stat %q has no name", b)
	}
	f := strings.Fields(string(b[end+1:]))
	if len(f) < 15 {
		return stat{}, fmt.Errorf("stat %q is too short", b)
	}
	n := func(i int) int { v, _ := strconv.Atoi(f[i]); return v }
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b[:open])))
	return stat{
		pid: pid, parent: n(1), name: string(b[open+1 : end]),
		own:    float64(n(11)+n(12)) * tick,
		reaped: float64(n(13)+n(14)) * tick,
	}, nil
}

// tree returns a process and everything below it, without the plugins.
func tree(pid int) []stat {
	children := map[int][]stat{}
	paths, _ := filepath.Glob("/proc/[0-9]*")
	var top []stat
	for _, p := range paths {
		id, _ := strconv.Atoi(filepath.Base(p))
		s, err := readStat(id)
		if err != nil {
			continue
		}
		if id == pid {
			top = []stat{s}
		}
		children[s.parent] = append(children[s.parent], s)
	}
	for i := 0; i < len(top); i++ {
		for _, c := range children[top[i].pid] {
			if !strings.HasPrefix(c.name, "bench_plugin") {
				top = append(top, c)
			}
		}
	}
	return top
}

// usage is the CPU seconds of an engine.
type usage struct {
	engine float64 // its own processes
	all    float64 // with the plugins they waited for
}

// cpu adds up the processes of an engine.
func cpu(pid int) usage {
	var u usage
	for _, s := range tree(pid) {
		u.engine += s.own
		u.all += s.own + s.reaped
	}
	return u
}

// pss is the proportional memory of an engine's processes in bytes.
func pss(pid int) int64 {
	var sum int64
	for _, s := range tree(pid) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", s.pid))
		if err == nil {
			sum += parsePss(b)
		}
	}
	return sum
}

// parsePss reads the line "Pss: 123 kB" of smaps_rollup, in bytes.
func parsePss(b []byte) int64 {
	for sc := bufio.NewScanner(bytes.NewReader(b)); sc.Scan(); {
		if rest, ok := strings.CutPrefix(sc.Text(), "Pss:"); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n << 10
		}
	}
	return 0
}
