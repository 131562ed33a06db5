// Package handover is the protocol by which one engine writes about one object
// while others may own it before and after: who may write now, and what becomes of
// the one append that an object has outstanding.
//
// It owns the guard of a write (May) and the life of an append (Write): each answer of
// the log, each event that is read back, returns what to do next. It never sends,
// waits or folds; the shell that does is roles/engine, the fold is core/fold and the
// arithmetic of views is rule/membership. Its tests drive all three through every
// interleaving of a small world. Start reading at Write.
package handover
