package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// bench is one run of the harness.
type bench struct {
	dir    string // scratch, removed at the end
	jaque  string // path of the binary; "" leaves its columns out
	only   []string
	rates  []int
	sizes  []int
	window time.Duration
	table  table
}

func main() {
	os.Exit(run(os.Args[1:]))
}

// run returns the exit code: 0 measured, 1 failed, 2 wrong usage.
func run(args []string) int {
	if len(args) > 0 && args[0] == "-floor" {
		return floorMain(args[1:])
	}
	if len(args) > 0 && args[0] == "-serve" {
		return serveMain()
	}
	b := &bench{}
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	rows := fs.String("rows", "a,c,d,h", "rows to measure: a plugin checks, c memory, d start and reload, h checks in process")
	rates := fs.String("rates", "200,2000", "row a: checks per second offered, one run each")
	sizes := fs.String("sizes", "1000,10000,100000", "rows c and d: numbers of services")
	engines := fs.String("engines", "jaque,nagios4,icinga2", "who is measured")
	write := fs.String("write", "", "also put the table into this file, between its markers")
	fs.StringVar(&b.jaque, "jaque", "bin/jaque", "the jaque binary")
	fs.DurationVar(&b.window, "window", 20*time.Second, "how long one figure is measured")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	var err error
	if b.rates, err = numbers(*rates); err == nil {
		b.sizes, err = numbers(*sizes)
	}
	if err != nil || fs.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "bench: %v %v; see -h\n", err, fs.Args())
		return 2
	}
	b.only = strings.Split(*engines, ",")
	if b.jaque, err = filepath.Abs(b.jaque); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := b.measure(ctx, strings.Split(*rows, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	text := b.table.markdown(b.machine())
	fmt.Print(text)
	if *write != "" {
		if err := replaceTable(*write, text); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			return 1
		}
	}
	return 0
}

// measure runs the rows in a scratch folder.
func (b *bench) measure(ctx context.Context, rows []string) (err error) {
	if b.dir, err = os.MkdirTemp("", "jaque-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	started := time.Now()
	for _, r := range rowOrder {
		if !wanted(rows, r.names) {
			continue
		}
		fmt.Fprintf(os.Stderr, "bench: %4.0f s: %s\n", time.Since(started).Seconds(), r.what)
		if err := r.run(b, ctx, rows); err != nil {
			return fmt.Errorf("%s: %w", r.what, err)
		}
	}
	fmt.Fprintf(os.Stderr, "bench: %4.0f s: done\n", time.Since(started).Seconds())
	return nil
}

// numbers reads "1,2,3".
func numbers(s string) ([]int, error) {
	var out []int
	for _, f := range strings.Split(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(f))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not a list of numbers; write 200,2000", s)
		}
		out = append(out, n)
	}
	return out, nil
}
