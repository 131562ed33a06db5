package main

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// index is the name of the index below docs/.
const index = "llms.txt"

// section is a part of the documentation: pages in the order of reading.
type section struct {
	name  string
	pages []page
}

// page is a file below docs/ and what it is about.
type page struct{ name, about string }

// sections returns the order of all pages. A file that is not named here is none, see
// loose.
func sections() []section {
	return []section{
		{"Deployment", []page{
			{"deployment/choose.md", "which shape fits, reason by reason"},
			{"deployment/overview.md", "what runs, and when one process is enough"},
			{"deployment/topologies.md", "the shapes as pictures, with the commands that start them"},
			{"deployment/cluster-and-coordination.md", "how engines know of each other, take over and never write against each other"},
			{"deployment/kubernetes.md", "one process, several engines and workers as pods"},
			{"deployment/security.md", "what listens, who gets in, and what that lets them do"},
		}},
		{"Guide", []page{
			{"guide/start.md", "the demo, a configuration of your own, the service under systemd"},
			{"guide/config.md", "every field, with examples"},
			{"guide/notifications.md", "who is told what, when, over which channel, and why not"},
			{"guide/plugins.md", "how checks are run and judged"},
			{"guide/operate.md", "logs, metrics, reload, what to do when"},
			{"guide/command-line.md", "acknowledge, downtimes, many objects at once, the command file"},
			{"guide/backup.md", "what to keep, how often, how to get it back, and whether a log is right"},
			{"guide/split.md", "an engine, workers by zone, several engines, and what happens when one is away"},
			{"guide/cluster.md", "three appliances that keep one log, two with a witness"},
			{"guide/ui.md", "dashboards in processes of their own"},
			{"guide/sinks.md", "measurements and events for other systems"},
			{"guide/coming-from-nagios.md", "what is the same, what is different and why"},
		}},
		{"Reference", []page{
			{"reference/flags.md", "every flag with its environment twin and default"},
			{"reference/roles.md", "which flag a role requires, takes or refuses, and why"},
			{"reference/security.md", "the rights of each role on the log server, subject by subject"},
			{"reference/api.md", "lists, commands and filters over HTTP"},
			{"reference/api-notify.md", "who is told of what over HTTP, and why not"},
			{"reference/api-workers.md", "zones and workers over HTTP"},
			{"reference/external-commands.md", "the commands of Nagios that are taken"},
			{"reference/filter.md", "the language that says which objects are meant"},
			{"reference/metrics.md", "what is served at /metrics"},
			{"reference/sinks.md", "the kinds of sink and their fields"},
		}},
		{"Project", []page{
			{"project/status.md", "what stands, and what is planned and does not exist"},
			{"CHANGELOG.md", "what each release changes for operators"},
			{"adr/README.md", "decisions that would be hard to undo"},
		}},
		{"Development", []page{
			{"develop/CONTRIBUTING.md", "the rooms of the source, recipes, tasks"},
			{"develop/proofs.md", "what several engines promise, with a test for each"},
			{"formal/README.md", "the handover in TLA+, and how it is checked"},
			{"develop/explorer.md", "the production functions in every order of events"},
			{"develop/faults.md", "three appliances under faults at random"},
			{"develop/benchmarks.md", "figures beside Nagios and Icinga, and how they are taken"},
		}},
	}
}

// head is the line below a page's title; read returns a page.
func head(name string, read func(name string) (string, error)) (string, error) {
	all := sections()
	for i, s := range all {
		for j, p := range s.pages {
			if p.name != name {
				continue
			}
			next := "none, this is the last page"
			follows := ""
			switch {
			case j+1 < len(s.pages):
				follows = s.pages[j+1].name
			case i+1 < len(all):
				follows = all[i+1].pages[0].name
			}
			if follows != "" {
				text, err := read(follows)
				if err != nil {
					return "", err
				}
				t, err := title(text)
				if err != nil {
					return "", fmt.Errorf("%s: %w", follows, err)
				}
				next = fmt.Sprintf("[%s](%s)", t, relative(name, follows))
			}
			return fmt.Sprintf("%s%s · Next: %s · Index: [%s](%s)", mark, s.name, next, index, relative(name, index)), nil
		}
	}
	return "", fmt.Errorf("docs/%s is in no section; add it to sections in docs/develop/pages", name)
}

// mark begins the line.
const mark = "Section: "

// relative returns how a page below docs/ names another one.
func relative(from, to string) string {
	if path.Dir(from) == path.Dir(to) {
		return path.Base(to)
	}
	return strings.Repeat("../", strings.Count(from, "/")) + to
}

// errTitle: a page does not begin with its title.
var errTitle = errors.New("the first line is \"# \" and the title")

// title returns the title of a page.
func title(text string) (string, error) {
	line, _, _ := strings.Cut(text, "\n")
	t, ok := strings.CutPrefix(line, "# ")
	if !ok || t == "" {
		return "", errTitle
	}
	return t, nil
}

// placed returns the page with the line below its title, in place of another one.
func placed(text, line string) string {
	first, rest, _ := strings.Cut(text, "\n")
	rest = strings.TrimLeft(rest, "\n")
	if strings.HasPrefix(rest, mark) {
		_, rest, _ = strings.Cut(rest, "\n")
		rest = strings.TrimLeft(rest, "\n")
	}
	return first + "\n\n" + line + "\n\n" + rest
}

// list returns the index.
func list(read func(name string) (string, error)) (string, error) {
	var b strings.Builder
	b.WriteString("# jaque\n\n> A monitoring system in one program: it takes the place of Nagios, Naemon or Icinga,\n> runs their plugins and its own checks, and keeps every decision on an event log.\n\n")
	b.WriteString("Every page is Markdown. Links are relative to this file.\n")
	for _, s := range sections() {
		fmt.Fprintf(&b, "\n## %s\n\n", s.name)
		for _, p := range s.pages {
			text, err := read(p.name)
			if err != nil {
				return "", err
			}
			t, err := title(text)
			if err != nil {
				return "", fmt.Errorf("docs/%s: %w", p.name, err)
			}
			fmt.Fprintf(&b, "- [%s](%s): %s\n", t, p.name, p.about)
		}
	}
	return b.String(), nil
}
