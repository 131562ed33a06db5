// Package command is the form of commands on their way from one process to another,
// and what both of their ways have in common: that of package ingress, from processes
// that only read the log, and that of package forward, between engines.
//
// It owns how a command is written and read, which commands may be sent at all, how a
// message that the server delivers from its store is told from one that somebody sent,
// the watch over a subscription, and the engine's end of a way. It knows nothing of
// subjects and of what becomes of a command. Start reading at Part, and at Inlet.
package command
