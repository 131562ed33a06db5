// Package engine owns the check loop: it decides what runs and when, judges the
// results, and appends what follows to the log.
//
// One goroutine owns every decision. It reads the log's tail into the
// projection, starts what is due, turns outcomes into commands for the pure core
// and appends the core's events by compare-and-set. A decision takes effect when
// its own event is read back at its position, never when it is published, as the
// handover protocol demands; with one member the same code runs.
//
// What operators ask for comes in through Do: actions about objects and about the
// whole program, in their order. Downtimes for many objects or many times are
// rules of the program; the engine makes each object's own downtimes from them, in
// small pieces between its turns (chore.go, rules.go). Nothing of that is kept
// beside the log: a start finds out what is left to do.
//
// Several engines on one log share its objects: the adopted view of the membership says
// who owns which. Only the owner runs an object's checks and writes about it; a command
// for another's object is forwarded once (forward.go). A newer view counts at once for
// what it takes away, and for what it gives once everything is folded that stood on the
// log (view.go); the schedule follows in pieces (share.go). An engine that the log tells
// of a newer view than its own writes nothing until it has that (behind.go). Every engine
// folds every event, and the owner of an object reacts to what others wrote about
// related ones.
//
// It never executes a check itself (a Runner does), never formats a page and
// never reads a config file. It reads and writes the kinds of event about
// objects and about the program, and config.loaded and engine.joined. Start
// reading at Engine, Do and loop.go.
package engine
