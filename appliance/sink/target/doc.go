// Package target makes the targets of sinks: connections to stores of time series,
// to receivers of events, and files.
//
// It owns how a batch goes over the wire, what an answer means for it, and which
// settings each kind of target has. What protocols cannot confirm by themselves is
// confirmed by the end of the connection, see stream. It never retries and keeps no
// position, that is package sink; bytes are written by package encode. Start reading
// at New.
package target
