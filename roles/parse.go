package roles

import (
	"fmt"
	"strings"
)

// Environment is what a command line is read against. It stands for the process
// so that tests need none.
type Environment struct {
	Lookup   func(string) (string, bool)  // an environment variable
	ReadFile func(string) ([]byte, error) // a secret's file
	Host     string                       // host name
	Root     bool                         // runs as root
}

// UsageError is everything that is wrong with a command line.
type UsageError struct {
	Problems []string
}

// Error returns one problem a line and where to read on.
func (e *UsageError) Error() string {
	if len(e.Problems) == 1 {
		return e.Problems[0] + "\nrun \"jaque help\" for the flags of each role"
	}
	return fmt.Sprintf("%s\n%d problems; run \"jaque help\" for the flags of each role",
		strings.Join(e.Problems, "\n"), len(e.Problems))
}

// given is a flag as it was found.
type given struct {
	flag  Flag
	value string
	from  string // "-queue" or "JAQUE_QUEUE"
}

// parser collects what was given and what is wrong.
type parser struct {
	env      Environment
	flags    []Flag
	given    map[string]given
	problems []string
}

// Parse reads a command line without the program's name. It returns the settings
// or a *UsageError with every problem at once. Flags win over their environment
// twins. With -help or -version nothing else is checked.
func Parse(args []string, env Environment) (Settings, error) {
	p := &parser{env: env, flags: Flags(), given: map[string]given{}}
	p.readArgs(args)
	s := p.defaults()
	// Whoever asks for help may have a broken environment; only the words of the
	// command line itself come first.
	if len(p.problems) == 0 && p.asksOnly(&s) {
		return s, nil
	}
	if !p.findRole(&s) {
		return s, &UsageError{p.problems}
	}
	p.readEnvironment(s.Role.Name)
	for _, f := range p.flags {
		p.judge(f, &s)
	}
	p.crossCheck(&s)
	if len(p.problems) > 0 {
		return s, &UsageError{p.problems}
	}
	p.fill(&s)
	return s, nil
}

func (p *parser) problem(format string, args ...any) {
	p.problems = append(p.problems, fmt.Sprintf(format, args...))
}

func (p *parser) find(name string) (Flag, bool) {
	if name == "h" {
		name = "help"
	}
	for _, f := range p.flags {
		if f.Name == name {
			return f, true
		}
	}
	return Flag{}, false
}

// readArgs takes -name value, -name=value and both with two dashes, as package
// flag does.
func (p *parser) readArgs(args []string) {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		name := strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-")
		if name == arg || name == "" || strings.HasPrefix(name, "-") {
			p.problem("unexpected argument %q: every value follows a flag, as in -config site.cue", arg)
			continue
		}
		name, value, attached := strings.Cut(name, "=")
		f, known := p.find(name)
		switch {
		case !known:
			p.problem("there is no flag -%s%s", name, p.suggest(name))
			// The next word is most likely the value of the misspelt flag; reported as
			// an argument it would hide the real mistake.
			if !attached && len(args) > 0 && !strings.HasPrefix(args[0], "-") {
				args = args[1:]
			}
			continue
		case f.Arg == "" && !attached:
			value = "true"
		case !attached && len(args) == 0:
			p.problem("-%s needs a value: -%s %s", name, name, f.Arg)
			continue
		case !attached:
			value, args = args[0], args[1:]
		}
		p.given[f.Name] = given{f, value, "-" + f.Name}
	}
}

func (p *parser) suggest(name string) string {
	var all []string
	for _, f := range p.flags {
		all = append(all, "-"+f.Name)
	}
	return didYouMean("-"+name, all)
}

// asksOnly handles -version and -help.
func (p *parser) asksOnly(s *Settings) bool {
	for _, name := range []string{"version", "help"} {
		if g, ok := p.given[name]; ok {
			_ = g.flag.Parse(s)(g.value) // judge reports what is wrong with it
		}
	}
	if !s.Help && !s.Version {
		return false
	}
	s.Role = Role{}
	if _, ok := p.given["target"]; ok {
		return p.setRole(s)
	}
	return true
}

// findRole chooses the role, also by the environment: it decides what else of the
// environment counts.
func (p *parser) findRole(s *Settings) bool {
	if f, ok := p.find("target"); ok {
		p.readTwin(f, "")
	}
	return p.setRole(s)
}

// readEnvironment adds the twins of flags that were not given.
func (p *parser) readEnvironment(role Name) {
	for _, f := range p.flags {
		p.readTwin(f, role)
	}
}

// readTwin adds the environment twin of a flag that was not given.
func (p *parser) readTwin(f Flag, role Name) {
	if f.Env() == "" {
		return
	}
	// The command line wins: it is what the operator typed last.
	if _, ok := p.given[f.Name]; ok {
		return
	}
	// An empty variable counts as given, so that a typo in a unit file shows. What a
	// role refuses must not be there at all, whatever else of it was given.
	if v, ok := p.env.Lookup(f.Env()); ok && (f.Cell(role) == "F" || !p.otherFormGiven(f)) {
		p.given[f.Name] = given{f, v, f.Env()}
	}
}

// otherFormGiven tells that a secret, or its file, stands on the command line,
// which wins over both in the environment.
func (p *parser) otherFormGiven(f Flag) bool {
	other := f.FileOf
	if f.Secret {
		other = f.Name + "-file"
	}
	g, ok := p.given[other]
	return ok && strings.HasPrefix(g.from, "-")
}

func parseRole(v string) (Role, error) {
	r, ok := Find(Name(v))
	if !ok {
		return r, fmt.Errorf("no role; the roles are %s%s", names(), didYouMean(v, strings.Split(names(), ", ")))
	}
	return r, nil
}

// setRole chooses the role; without a valid one nothing else can be judged.
func (p *parser) setRole(s *Settings) bool {
	g, ok := p.given["target"]
	if !ok {
		s.Role, _ = Find(All)
		return true
	}
	role, err := parseRole(g.value)
	if err != nil {
		p.problem("%s: %q is %v", g.from, g.value, err)
		return false
	}
	s.Role = role
	return true
}
