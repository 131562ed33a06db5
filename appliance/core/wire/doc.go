// Package wire reads and writes the compact JSON of events and snapshots.
//
// It owns the token scanner and the functions that append values. It knows no
// event and no object: which key means what stands in packages event and fold.
// It never reflects, so that decoding one measurement costs about as much as
// judging it. Start reading at Scanner.
package wire
