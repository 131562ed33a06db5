package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"jaque.sh/jaque/appliance/backup"
	"jaque.sh/jaque/appliance/cluster"
)

const restoreHelp = `Usage: jaque restore FILE [-data FOLDER]
       jaque restore FILE -eventlog URL [-nats-creds FILE] [-nats-tls-ca FILE]
       jaque restore FILE -check

Brings a backup back into a data folder or an external log server that holds no log,
with the positions, times, subjects and headers that everything had. The file is checked
as a whole before anything is changed, and after an error nothing is left.

  -check             only checks the file and says what is in it
  -data FOLDER       the data folder (default: as for the process); jaque does not run on
                     it. Other files in it, such as users and keys, stay
  -eventlog URL      an external log server
  -nats-creds FILE   credentials that may do everything on it
  -nats-tls-ca FILE  authority of its certificate

Who was a member is not restored: engines that start afterwards register under an epoch
above every one on the log. The folder of a member of a cluster whose others hold a log is
refused: two logs are never merged. docs/guide/backup.md says what is told twice and what not.
Exit status 0 if it is done, 1 if not, 2 for wrong usage.
`

// restoreBackup brings a backup back.
func restoreBackup(args []string, stdout, stderr io.Writer) error {
	l := logServer{command: "restore"}
	check := false
	set := flag.NewFlagSet("restore", flag.ContinueOnError)
	l.flags(set)
	set.BoolVar(&check, "check", false, "")
	words, err := parseMixed(set, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, restoreHelp)
		return nil
	case err != nil:
		return l.usage("%v", err)
	case len(words) != 1:
		return l.usage("name one file, as in jaque restore monday.backup")
	}
	if err := l.settle(); err != nil {
		return err
	}
	ctx, stop := untilInterrupted()
	defer stop()
	f, err := backup.Open(words[0])
	if err != nil {
		return err
	}
	began := time.Now()
	if check {
		m, err := f.Check(ctx)
		if err == nil {
			tellContent(stdout, words[0], &m)
		}
		return interrupted(ctx, "restore", err)
	}
	m, err := l.restore(ctx, f, stderr)
	if err != nil {
		return interrupted(ctx, "restore", err)
	}
	fmt.Fprintf(stdout, "Restored %s into %s in %s: the log up to position %d.\n", words[0], l.String(), time.Since(began).Round(100*time.Millisecond), m.Log().Last)
	fmt.Fprintln(stderr, "Start jaque on it now. What happened after the backup is not known to it: the next checks find out.")
	return nil
}

func (l *logServer) restore(ctx context.Context, f *backup.File, stderr io.Writer) (backup.Manifest, error) {
	var now backup.Progress
	tell := ticker(func() { fmt.Fprintf(stderr, "jaque: %s: %s in all\n", now.Stream, sizeText(now.Bytes)) })
	progress := func(p backup.Progress) { now = p; tell() }
	if l.url == "" {
		if err := cluster.MayRestore(l.data); err != nil {
			return backup.Manifest{}, fmt.Errorf("restore: %w", err)
		}
		return backup.RestoreFolder(ctx, f, l.data, quiet(io.Discard), progress)
	}
	b, err := l.connect(ctx, stderr)
	if err != nil {
		return backup.Manifest{}, err
	}
	m, err := backup.Target{Bus: b, Progress: progress}.Restore(ctx, f)
	return m, errors.Join(err, b.Close(context.WithoutCancel(ctx)))
}

// tellContent says what is in a file.
func tellContent(w io.Writer, name string, m *backup.Manifest) {
	fmt.Fprintf(w, "%s was taken on %s by jaque %s and is whole.\n", name, m.Made.Local().Format(time.RFC3339), m.Program)
	for i := range m.Streams {
		s := &m.Streams[i]
		fmt.Fprintf(w, "  %-20s %9d messages, positions %d to %d, %s\n", s.Name, s.Messages, s.First, s.Last, sizeText(s.Bytes))
	}
}
