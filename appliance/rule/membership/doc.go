// Package membership is the arithmetic of ownership: which members there are,
// under which epoch, and which of them owns an object.
//
// It owns the view record and rendezvous hashing. It never stores or watches a
// view; that is appliance/coordination. Start reading at View.
package membership
