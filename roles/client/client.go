package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/rule/near"
)

// Exit statuses of the commands.
const (
	Done   = 0 // it was done, for every object
	Failed = 1 // it was refused or failed for at least one object, or nobody answered
	Usage  = 2 // the command is written wrongly; nothing was done
	Nobody = 3 // nothing matched; nothing was done
)

// Process is what the commands get from the process they run in.
type Process struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Lookup         func(string) (string, bool)  // an environment variable
	ReadFile       func(string) ([]byte, error) // of -token-file
	User           string                       // the author where none is given
	URL            string                       // of jaque where none is given
	Terminal       bool                         // somebody can be asked on Stdin
	Now            func() time.Time             // in the zone in which times are written
	Transport      http.RoundTripper            // carries the requests; nil = http.DefaultTransport
}

// fault is an error with the exit status it leads to.
type fault struct {
	status int
	text   string
}

// Error returns what is wrong and what to write instead.
func (f *fault) Error() string { return f.text }

func usagef(format string, args ...any) error {
	return &fault{Usage, fmt.Sprintf(format, args...)}
}

// Names returns the names of the commands in the order of the help.
func Names() []string {
	var names []string
	for _, c := range commands() {
		if !strings.Contains(c.name, " ") {
			names = append(names, c.name)
		}
	}
	return names
}

// Run runs the command whose name and arguments are given and returns the exit
// status. Answers go to Stdout, everything else to Stderr; with -o json an error is
// one object there.
func Run(ctx context.Context, args []string, p Process) int {
	cmd, rest, err := find(args)
	var v values
	if err == nil {
		v, err = parse(&cmd, rest)
	}
	if err == nil {
		err = run(ctx, cmd, v, p)
	}
	if err == nil {
		return Done
	}
	status := Failed
	var f *fault
	if errors.As(err, &f) {
		status = f.status
	}
	text := err.Error()
	if text == "" {
		return status // the answer on Stdout says it
	}
	if status == Usage {
		text += fmt.Sprintf("\nrun \"jaque help %s\" for how it is written", cmd.name)
	}
	if v.text("o") == "json" {
		_ = json.NewEncoder(p.Stderr).Encode(failure{text, cmd.name, status})
		return status
	}
	prefix := "jaque " + cmd.name + ": "
	fmt.Fprintln(p.Stderr, prefix+strings.ReplaceAll(text, "\n", "\n"+prefix))
	return status
}

func run(ctx context.Context, cmd command, v values, p Process) error {
	if v.is("help") {
		text, _ := Help(cmd.name)
		_, err := io.WriteString(p.Stdout, text)
		return err
	}
	c := &call{Process: p, cmd: &cmd, values: v, body: map[string]any{}}
	if err := c.connect(); err != nil {
		return err
	}
	return cmd.run(ctx, c)
}

// find takes the name of a command, of one or two words, from the arguments.
func find(args []string) (command, []string, error) {
	var found command
	words := 0
	for _, c := range commands() {
		n := strings.Count(c.name, " ") + 1
		if n > words && len(args) >= n && strings.Join(args[:n], " ") == c.name {
			found, words = c, n
		}
	}
	if words == 0 {
		return found, nil, usagef("there is no such command, only %s", strings.Join(Names(), ", "))
	}
	return found, args[words:], nil
}

// call is one command while it runs.
type call struct {
	Process
	values
	cmd  *command
	api  *api
	body map[string]any // of the request
	note string         // what else is told with the answer; "" = nothing
}

// meant returns "; did you mean X?" for the nearest candidate, "" if none is near.
func meant(got string, candidates []string) string {
	best, least := "", min(4, len(got)/2+1)
	for _, c := range candidates {
		if d := near.Distance(got, c, least); d < least {
			best, least = c, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}
