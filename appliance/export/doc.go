// Package export writes what the log holds into files: every event as one JSON
// line, and the folded state as one JSON document.
//
// It owns the two files, how they survive a full disk and a crash, and the
// counters that say how far they are. It reads the log with a follower of its
// own, so that a slow disk never holds up the fold. It never decides what an
// event means. Start reading at Events and State.
package export
