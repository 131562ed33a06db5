// Package schema embeds the CUE schema of jaque's configuration: the shape of
// every section, with its defaults and a comment per field.
//
// It owns the text an operator may look up and nothing else; package
// appliance/config reads it. Start at config.cue.
package schema
