// Package tla reads the subset of TLA+ that the modules of docs/formal are
// written in and searches every state of a configuration breadth first.
//
// It owns the parser, the values, the enumeration of steps, the search and the
// check of fairness. It is no replacement for TLC: it knows what the two modules
// need and says so of anything else; what it finds is meant to equal TLC's
// verdict, number of distinct states and depth. Start reading at Check.
package tla
