// Package output turns what a check printed and how it ended into a state, a
// line of text, further text and performance data, by the rules of Nagios.
//
// It owns the meaning of exit codes and the form of a plugin's output, for
// checks that jaque executed (Judge) and for results that others submit
// (Passive). It never runs anything and never reads performance data: that is
// package perfdata. Whatever bytes come in, what goes out is valid UTF-8. Start
// reading at Judge.
package output
