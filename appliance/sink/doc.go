// Package sink brings what stands on the log to other systems: measurements to
// stores of time series, events to whoever keeps or watches them.
//
// It owns the way of one sink: a follower of its own, batches, retries, the position
// from which the next process goes on, and what is told about all that. Delivery is
// at least once: a position moves on when the target has taken what is in front of
// it. A target that is slow or gone makes its own follower wait and nothing else;
// what it has not taken waits on the log, not in memory. What a target refuses for
// good is searched for the part that is wrong, which is counted, logged and left out.
//
// It never decides what is measured or what happened, and knows no protocol: those
// are in encode (bytes) and target (connections). Start reading at Options and
// Sink.run.
package sink
