// Package audit reads a log wherever it is and has it checked against the invariants of
// the handover protocol: on a running log server, in a data folder whose process runs
// or not, or in a backup.
//
// It owns the reading, on all cores and in the order of the log. It changes nothing and
// never judges an event; that is appliance/rule/chain. Start reading at Verify.
package audit
