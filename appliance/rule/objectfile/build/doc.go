// Package build makes the object set that jaque's core works on from objects
// in the syntax of Nagios and the settings of a main file, with the defaults
// that Nagios has for both.
//
// It expands the hosts of a service, the members of groups, what a service takes
// from its host, time periods, contacts and dependencies. Of escalations, and of
// how contacts are told, it only checks the names; it never reads a file. Start
// reading at Build.
package build
