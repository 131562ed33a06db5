// Package queue takes checks from engines to the workers of a zone and brings
// their results back.
//
// It owns the form of a work item and its result, their ways over the queue and
// the knowledge of which workers live. An item is executed at least once while
// it is wanted, and its result is accepted exactly once; an item that nobody
// takes in time vanishes. It never executes a check and never judges a result.
// It has two implementations behind one contract test: memory and JetStream.
// Start reading at Queue and Item.
package queue
