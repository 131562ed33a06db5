package macro

import (
	"maps"
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/object"
)

// maxVariable bounds one environment variable, in bytes: a process with a longer
// one could not be started.
const maxVariable = 64 << 10

// Environ returns macros as environment variables of a command, "NAGIOS_" and
// the name: those that are named, or with none named all that belong to the
// object, its host, the contact and the arguments. What counts every object or
// lists a group's members is only there by name, because it may be large. Custom
// variables are cleaned whatever opts says, as Nagios does.
func Environ(src *Source, opts Options, names ...string) []string {
	e := expander{src: src, opts: opts, nest: nested}
	if len(names) == 0 {
		names = e.environment()
	}
	out := make([]string, 0, len(names))
	for _, name := range names {
		value, ok := e.value(name)
		if !ok {
			continue
		}
		if strings.HasPrefix(name, "_") {
			value = clean(value, opts.Illegal)
		}
		out = append(out, "NAGIOS_"+variable(name)+"="+variableValue(value))
	}
	return out
}

// variable returns the name under which a macro stands in the environment:
// Nagios counts the addresses of contacts from 0 there.
func variable(name string) string {
	if n, ok := numbered(name, "CONTACTADDRESS", 6); ok {
		return "CONTACTADDRESS" + integer(n-1)
	}
	return name
}

// variableValue makes a text that an environment can hold.
func variableValue(s string) string {
	s = strings.ReplaceAll(s, "\x00", "")
	if len(s) > maxVariable {
		s = strings.ToValidUTF8(s[:maxVariable], "")
	}
	return s
}

// environment lists the macros that a command gets which asks for none by name.
func (e *expander) environment() []string {
	var names []string
	for _, name := range Names() {
		_, counts := totals[name]
		_, period := periodFields[name]
		if !counts && !period && !strings.HasSuffix(name, "GROUPMEMBERS") && !strings.HasSuffix(name, "GROUPMEMBERADDRESSES") {
			names = append(names, name)
		}
	}
	for i := range e.src.Args {
		names = append(names, "ARG"+integer(i+1))
	}
	if c := e.src.Contact; c != nil {
		for i := range c.Addresses {
			names = append(names, "CONTACTADDRESS"+integer(i+1))
		}
		names = appendVars(names, "_CONTACT", c.Vars)
	}
	for prefix, o := range map[string]*object.Object{"_HOST": e.src.host(), "_SERVICE": e.src.service()} {
		if o != nil {
			names = appendVars(names, prefix, e.vars(o))
		}
	}
	slices.Sort(names)
	return names
}

func appendVars(names []string, prefix string, vars map[string]string) []string {
	for name := range maps.Keys(vars) {
		names = append(names, prefix+name)
	}
	return names
}
