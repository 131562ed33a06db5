package roles

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/rehearse"
	"jaque.sh/jaque/roles/client"
)

// SimulateHelp says how "jaque notify simulate" is written.
const SimulateHelp = `Usage: jaque notify simulate -config PATH -object OBJECT -state STATE [flags]

Says who would be told if an object had a problem: when, what, over which channel
and why, and who would not be told and why not. It reads the config and nothing
else, sends nothing and changes nothing; jaque need not run.

  jaque notify simulate -config site.cue -object 'web01!http' -state critical
  jaque notify simulate -config site.cue -object 'web01!http' -state critical -at 2026-12-24T03:00 -for 8h -then ok
  jaque notify simulate -config site.cue -object sw1 -state down -behind

  -config PATH      a CUE file or a folder
  -object OBJECT    a host, or a service as host!service
  -state STATE      warning, critical, unknown; down for a host
  -output TEXT      what the check says
  -at TIME          when it begins (default: now); 03:00, 2026-12-24T03:00 or with seconds and zone
  -for DURATION     how long it lasts, 90m or 4h (default: 4h)
  -then STATE       what it is afterwards, as in ok or up (default: the problem goes on)
  -host-down        the host of the service is down as long
  -behind           everything on the failed host, and behind it alone, fails as long
  -ack DURATION     so long after the beginning somebody acknowledges the problem
  -json             one JSON object instead of a table

All objects are well before, with nothing acknowledged, in downtime or switched by
operators. The problem is found at once, and so is its end; in between the checks
run by their schedule. Exit status 0, 2 if the command or the config is wrong.
`

// Simulation is what "jaque notify simulate" gets from the process it runs in.
type Simulation struct {
	Stdout, Stderr io.Writer
	Now            time.Time // in the zone in which times are read and written
	Config         config.Options
}

// ahead is how long after the end it is looked for who is told next.
const ahead = 48 * time.Hour

// Simulate rehearses a problem of one object and writes who would be told. The error
// is a *UsageError or config.Problems.
func Simulate(args []string, p Simulation) error {
	o, err := readSimulation(args, p)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, err = io.WriteString(p.Stdout, SimulateHelp)
		return err
	case err != nil:
		return err
	}
	c, problems := config.Load(o.config, p.Config)
	if len(problems) > 0 {
		return problems
	}
	story, err := o.story(c.Set)
	if err != nil {
		return simulationError(err)
	}
	scene, err := story.Scene()
	if err != nil {
		return simulationError(err)
	}
	t := told{story: story, scene: scene, zone: p.Now.Location(), out: rehearse.Run(scene, simulatedLimits(&c.Delivery))}
	if o.json {
		e := json.NewEncoder(p.Stdout)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(t.json())
	}
	return t.table(p.Stdout)
}

func simulationError(err error) error {
	return &UsageError{[]string{"notify simulate: " + err.Error()}}
}

// simulatedLimits are the limits of delivery that the config sets.
func simulatedLimits(d *config.Delivery) deliver.Limits {
	l := deliver.Limits{Deadline: d.Deadline, Rates: map[string]deliver.Rate{}}
	for name, r := range d.Rates {
		l.Rates[name] = deliver.Rate(r)
	}
	return l
}

// simulated is a command line of "jaque notify simulate".
type simulated struct {
	config, object, state, output, then string
	at                                  time.Time
	length, ack                         time.Duration
	hostDown, behind, json              bool
}

// readSimulation reads the command line.
func readSimulation(args []string, p Simulation) (simulated, error) {
	o := simulated{at: p.Now, length: 4 * time.Hour}
	f := flag.NewFlagSet("", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&o.config, "config", "", "")
	f.StringVar(&o.object, "object", "", "")
	f.StringVar(&o.state, "state", "", "")
	f.StringVar(&o.output, "output", "", "")
	f.StringVar(&o.then, "then", "", "")
	f.BoolVar(&o.hostDown, "host-down", false, "")
	f.BoolVar(&o.behind, "behind", false, "")
	f.BoolVar(&o.json, "json", false, "")
	f.Func("at", "", func(s string) (err error) { o.at, err = client.ReadTime(s, p.Now); return err })
	f.Func("for", "", func(s string) (err error) { o.length, err = simulatedLength(s); return err })
	f.Func("ack", "", func(s string) (err error) { o.ack, err = simulatedLength(s); return err })
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return o, err
		}
		text := err.Error()
		if name, unknown := strings.CutPrefix(text, "flag provided but not defined: -"); unknown {
			var names []string
			f.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
			text = fmt.Sprintf("there is no flag -%s%s", name, didYouMean(name, names))
		}
		return o, simulationError(errors.New(text))
	}
	for _, need := range []struct{ name, value, what string }{
		{"config", o.config, "a CUE file or a folder"},
		{"object", o.object, "a host, or a service as host!service"},
		{"state", o.state, "warning, critical, unknown, or down for a host"},
	} {
		if need.value == "" {
			return o, simulationError(fmt.Errorf("-%s is missing; give %s", need.name, need.what))
		}
	}
	if f.NArg() > 0 {
		return o, simulationError(fmt.Errorf("%q belongs to no flag; a text of several words needs quotes", f.Arg(0)))
	}
	return o, nil
}

// most is the longest problem that is simulated.
const most = 31 * 24 * time.Hour

func simulatedLength(s string) (time.Duration, error) {
	text := s
	if days, ok := strings.CutSuffix(s, "d"); ok {
		text = days + "h"
	}
	d, err := time.ParseDuration(text)
	if text != s {
		d *= 24
	}
	if err != nil || d < time.Second || d > most {
		return 0, errors.New("write a length of time from 1s to 31d, as in 90m, 4h or 2d")
	}
	return d, nil
}

// story makes the story that the command line tells of.
func (o *simulated) story(set *object.Set) (*rehearse.Story, error) {
	id := object.ID(o.object)
	if set.Get(id) == nil {
		var names []string
		for _, x := range set.Objects {
			if x.ID.Kind() == id.Kind() {
				names = append(names, string(x.ID))
			}
		}
		return nil, fmt.Errorf("-object: there is no %s %q%s", id.Kind(), o.object, didYouMean(o.object, names))
	}
	s := &rehearse.Story{
		Set: set, Object: id, Output: o.output, At: object.At(o.at), For: o.length,
		HostDown: o.hostDown, Behind: o.behind, Ack: o.ack, Beyond: ahead,
	}
	var err error
	if s.State, err = simulatedState("-state", id.Kind(), o.state); err != nil {
		return nil, err
	}
	if o.then != "" {
		then, err := simulatedState("-then", id.Kind(), o.then)
		if err != nil {
			return nil, err
		}
		s.Then = &then
	}
	if o.ack >= o.length {
		return nil, fmt.Errorf("-ack %s is when the problem is over; it has to be before -for %s", o.ack, o.length)
	}
	return s, nil
}

// simulatedState reads a state as people write it: what is well is OK or UP of both
// kinds of object.
func simulatedState(flag string, k object.Kind, s string) (object.State, error) {
	word := strings.ToUpper(s)
	if word == "OK" || word == "UP" {
		return object.OK, nil
	}
	state, err := object.ParseState(k, word)
	if err != nil {
		words := map[object.Kind]string{object.Host: "down", object.Service: "warning, critical or unknown"}[k]
		if flag == "-then" {
			words = map[object.Kind]string{object.Host: "ok or down", object.Service: "ok, warning, critical or unknown"}[k]
		}
		return 0, fmt.Errorf("%s: %q is no state of a %s; write %s", flag, s, k, words)
	}
	if k == object.Host && state == object.Unreachable {
		return 0, fmt.Errorf("%s: a host is UNREACHABLE when its parents are down; let a parent be down, with -behind", flag)
	}
	return state, nil
}
