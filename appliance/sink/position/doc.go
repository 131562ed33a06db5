// Package position keeps the positions of sinks on the server of the log, so that
// whichever process runs a sink next goes on where the one before it was.
//
// It owns the keys "sink.TOKEN" of the bucket of durable state, and that no position
// goes back because two processes believed for a moment that a sink was theirs. It
// never decides where a sink begins, that is package sink. Start reading at Keys.
package position
