// Package external reads the commands that scripts write for Nagios, Naemon and
// Icinga 1, one a line: into the command file, and later through Livestatus.
//
//	[1893456000] ACKNOWLEDGE_SVC_PROBLEM;web01;http;2;1;0;ada;on it; back at five
//
// It owns the syntax, the table of commands with their arguments, and what each
// means as actions of package operate. A line is taken whole or not at all: a
// number that is none, a name that nothing has or a missing argument refuses it.
// It never does anything itself. Start reading at Parse and Translate.
package external
