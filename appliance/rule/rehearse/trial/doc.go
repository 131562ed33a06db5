// Package trial makes small random configs, with random fates of their objects and
// random acts of operators, for tests that let a rehearsal and the running engine do
// the same, or that turn one thing around and look again.
//
// Everything follows from the numbers that a caller's function picks, so a test that
// fails can be repeated. Instants are chosen so that what has to do with each other
// never happens in the same millisecond: there the engine's order is nobody's
// promise. It owns no clock and decides nothing. Start reading at New.
package trial
