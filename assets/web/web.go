// Package web holds the dashboard's style, script and icon.
package web

import (
	"embed"
	"io/fs"
)

//go:embed jaque.css jaque.js icon.svg
var files embed.FS

// Files returns the embedded files.
func Files() fs.FS { return files }
