// Package macro replaces the macros of Nagios in texts and commands: $HOSTNAME$,
// $SERVICESTATE:web:http$, $_HOSTVAR$, $ARG1$, $USER1$ and the others that the
// state of the objects can answer.
//
// It owns the scanning rules, the values of the macros, the arguments of a
// check command and the splitting of a command line into words. It never runs a
// command and holds nothing: everything it needs is handed over in a Source.
// Start reading at Expand.
package macro
