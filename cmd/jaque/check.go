package main

import (
	"fmt"
	"io"
	"strings"

	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/roles"
)

// checkConfig reads a config and says what is wrong with it, or what it holds.
// It changes nothing. The path stands alone or behind -config.
func checkConfig(args []string, stdout, stderr io.Writer) error {
	path := ""
	if len(args) == 1 && !strings.HasPrefix(args[0], "-") {
		path = args[0]
	} else {
		s, err := roles.Parse(args, environment())
		if err != nil {
			return err
		}
		if s.Help {
			fmt.Fprint(stdout, roles.Help(roles.Role{}))
			return nil
		}
		path = s.Config
	}
	if config.Check(path, config.Options{}, stdout, stderr) != roles.ExitDone {
		return errReported
	}
	return nil
}
