package roles

import (
	"fmt"
	"strings"
)

// Help returns the text of -help: every flag, or only those that one role takes.
func Help(role Role) string {
	var b strings.Builder
	b.WriteString("jaque monitors hosts and services.\n\n")
	b.WriteString("  jaque [-target ROLE] -config PATH [flags]   run a role (default: all)\n")
	b.WriteString("  jaque check-config PATH                     check a config and change nothing\n")
	b.WriteString("  jaque demo [-dir FOLDER] [-listen HOST:PORT] [-data FOLDER]\n")
	b.WriteString("                                              monitor this machine, with an example config\n")
	b.WriteString("  jaque credentials ROLE [-zone ZONE,…] [-id NAME] [-data FOLDER] [-out FILE]\n")
	b.WriteString("                                              make a user of the embedded log server\n")
	b.WriteString("  jaque cluster init|token|join|status|remove|drill make machines members of a cluster\n")
	b.WriteString("  jaque witness [-data FOLDER]                a vote and a copy for two appliances, without an engine\n")
	b.WriteString("  jaque backup -o FILE [-data FOLDER]         take everything on the log server into a file\n")
	b.WriteString("  jaque restore FILE [-data FOLDER]           bring it back into an empty folder\n")
	b.WriteString("  jaque log verify [FILE] [-data FOLDER]      check the log against its invariants\n")
	b.WriteString("  jaque notify simulate -config PATH -object OBJECT -state STATE\n")
	b.WriteString("                                              say who would be told of a problem\n")
	b.WriteString("  jaque version                               print the version\n")
	b.WriteString("  jaque help [ROLE]                           print this text, or that of one role\n")
	if role.Name == "" {
		b.WriteString("\nRoles:\n")
		for _, r := range Roles() {
			fmt.Fprintf(&b, "  %-9s %s\n", r.Name, r.Summary)
		}
		b.WriteString("\nFlags:\n")
	} else {
		fmt.Fprintf(&b, "\nRole %s: %s.\n\nFlags that role %s takes:\n", role.Name, role.Summary, role.Name)
	}
	for _, f := range Flags() {
		if role.Name == "" || f.Cell(role.Name) != "F" {
			writeFlag(&b, f, role.Name)
		}
	}
	b.WriteString("\nEach flag may also stand in the environment (JAQUE_CONFIG for -config); the flag wins.\n")
	b.WriteString("Exit status: 0 done, 1 failed while running, 2 wrong usage or config.\n")
	return b.String()
}

func writeFlag(b *strings.Builder, f Flag, role Name) {
	fmt.Fprintf(b, "  %s\n        %s", strings.TrimSpace("-"+f.Name+" "+f.Arg), f.Meaning)
	if f.Default != "" {
		fmt.Fprintf(b, " (default: %s)", f.Default)
	}
	if role != "" && f.Cell(role) == "R" {
		b.WriteString(" (required)")
	}
	b.WriteString("\n")
}
