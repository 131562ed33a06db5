package demo

import (
	"embed"
	"io/fs"
)

//go:embed *.cue
var files embed.FS

// Files holds site.cue (hosts and services), plugins.cue (checks of the machine
// with the monitoring plugins) and shell.cue (the same without them).
func Files() fs.FS { return files }
