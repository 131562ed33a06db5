package roles

import "strings"

// Rules maps a role to the reason why it requires, or refuses, a flag.
type Rules map[Name]string

// Flag is one row of the table of flags.
type Flag struct {
	Name    string // without the dash
	Arg     string // placeholder of the value in help; "" = a switch
	Default string // as help and documentation print it; "" = none
	Meaning string // one sentence without a full stop
	// Secret values are never printed, and may come from a file: see FileOf.
	Secret bool
	// FileOf names the secret that the file given with this flag holds.
	FileOf string
	// NoEnv tells that there is no environment twin.
	NoEnv bool

	Required Rules
	Refused  Rules

	// Parse returns the parser that stores a value in the settings.
	Parse func(*Settings) func(string) error
	// Fits says why a role cannot work with a value that is otherwise right;
	// "" = it can. nil = every role can.
	Fits func(Role, string) string
}

// Env returns the name of the environment twin, "" if there is none.
func (f Flag) Env() string {
	if f.NoEnv {
		return ""
	}
	return "JAQUE_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// Cell returns how a role takes the flag, in the letters of the documentation:
// "R" required, "F" refused, "" accepted.
func (f Flag) Cell(role Name) string {
	if _, ok := f.Required[role]; ok {
		return "R"
	}
	if _, ok := f.Refused[role]; ok {
		return "F"
	}
	return ""
}

// because gives one reason to several roles.
func because(reason string, roles ...Name) Rules {
	r := Rules{}
	for _, name := range roles {
		r[name] = reason
	}
	return r
}

// and returns the rules of both.
func (r Rules) and(more Rules) Rules {
	all := Rules{}
	for name, reason := range r {
		all[name] = reason
	}
	for name, reason := range more {
		all[name] = reason
	}
	return all
}

// secretFile returns the flag that reads a secret from a file. It goes where
// the secret goes.
func secretFile(f Flag) Flag {
	return Flag{
		Name: f.Name + "-file", Arg: "FILE", FileOf: f.Name,
		Meaning:  "file that holds the value of -" + f.Name,
		Required: f.Required, Refused: f.Refused,
		Parse: func(*Settings) func(string) error { return notEmpty },
	}
}
