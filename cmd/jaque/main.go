// Command jaque monitors hosts and services. It is one program in six roles.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/roles"
	"jaque.sh/jaque/roles/client"
)

// version is set by the linker.
var version string

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run does what the command line says and returns the exit status. Results go
// to stdout, everything else to stderr.
func run(args []string, stdout, stderr io.Writer) int {
	if simulates(args) {
		return exitStatus(simulate(args[2:], stdout, stderr), stderr)
	}
	if len(args) > 0 && slices.Contains(client.Names(), args[0]) {
		return client.Run(context.Background(), args, person(stdout, stderr))
	}
	return exitStatus(dispatch(args, stdout, stderr), stderr)
}

// exitStatus tells an error and returns the exit status it leads to.
func exitStatus(err error, stderr io.Writer) int {
	if errors.Is(err, errReported) {
		return roles.ExitUsage
	}
	if err != nil {
		fmt.Fprintln(stderr, message(err))
	}
	return roles.ExitCode(err)
}

// errReported says that what is wrong with the config was already told.
var errReported = errors.New("the config is wrong")

// message is how an error is told: problems of a config begin with their place,
// everything else with the program's name.
func message(err error) string {
	var problems config.Problems
	if errors.As(err, &problems) {
		return problems.Error()
	}
	return "jaque: " + strings.ReplaceAll(err.Error(), "\n", "\njaque: ")
}

// dispatch runs a subcommand or, without one, a role.
func dispatch(args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return role(args, stdout, stderr)
	}
	switch args[0] {
	case "check-config":
		return checkConfig(args[1:], stdout, stderr)
	case "demo":
		return runDemo(args[1:], stdout, stderr)
	case "credentials":
		return credentials(args[1:], stdout, stderr)
	case "cluster":
		return clusterCommand(args[1:], stdout, stderr)
	case "witness":
		return witness(args[1:], stdout, stderr)
	case "backup":
		return takeBackup(args[1:], stdout, stderr)
	case "restore":
		return restoreBackup(args[1:], stdout, stderr)
	case "log":
		return logCommand(args[1:], stdout, stderr)
	case "version":
		fmt.Fprintln(stdout, versionLine())
		return nil
	case "help":
		return help(args[1:], stdout)
	}
	return roles.UnknownCommand(args[0], client.Names()...)
}

// role parses the command line and runs the role.
func role(args []string, stdout, stderr io.Writer) error {
	s, err := roles.Parse(args, environment())
	switch {
	case err != nil:
		return err
	case s.Help:
		printHelp(stdout, s.Role)
		return nil
	case s.Version:
		fmt.Fprintln(stdout, versionLine())
		return nil
	}
	return start(s, roles.Process{Stdout: stdout}, stderr)
}

// start runs a role with the process's signals.
func start(s roles.Settings, p roles.Process, stderr io.Writer) error {
	return supervise(s, p, stderr, roles.Run)
}

// supervise runs what a process does until a signal ends it.
func supervise(s roles.Settings, p roles.Process, stderr io.Writer, do func(context.Context, roles.Settings, roles.Process) error) error {
	p.Logger, p.Version = newLogger(s, stderr), versionText()
	p.CollectorSet = os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != ""
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	reload := make(chan struct{}, 1)
	p.Reload = reload
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	go watch(signals, stop, reload, stderr)
	return do(ctx, s, p)
}

// watch turns signals into what they mean: the first SIGINT or SIGTERM drains,
// a SIGINT after that quits at once, SIGHUP reloads.
func watch(signals <-chan os.Signal, stop context.CancelCauseFunc, reload chan<- struct{}, stderr io.Writer) {
	stopping := false
	for sig := range signals {
		switch {
		case sig == syscall.SIGHUP:
			select {
			case reload <- struct{}{}:
			default: // one is waiting already
			}
		case stopping && sig == syscall.SIGINT:
			fmt.Fprintln(stderr, "jaque: interrupted again, quitting at once")
			os.Exit(roles.ExitFailed)
		default:
			stopping = true
			stop(fmt.Errorf("got the signal %q", sig))
		}
	}
}

func environment() roles.Environment {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	return roles.Environment{Lookup: os.LookupEnv, ReadFile: os.ReadFile, Host: host, Root: os.Geteuid() == 0}
}

func newLogger(s roles.Settings, stderr io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.LogLevel)); err != nil {
		panic("a level that Parse accepted is none: " + s.LogLevel)
	}
	options := &slog.HandlerOptions{Level: level}
	if s.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(stderr, options))
	}
	return slog.New(slog.NewTextHandler(stderr, options))
}

// versionText is what the linker set, else what the build recorded.
func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

func versionLine() string {
	line := "jaque " + versionText()
	if info, ok := debug.ReadBuildInfo(); ok {
		line += " " + info.GoVersion
	}
	return line
}
