// Package canary watches the check whose every round goes the whole way of a
// notification: planned, executed, folded from the log, decided and delivered.
//
// It owns the answer to two questions: when was the last round complete, and where
// did the present one stop. It reads no clock and sends nothing: the round itself is
// an ordinary check, and what tells the outside is an ordinary channel, so that a
// fault anywhere on the way silences it. Start reading at Tracker.
package canary
