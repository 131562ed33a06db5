// Package roles turns a command line into one running role: which flags a role
// requires, accepts and refuses, what the values mean, and how the parts of a
// role are put together.
//
// It owns the one table of flags and roles that drives parsing, refusals, help,
// environment twins, documentation and tests. It never parses the configuration,
// formats a page, handles a signal or ends the process. Start reading at Flags,
// Parse and Role.
package roles
