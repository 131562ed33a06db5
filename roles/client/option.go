package client

import (
	"fmt"
	"slices"
	"strings"
)

// option is one flag of a command.
type option struct {
	name string
	arg  string // placeholder of the value; "" = a switch, which may be -name=false
	help string // one sentence without a full stop
	many bool   // may be given more than once
}

// The options that many commands share.
func connection() []option {
	return []option{
		{name: "url", arg: "URL", help: "where jaque answers; else JAQUE_URL, else http://127.0.0.1:8420"},
		{name: "token", arg: "TOKEN", help: "of -api-token; else that of JAQUE_API_TOKEN. Other users of this machine can see it here"},
		{name: "token-file", arg: "FILE", help: "file that holds the token; else JAQUE_API_TOKEN_FILE"},
		{name: "timeout", arg: "DURATION", help: "how long to wait for an answer (default: 30s)"},
		{name: "o", arg: "FORM", help: "form of the answer: table, json (default: table)"},
		{name: "help", help: "print this text and end"},
	}
}

func targets() []option {
	return []option{
		{name: "filter", arg: "FILTER", help: `everything that matches, as in 'state=CRITICAL and label.role=db'; "*" = everything`},
		{name: "group", arg: "GROUP", help: "hosts of a group with their services, and services in it"},
		{name: "kind", arg: "KIND", help: "with -filter and -group: only host, or only service"},
		{name: "scope", arg: "SCOPE", help: "what else the named hosts stand for: " + strings.Join(scopes(), ", ")},
	}
}

func scopes() []string {
	return []string{"services", "with-services", "children", "with-children", "beyond"}
}

func bulk() []option {
	return []option{
		{name: "author", arg: "NAME", help: "who asks for it (default: your login name)"},
		{name: "preview", help: "show what it would touch, and do nothing"},
		{name: "yes", help: "do not ask, however many objects it touches"},
		{name: "confirm", arg: "N", help: "do it if it touches exactly N objects"},
	}
}

// values are the arguments of one command line.
type values struct {
	given map[string][]string
	words []string // what is no flag, in order
}

func (v *values) has(name string) bool { return len(v.given[name]) > 0 }

// text returns the value of an option, "" if it is not given.
func (v *values) text(name string) string {
	if all := v.given[name]; len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// is tells whether a switch is on; one that is not given is off.
func (v *values) is(name string) bool { return v.text(name) == "true" }

// parse reads -name value, -name=value, both with two dashes, and words, in any
// order. Behind -- everything is a word, and so is a dash alone.
func parse(cmd *command, args []string) (values, error) {
	v := values{given: map[string][]string{}}
	options := append(slices.Clone(cmd.options), connection()...)
	var problems []string
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			v.words = append(v.words, args...)
			break
		}
		if arg == "-" || !strings.HasPrefix(arg, "-") {
			v.words = append(v.words, arg)
			continue
		}
		n, problem := v.option(options, arg, args)
		args = args[n:]
		if problem != "" {
			problems = append(problems, problem)
		}
	}
	if len(problems) > 0 {
		return v, usagef("%s", strings.Join(problems, "\n"))
	}
	return v, nil
}

// option takes one option and returns how many of the arguments behind it belong
// to it, and what is wrong with it.
func (v *values) option(options []option, arg string, behind []string) (used int, problem string) {
	name, value, attached := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
	if name == "h" {
		name = "help"
	}
	i := slices.IndexFunc(options, func(o option) bool { return o.name == name })
	switch {
	case i < 0:
		var names []string
		for _, o := range options {
			names = append(names, "-"+o.name)
		}
		return 0, fmt.Sprintf("there is no option -%s%s", name, meant("-"+name, names))
	case options[i].arg == "" && !attached:
		value = "true"
	case options[i].arg == "" && value != "true" && value != "false":
		return 0, fmt.Sprintf("-%s: %q is neither true nor false", name, value)
	case !attached && len(behind) == 0:
		return 0, fmt.Sprintf("-%s needs a value: -%s %s", name, name, options[i].arg)
	case !attached:
		value, used = behind[0], 1
	}
	if v.has(name) && !options[i].many {
		return used, fmt.Sprintf("-%s is given twice; write it once", name)
	}
	v.given[name] = append(v.given[name], value)
	return used, ""
}
