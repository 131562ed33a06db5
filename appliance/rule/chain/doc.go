// Package chain checks a log against the invariants of the handover protocol: epochs
// never go back along an object's subject, one object has one writer in each epoch,
// what a decision was based on is an accepted decision, nothing is decided twice,
// outcomes belong to requests, and every position is there and can be read.
//
// It owns what counts as a violation and the report about it. It never reads a log:
// whoever does hands the events over in the order of their positions. It is written
// without regard to core/fold, whose verdict it must reach by itself. Start reading at
// Verifier.
package chain
