package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// options are the flags.
type options struct {
	dir     string
	builtin bool
	most    int
	timeout time.Duration
	list    bool
	names   []string
}

// run is the command; it returns the exit status: 0 every verdict is as
// declared, 1 one differs, 2 wrong use, 3 TLC is not there.
func run(ctx context.Context, args []string, env func(string) string, out, errs io.Writer) int {
	o := options{}
	flags := flag.NewFlagSet("check", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.StringVar(&o.dir, "dir", "docs/formal", "folder of the modules")
	flags.BoolVar(&o.builtin, "builtin", false, "search with this program instead of TLC")
	flags.IntVar(&o.most, "most", 150_000, "with -builtin and without names: leave out configurations of more states in the reference")
	flags.DurationVar(&o.timeout, "timeout", time.Hour, "end a configuration that takes longer")
	flags.BoolVar(&o.list, "list", false, "print the configurations and what they declare")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	o.names = flags.Args()
	rows, err := readRows(o.dir)
	if err == nil {
		rows, err = choose(rows, o.names)
	}
	if err != nil {
		fmt.Fprintln(errs, "check:", err)
		return 2
	}
	if o.list {
		for _, r := range rows {
			fmt.Fprintf(out, "%-24s %s\n", r.name, r.declared)
		}
		return 0
	}
	find, one := search(builtin), true
	if !o.builtin {
		t, err := newTLC(env)
		if err != nil {
			fmt.Fprintln(errs, "check:", err)
			return 3
		}
		find, one = t.run, t.workers == "1"
	}
	if bad := checkAll(ctx, o, rows, find, one, out); bad > 0 {
		fmt.Fprintf(errs, "check: %d configurations differ from what they declare\n", bad)
		return 1
	}
	return 0
}

// checkAll runs the rows and prints a line for each; it returns how many differ.
// Only a search of one worker is sure to find a shortest counterexample, so only
// there another length is a difference.
func checkAll(ctx context.Context, o options, rows []row, find search, one bool, out io.Writer) int {
	fmt.Fprintf(out, "%-24s %-34s %22s %10s %8s\n", "configuration", "found", "states (reference)", "depth", "time")
	bad, done, left := 0, 0, 0
	for _, r := range rows {
		if o.builtin && len(o.names) == 0 && r.distinct > o.most {
			left++
			continue
		}
		start := time.Now()
		found, err := checkRow(ctx, o, r, find)
		complaint, length := "", false
		if err == nil {
			complaint, length = compare(r, found)
		} else {
			complaint = err.Error()
		}
		fmt.Fprintf(out, "%-24s %-34s %10d (%9d) %4d (%3d) %7.1fs\n", r.name, found.verdict, found.distinct, r.distinct, found.depth, r.depth, time.Since(start).Seconds())
		switch {
		case complaint == "":
		case length && !one:
			fmt.Fprintf(out, "    note: %s\n", complaint)
		default:
			fmt.Fprintf(out, "    DIFFERS from %q: %s\n", r.declared, complaint)
			bad++
		}
		done++
		if ctx.Err() != nil {
			break
		}
	}
	fmt.Fprintf(out, "%d of %d configurations run, %d as declared\n", done, len(rows), done-bad)
	if left > 0 {
		fmt.Fprintf(out, "%d larger ones were left out, see -most\n", left)
	}
	return bad
}

// checkRow runs one configuration within the time limit.
func checkRow(ctx context.Context, o options, r row, find search) (outcome, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, errors.New("no verdict within the time limit, see -timeout"))
	defer cancel()
	module, err := os.ReadFile(filepath.Join(o.dir, r.module+".tla"))
	if err != nil {
		return outcome{}, err
	}
	return find(ctx, r, string(module))
}
