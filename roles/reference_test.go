package roles

import (
	"fmt"
	"strings"
)

// roleReference returns the documentation page of the roles, in Markdown.
func roleReference() string {
	var b strings.Builder
	b.WriteString("# Roles\n\nSection: Reference · Next: [Security of a split deployment](security.md) · Index: [llms.txt](../llms.txt)\n\n")
	b.WriteString("This page is generated from the table that the program itself uses (`go test ./roles -update`).\n\n")
	b.WriteString("Every role is the same program, started as `jaque -target ROLE`; without `-target` it is `all`.\n\n")
	b.WriteString("| role | what it does | answers over HTTP | membership | SIGHUP |\n| --- | --- | --- | --- | --- |\n")
	for _, r := range Roles() {
		reload := "ignored, with a log line"
		if r.Reload == ReloadConfig {
			reload = "reads the config again"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", r.Name, r.Summary, r.Serves, code(r.Bucket), reload)
	}
	b.WriteString("\nHealth is `/healthz` (or `/livez`) and `/readyz`. As soon as a part of a process ends by itself, a follower of the\n")
	b.WriteString("log, the membership, a subscription to the queue or any other, both answer 503 and the process ends with exit status 1:\n")
	b.WriteString("it never does part of its job and calls itself healthy. `/readyz` alone answers 503, with the reason, while the state is\n")
	b.WriteString("read from the log, while a server does not answer, and at a member of a cluster while its copies of the log are not full.\n")
	for _, r := range Roles() {
		writeRole(&b, r)
	}
	writeMatrix(&b)
	return b.String()
}

// writeRole writes the section of one role.
func writeRole(b *strings.Builder, r Role) {
	fmt.Fprintf(b, "\n## %s\n\n%s%s. %s\n\n", r.Name, strings.ToUpper(r.Summary[:1]), r.Summary[1:], r.Notes)
	var optional []string
	for _, f := range Flags() {
		if reason, ok := f.Required[r.Name]; ok {
			fmt.Fprintf(b, "- requires `-%s`: %s\n", f.Name, reason)
		}
		if f.Cell(r.Name) == "" {
			optional = append(optional, "`-"+f.Name+"`")
		}
	}
	for _, group := range refusals(r.Name) {
		fmt.Fprintf(b, "- refuses %s: %s\n", strings.Join(group.flags, ", "), group.reason)
	}
	fmt.Fprintf(b, "- takes %s\n", strings.Join(optional, ", "))
}

// refusal is what a role refuses for one reason.
type refusal struct {
	reason string
	flags  []string
}

// refusals returns what a role refuses, flags of the same reason together, in the
// order of the table.
func refusals(role Name) []refusal {
	var all []refusal
	at := map[string]int{}
	for _, f := range Flags() {
		reason, ok := f.Refused[role]
		if !ok {
			continue
		}
		i, known := at[reason]
		if !known {
			i = len(all)
			at[reason] = i
			all = append(all, refusal{reason: reason})
		}
		all[i].flags = append(all[i].flags, "`-"+f.Name+"`")
	}
	return all
}

// writeMatrix writes which role takes which flag.
func writeMatrix(b *strings.Builder) {
	b.WriteString("\n## Which role takes which flag\n\n")
	b.WriteString("R = required, F = refused at startup with exit status 2, blank = accepted. A flag counts as given when it is\n")
	b.WriteString("present on the command line, in the environment or as the file of a secret, even with its default value.\n\n| flag |")
	for _, r := range Roles() {
		fmt.Fprintf(b, " %s |", r.Name)
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(Roles())) + "\n")
	for _, f := range Flags() {
		fmt.Fprintf(b, "| `-%s` |", f.Name)
		for _, r := range Roles() {
			fmt.Fprintf(b, " %s |", f.Cell(r.Name))
		}
		b.WriteString("\n")
	}
}

// flagReference returns the documentation page of all flags, in Markdown.
func flagReference() string {
	var b strings.Builder
	b.WriteString("# Flags\n\nSection: Reference · Next: [Roles](roles.md) · Index: [llms.txt](../llms.txt)\n\n")
	b.WriteString("This page is generated from the table that the program itself uses (`go test ./roles -update`).\n\n")
	b.WriteString("Every role is `jaque -target ROLE`. Flags are written `-name value` or `-name=value`, with one dash or two.\n")
	b.WriteString("Each has an environment twin; the flag wins. A flag counts as given when it is present in any form,\n")
	b.WriteString("even with its default value.\n\n| flag | environment | default | meaning |\n| --- | --- | --- | --- |\n")
	for _, f := range Flags() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", strings.TrimSpace("-"+f.Name+" "+f.Arg),
			code(f.Env()), orDash(f.Default), f.Meaning)
	}
	b.WriteString("\nWhich role requires, takes or refuses which flag, and why: [roles](roles.md).\n")
	return b.String()
}

func code(s string) string {
	if s == "" {
		return "–"
	}
	return "`" + s + "`"
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}
