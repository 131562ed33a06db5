package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/audit"
	"jaque.sh/jaque/appliance/backup"
	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/rule/chain"
)

const logVerifyHelp = `Usage: jaque log verify [-data FOLDER] [-o json]
       jaque log verify -eventlog URL [-nats-creds FILE] [-nats-tls-ca FILE] [-o json]
       jaque log verify FILE [-o json]

Reads a whole event log and checks it: for each object epochs never go back, one process
writes in one epoch, decisions are based on the accepted one before, nothing is decided
twice; outcomes of notifications belong to requests; no position is missing and every
event can be read; with a data folder also that the log reaches what was acknowledged and
begins where it must, which a start would refuse otherwise. Nothing is changed.

  FILE               a file of "jaque backup"
  -data FOLDER       a data folder (default: as for the process). Its files are read, a
                     process that runs on it is not disturbed. A member of a cluster
                     that keeps no copy of the log asks one that does, while it runs
  -eventlog URL      a log server, see "jaque help backup" for the flags beside it
  -keep N            list so many violations (default 100); all are counted
  -o text|json       how the answer is written

Exit status 0 if every invariant holds, 1 if not or if the log cannot be read, 2 for
wrong usage.
`

// logCommand runs the commands about the log.
func logCommand(args []string, stdout, stderr io.Writer) error {
	l := logServer{command: "log verify"}
	if len(args) == 0 || args[0] != "verify" {
		if len(args) > 0 && slices.Contains([]string{"-h", "-help", "--help"}, args[0]) {
			fmt.Fprint(stdout, logVerifyHelp)
			return nil
		}
		return l.usage("write jaque log verify")
	}
	keep, form := 100, "text"
	set := flag.NewFlagSet("log verify", flag.ContinueOnError)
	l.flags(set)
	set.StringVar(&form, "o", form, "")
	set.IntVar(&keep, "keep", keep, "")
	words, err := parseMixed(set, args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, logVerifyHelp)
		return nil
	case err != nil:
		return l.usage("%v", err)
	case form != "text" && form != "json":
		return l.usage("-o %q; write text or json", form)
	case keep < 1:
		return l.usage("-keep %d; write how many violations are listed", keep)
	case len(words) > 1 || len(words) == 1 && (l.data != "" || l.url != ""):
		return l.usage("write one file, or one place with -data or -eventlog")
	}
	ctx, stop := untilInterrupted()
	defer stop()
	v := verification{From: "", Keep: keep}
	if err := v.run(ctx, &l, words, stderr); err != nil {
		return interrupted(ctx, "log verify", err)
	}
	if form == "json" {
		err = v.json(stdout)
	} else {
		err = v.text(stdout)
	}
	if n := v.Count(); err == nil && n > 0 {
		err = fmt.Errorf("the log breaks its invariants in %d places", n)
	}
	return err
}

// verification is one run of the command.
type verification struct {
	chain.Report
	From string        // what was read
	Took time.Duration // by reading and checking
	Keep int
}

// run reads the log.
func (v *verification) run(ctx context.Context, l *logServer, words []string, stderr io.Writer) error {
	from, done, err := v.source(ctx, l, words, stderr)
	if err != nil {
		return err
	}
	var at audit.Progress
	began := time.Now()
	tell := ticker(func() { fmt.Fprintln(stderr, "jaque:", progressText(at, time.Since(began))) })
	v.Report, err = audit.Verify(ctx, from, audit.Options{Keep: v.Keep, Progress: func(p audit.Progress) { at = p; tell() }})
	v.Took = time.Since(began)
	return errors.Join(err, done())
}

// progressText says how far reading is after a time, and how long the rest will take.
func progressText(p audit.Progress, took time.Duration) string {
	text := fmt.Sprintf("position %d, %d messages", p.Seq, p.Messages)
	if p.Of == 0 || p.Done == 0 {
		return text
	}
	done := min(float64(p.Done)/float64(p.Of), 1)
	left := time.Duration(float64(took) * (1 - done) / done)
	return fmt.Sprintf("%s, %.0f %%, %s left", text, 100*done, left.Round(time.Second))
}

// source says where the log is read, and what is to be closed afterwards.
func (v *verification) source(ctx context.Context, l *logServer, words []string, stderr io.Writer) (audit.Source, func() error, error) {
	nothing := func() error { return nil }
	if len(words) == 1 {
		info, err := os.Stat(words[0])
		if err == nil && info.IsDir() {
			return nil, nil, l.usage("%s is a folder; write -data %s", words[0], words[0])
		}
		f, err := backup.Open(words[0])
		v.From = words[0]
		return &audit.File{Backup: f}, nothing, err
	}
	if err := l.settle(); err != nil {
		return nil, nil, err
	}
	v.From = l.String()
	if l.url != "" {
		b, err := l.connect(ctx, stderr)
		if err != nil {
			return nil, nil, err
		}
		return &audit.Server{Bus: b}, func() error { return b.Close(context.WithoutCancel(ctx)) }, nil
	}
	if bus.Used(l.data) == "" {
		return nil, nil, fmt.Errorf("there is no event log in %s; name the data folder of the process with -data, or its server with -eventlog", filepath.Clean(l.data))
	}
	if must, _ := bus.Expected(l.data); must.Members < 2 || bus.Keeps(l.data, bus.NamesFor("").Log) {
		return &audit.Folder{Data: l.data}, nothing, nil
	}
	acknowledged := bus.Acknowledged(l.data)
	b, err := l.connect(ctx, stderr)
	if errors.Is(err, bus.ErrNoDoor) {
		return nil, nil, fmt.Errorf("the member in %s keeps no copy of its cluster's log; start it, so that the others can be asked through it, "+
			"or run this at a member that keeps one (\"jaque cluster status\" shows the copies)", filepath.Clean(l.data))
	}
	if err != nil {
		return nil, nil, err
	}
	v.From = "the cluster of " + l.data
	return &audit.Server{Bus: b, Acknowledged: acknowledged}, func() error { return b.Close(context.WithoutCancel(ctx)) }, nil
}

// json writes the report as one object.
func (v *verification) json(w io.Writer) error {
	if v.Violations == nil {
		v.Violations = []chain.Violation{}
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(struct {
		From    string  `json:"from"`
		Clean   bool    `json:"clean"`
		Count   uint64  `json:"count"` // of violations
		Seconds float64 `json:"seconds"`
		chain.Report
	}{v.From, v.Clean(), v.Count(), v.Took.Seconds(), v.Report})
}

// text writes the report for people.
func (v *verification) text(w io.Writer) error {
	var b strings.Builder
	r := &v.Report
	for _, x := range r.Violations {
		object := string(x.Object)
		if object == "" {
			object = "-"
		}
		fmt.Fprintf(&b, "position %d  %s  %s: %s\n", x.Seq, object, x.Rule, x.Text)
	}
	if more := r.Count() - uint64(len(r.Violations)); more > 0 {
		fmt.Fprintf(&b, "and %d more; -keep N lists more of them\n", more)
	}
	if r.Events+r.Foreign+r.Unreadable == 0 {
		fmt.Fprintf(&b, "The log of %s is empty.\n", v.From)
		_, err := io.WriteString(w, b.String())
		return err
	}
	fmt.Fprintf(&b, "The log of %s, positions %d to %d: %d events of %d objects, newest epoch %d\n", v.From, r.First, r.Last, r.Events, r.Objects, r.Epoch)
	var writers []string
	for _, name := range slices.Sorted(maps.Keys(r.Writers)) {
		writers = append(writers, fmt.Sprintf("%s (%d)", name, r.Writers[name]))
	}
	fmt.Fprintf(&b, "  written by     %s\n", strings.Join(writers, ", "))
	fmt.Fprintf(&b, "  decisions      %d accepted, %d stale, %d conflicts\n", r.Accepted, r.Stale, r.Conflicts)
	fmt.Fprintf(&b, "  notifications  %d asked for, %d open, %d told of again; %d outcomes\n", r.Requests, r.Open, r.Repeated, r.Outcomes)
	fmt.Fprintf(&b, "  besides        %d of the system, %d that are no events, %d unreadable, %d missing, %d removed\n", r.System, r.Foreign, r.Unreadable, r.Missing, r.Removed)
	fmt.Fprintf(&b, "  read in        %s, %.0f events/s\n", v.Took.Round(time.Millisecond), float64(r.Events)/max(v.Took.Seconds(), 1e-6))
	if r.Clean() {
		b.WriteString("Every invariant holds.\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
