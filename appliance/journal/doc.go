// Package journal takes events to the log and brings them back in order.
//
// It owns the two streams (decisions and measurements), snapshots of the folded
// state and the reading of history. It never judges an event: what an event
// means is appliance/core/fold. It has two implementations behind one contract
// test: JetStream (embedded or external) and memory. Start reading at Journal.
package journal
