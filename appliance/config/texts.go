package config

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/probe"
	"jaque.sh/jaque/appliance/rule/macro"
)

// macroUse is one macro in a text of a check.
type macroUse struct {
	name    string // without dollars and without what stands behind a colon
	at      *path
	pos     Position
	shell   bool   // in a line for a shell, where a dollar may be the shell's
	defined bool   // of a custom variable: an object that uses the check has it
	anyone  bool   // any object may be the one whose variables it finds
	contact string // whose command holds it; "" = nobody's
}

// looksLikeMacro leaves out what happens to stand between two dollars.
var looksLikeMacro = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(:|$)`)

// macrosIn collects the macros in every text of a check.
func macrosIn(at *path, n *node, shell bool, found []*macroUse) []*macroUse {
	for _, f := range n.fields {
		found = macrosIn(at.field(f.name), f.node, shell || f.name == "shell", found)
	}
	for i, item := range n.items {
		found = macrosIn(at.at(i), item, shell, found)
	}
	if n.kind != kindText || !strings.Contains(n.text, "$") {
		return found
	}
	for _, name := range macro.Used(n.text) {
		if !looksLikeMacro.MatchString(name) {
			continue
		}
		plain, _, onDemand := strings.Cut(name, ":")
		// Whose variables $_HOSTX:web$ means is known only when it is expanded.
		found = append(found, &macroUse{name: plain, at: at, pos: n.pos, shell: shell && mayBeShells(n.text, plain), defined: onDemand})
	}
	return found
}

// ofShells are variables that a shell has without having been given them.
var ofShells = regexp.MustCompile(`^(HOME|PATH|USER|LOGNAME|SHELL|PWD|OLDPWD|HOSTNAME|TMPDIR|LANG|LC_.*|TZ|TERM|UID|EUID|PPID|IFS|RANDOM|SECONDS|NAGIOS_.*)$`)

// mayBeShells tells whether a name between two dollars in a line for a shell may be a
// variable of the shell's: it stands elsewhere in the line too, where it may get its
// value, or the second dollar begins another variable.
func mayBeShells(line, name string) bool {
	if strings.ToUpper(name) != name || ofShells.MatchString(name) {
		return true
	}
	asMacro := strings.Split(line, "$"+name+"$")
	if strings.Contains(strings.Join(asMacro, ""), name) {
		return true
	}
	return slices.ContainsFunc(asMacro[1:], func(behind string) bool { return behind != "" && startsVariable(behind[0]) })
}

// startsVariable tells whether a dollar and this character begin a variable of a shell.
func startsVariable(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_{(@*#?-$!", c) >= 0
}

// use notes that an object is checked this way and which of the custom variables
// in the texts it has.
func (l *loader) use(o *object.Object, c *check) {
	if len(c.macros) == 0 && len(c.check.Plugin) == 0 {
		return
	}
	if !c.used {
		c.used = true
		l.checks = append(l.checks, c)
	}
	c.local = c.local || o.Zone == "default" || l.opts.AllZonesLocal
	for _, m := range c.macros {
		m.defined = m.defined || hasVar(o.HostObject().Vars, m.name, "_HOST") || hasVar(o.Vars, m.name, "_SERVICE")
	}
}

// hasVar tells whether variables hold the one that a macro names.
func hasVar(vars map[string]string, name, prefix string) bool {
	if len(vars) == 0 {
		return false
	}
	rest, ok := strings.CutPrefix(name, prefix)
	_, has := vars[rest]
	return ok && has
}

// textWarnings tells of macros without a value and of plugins that are not on
// this machine, in the checks that objects use.
func (l *loader) textWarnings() {
	missing := map[string]bool{}
	for _, c := range append(l.checks, l.handled...) {
		for _, m := range c.macros {
			l.macroWarning(m)
		}
		if len(c.check.Plugin) > 0 && c.local {
			l.pluginWarning(c, missing)
		}
	}
}

// macroWarning tells what is wrong with one macro, if anything.
func (l *loader) macroWarning(m *macroUse) {
	_, declared := l.out.Macros[m.name]
	custom := strings.HasPrefix(m.name, "_HOST") || strings.HasPrefix(m.name, "_SERVICE")
	shown := "$" + m.name + "$"
	switch {
	case declared, custom && m.defined:
	case custom && m.anyone:
		if !slices.Contains(l.customNames(), m.name) {
			l.warning(m.at, m.pos, "%s is empty: no host or service has this variable%s", shown, l.similar(shown, l.customNames()))
		}
	case m.contact != "" && strings.HasPrefix(m.name, "_CONTACT"):
		if !m.defined {
			l.warning(m.at, m.pos, "%s is empty: the contact %s has no such variable%s", shown, quote(m.contact), l.similar(shown, contactNames(l.out.Contacts[m.contact].Vars)))
		}
	case custom:
		l.warning(m.at, m.pos, "%s is empty: no host or service that is checked this way has this variable%s", shown, l.similar(shown, l.customNames()))
	case strings.HasPrefix(m.name, "ARG") && macro.Known(m.name):
		l.warning(m.at, m.pos, "%s is always empty, a check has no arguments; write the value itself", shown)
	case strings.HasPrefix(m.name, "USER") && macro.Known(m.name):
		l.warning(m.at, m.pos, "%s is empty; give it a value: settings: macros: %s: \"...\"", shown, m.name)
	case macro.Known(m.name):
	default:
		hint := l.similar(shown, append(macro.Names(), sortedKeys(l.out.Macros)...))
		// A shell has names of its own between dollars.
		if m.shell && (hint == "" || len(m.name) < 6) {
			return
		}
		if hint == "" {
			hint = `; declare it in settings: macros, or write "$$" for a dollar`
		}
		l.warning(m.at, m.pos, "%s is no macro and stays as it is%s", shown, hint)
	}
}

// contactNames lists the macros of variables of a contact.
func contactNames(vars map[string]string) []string {
	var all []string
	for _, name := range sortedKeys(vars) {
		all = append(all, "_CONTACT"+name)
	}
	return all
}

// similar suggests one of some names, with its dollars.
func (l *loader) similar(shown string, names []string) string {
	if l.hints >= maxHints {
		return ""
	}
	l.hints++
	if slices.Contains(names, strings.Trim(shown, "$")) {
		return "; only others have it"
	}
	return didYouMean(shown, func(yield func(string) bool) {
		for _, name := range names {
			if !yield("$" + name + "$") {
				return
			}
		}
	})
}

// customNames lists the macros of every variable that is declared.
func (l *loader) customNames() []string {
	if l.custom != nil {
		return l.custom
	}
	all := map[string]bool{}
	for _, o := range l.out.Set.Objects {
		prefix := "_HOST"
		if o.Kind() == object.Service {
			prefix = "_SERVICE"
		}
		for name := range o.Vars {
			all[prefix+name] = true
		}
	}
	l.custom = append([]string{}, sortedKeys(all)...)
	return l.custom
}

// pluginWarning tells once that a plugin is in none of the folders.
func (l *loader) pluginWarning(c *check, missing map[string]bool) {
	name := c.check.Plugin[0]
	if l.opts.Elsewhere && !c.handler {
		return
	}
	// Whatever is not absolute depends on the folder in which jaque is started.
	if missing[name] || strings.Contains(name, "$") || strings.Contains(name, "/") && !filepath.IsAbs(name) {
		return
	}
	missing[name] = true // or there, which is known then as well
	folders := append(slices.Clone(l.out.PluginPath), probe.UsualFolders()...)
	isPlugin := l.opts.IsPlugin
	if isPlugin == nil {
		isPlugin = executable
	}
	at := c.at.field("plugin").at(0)
	if c.handler {
		at = c.at
	}
	if filepath.IsAbs(name) {
		if !isPlugin(name) {
			l.warning(at, c.pos, "the plugin %s is not on this machine, or no program that may be run; install it or correct its path", quote(name))
		}
		return
	}
	for _, folder := range folders {
		if isPlugin(filepath.Join(folder, name)) {
			return
		}
	}
	l.warning(at, c.pos, "the plugin %s is not on this machine; install it in one of %s, or write its absolute path",
		quote(name), strings.Join(folders, ", "))
}

// executable tells whether a path is a program.
func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
