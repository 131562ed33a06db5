// Package projection holds the folded state of every object, and of the whole
// program, for readers.
//
// One goroutine applies events in the order of the log; any number read. A
// reader gets immutable values and never blocks the fold. It owns the states,
// the counters by state, the index of comments and downtimes by what operators
// refer to, the requests that are still to be delivered, and the lists of those who
// are told of changes; it never decides anything. Start reading at Projection.
package projection
