// Package objectfile reads object definitions in the syntax of Nagios: blocks of
// directives, templates and their inheritance, the main file's name=value lines
// and the resource file's $USERn$ values.
//
// It works in two steps. Parse turns a text into blocks exactly as written, each
// directive with its place. Resolve turns blocks into objects that no longer
// know about templates. Both go on after a mistake and report every one with
// file, line and what to write instead.
//
// It owns the syntax, the table of directives and typed access to their values;
// it never opens a file, expands a host list or judges a reference: package
// build does that. Start reading at Read.
package objectfile
