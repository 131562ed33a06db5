// Package backup takes the streams and buckets of an installation into one file, while
// everything runs, and brings them back with the positions, times, subjects and headers
// that they had.
//
// It owns the form of the file. It is made from the snapshots of the log server, not by
// reading messages: messages that are published again would have other positions and
// times, and comparisons and history need those. What the server hands out under load
// is not quite consistent (its index may be newer than its blocks), so the index is
// left out and every record is read and checked on the way: the file says exactly up to
// which position it holds what.
//
// It never reads an event and never decides who may read the file: whoever has it can
// read everything in it. Start reading at Take and Restore.
package backup
