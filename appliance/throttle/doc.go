// Package throttle keeps log lines that others can cause from filling the log: at most
// one of a kind each minute, which says how many were left out in front of it.
//
// It never writes a line itself, and it counts nothing that a metric should count. Start
// at Lines.
package throttle
