// Package schedule is the one timer structure of an engine: which object is due
// next, for 100,000 objects and more.
//
// It owns the order of due times and nothing else: when an object is due is
// decided by package fold, and what time it is now is told by the caller. Start
// reading at Queue.
package schedule
