// Package bus runs the embedded NATS server or connects to an external one, and
// declares what stands on it: streams, buckets and their retention, in one table.
//
// It owns the data folder (its lock, its server's store and the marks that make
// a loss in that store visible, see guard.go) and the connection. A full disk or a
// folder that vanishes ends it with an error, see watch.go. It never reads
// or writes an event; that is appliance/journal. It is the only package that
// imports the server. Start reading at Open and Bus.
package bus
