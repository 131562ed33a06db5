package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"jaque.sh/jaque/appliance/backup"
	"jaque.sh/jaque/appliance/bus"
)

const backupHelp = `Usage: jaque backup -o FILE [-data FOLDER]
       jaque backup -o FILE -eventlog URL [-nats-creds FILE] [-nats-tls-ca FILE]

Takes the event log, the measurements, the snapshots of the state and the positions of
sinks into one file, while everything runs. The file has its name only when it is whole,
mode 0600, and says up to which position of the log it goes.

  -o FILE            the file; it must not exist
  -data FOLDER       the data folder of a jaque on this machine, running or not (default:
                     as for the process). A running one is asked over the socket
                     owner.sock in it, so that the command runs as the user of the process
  -eventlog URL      a log server elsewhere: an external one, or that of -nats-listen
  -nats-creds FILE   credentials for it, as "jaque credentials backup" makes them
  -nats-tls-ca FILE  authority of its certificate

Configuration, TLS keys and users are files beside; docs/guide/backup.md lists them.
Exit status 0 if the file is whole, 1 if there is none, 2 for wrong usage.
`

// takeBackup writes a backup.
func takeBackup(args []string, stdout, stderr io.Writer) error {
	l := logServer{command: "backup"}
	file := ""
	set := flag.NewFlagSet("backup", flag.ContinueOnError)
	l.flags(set)
	set.StringVar(&file, "o", "", "")
	words, err := parseMixed(set, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, backupHelp)
		return nil
	case err != nil:
		return l.usage("%v", err)
	case len(words) > 0 && file == "":
		return l.usage("write -o %s for the name of the file", words[0])
	case len(words) > 0:
		return l.usage("%q is too much", words[0])
	case file == "":
		return l.usage("name the file with -o, as in jaque backup -o monday.backup")
	}
	if err := l.settle(); err != nil {
		return err
	}
	ctx, stop := untilInterrupted()
	defer stop()
	began := time.Now()
	m, size, err := l.take(ctx, file, stderr)
	if err != nil {
		return interrupted(ctx, "backup", err)
	}
	log := m.Log()
	fmt.Fprintf(stdout, "%s: %s in %s, the log up to position %d (%d events", file, sizeText(size), time.Since(began).Round(100*time.Millisecond), log.Last, log.Messages)
	if !log.Newest.IsZero() {
		fmt.Fprintf(stdout, ", the newest of %s", log.Newest.Local().Format(time.RFC3339))
	}
	fmt.Fprintln(stdout, ")")
	if log.Missing > 0 {
		fmt.Fprintf(stderr, "jaque: %d positions are missing inside the log, as they were when it was taken\n", log.Missing)
	}
	return nil
}

// take writes the backup of a server, of a running process or of a folder.
func (l *logServer) take(ctx context.Context, file string, stderr io.Writer) (backup.Manifest, int64, error) {
	var now backup.Progress
	tell := ticker(func() {
		fmt.Fprintf(stderr, "jaque: %s: %d messages, %s in all\n", now.Stream, now.Messages, sizeText(now.Bytes))
	})
	o := backup.Options{File: file, Program: versionText(), Progress: func(p backup.Progress) { now = p; tell() }}
	b, err := l.connect(ctx, stderr)
	if err == nil {
		m, size, err := backup.Take(ctx, backup.Server{Conn: b.Conn()}, o)
		return m, size, errors.Join(err, b.Close(context.WithoutCancel(ctx)))
	}
	if !errors.Is(err, bus.ErrNoDoor) {
		return backup.Manifest{}, 0, err
	}
	if bus.Used(l.data) == "" {
		return backup.Manifest{}, 0, fmt.Errorf("there is no event log in %s; name the data folder of the process with -data, or its server with -eventlog", l.data)
	}
	release, err := bus.Lock(l.data)
	if err != nil {
		return backup.Manifest{}, 0, fmt.Errorf("%w. The process cannot be asked (its socket %s is not there): stop it for the time of the backup, or start it with -nats-listen and name that with -eventlog", err, bus.DoorFile)
	}
	m, size, err := backup.Take(ctx, backup.Folder{Data: l.data}, o)
	return m, size, errors.Join(err, release())
}
