// Package demo holds the configuration that `jaque demo` writes for a newcomer.
// Start reading at Files.
package demo
