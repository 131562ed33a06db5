// Package rehearse plays what would happen to objects, and says who would be told.
//
// Run takes a config's objects, what their checks find and what operators do, and
// lets time pass on a clock of its own: checks become due, are judged, operators
// act, people are told, and messages are put together. Every decision is one of the
// core's (packages fold, notify, program and deliver), so that a rehearsal and the
// running engine cannot differ in what they decide; this package stands for the
// engine's order of work alone. The same scene has the same outcome, always.
//
// It never reads a clock, sends nothing and keeps nothing. Event handlers do not run
// in it, downtimes by rule are not made, and a check takes as long as the scene says.
// Start reading at Scene; Story makes one for an object that is in trouble for a
// while.
package rehearse
