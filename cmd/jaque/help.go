package main

import (
	"fmt"
	"io"
	"strings"

	"jaque.sh/jaque/roles"
	"jaque.sh/jaque/roles/client"
)

// commandHelp is what help says of the subcommands.
var commandHelp = map[string]string{
	"check-config": `Usage: jaque check-config PATH

Reads the configuration, a CUE file or a folder, and says what is wrong with it,
or what it holds. Changes nothing. Exit status 0 if it is right, 2 if not.
`,
	"demo": `Usage: jaque demo [-dir FOLDER] [flags of role all]

Writes a small commented configuration into the folder (default ./jaque-demo) if
there is none, and watches this machine with it. -listen and -data move the
dashboard and the data elsewhere.
`,
	"credentials": credentialsHelp,
	"cluster":     clusterHelp,
	"witness":     witnessHelp,
	"backup":      backupHelp,
	"restore":     restoreHelp,
	"log":         logVerifyHelp,
	"version":     "Usage: jaque version\n\nPrints which build this is.\n",
}

// help prints the text of everything, of one role or of one subcommand.
func help(args []string, stdout io.Writer) error {
	if text, ok := client.Help(strings.Join(args, " ")); ok {
		fmt.Fprint(stdout, text)
		return nil
	}
	if simulates(args) {
		fmt.Fprint(stdout, roles.SimulateHelp)
		return nil
	}
	if len(args) > 0 && commandHelp[args[0]] != "" {
		fmt.Fprint(stdout, commandHelp[args[0]])
		return nil
	}
	if len(args) > 0 {
		args = []string{"-help", "-target", args[0]}
	}
	s, err := roles.Parse(append(args, "-help"), environment())
	if err != nil {
		return err
	}
	printHelp(stdout, s.Role)
	return nil
}

// printHelp prints the text of one role, or of everything.
func printHelp(stdout io.Writer, role roles.Role) {
	fmt.Fprint(stdout, roles.Help(role))
	if role.Name == "" {
		fmt.Fprint(stdout, "\nCommands for a running jaque (\"jaque help ack\" and so on):\n"+client.Summary())
	}
}
