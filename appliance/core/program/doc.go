// Package program is what is known of the whole program beside its config: the
// switches that operators set for everything, those of contacts, and downtimes
// that stand for many objects or many times.
//
// It owns their fold and the decisions about them. It never looks at the state of
// an object, never makes an object's own downtimes (the engine does, from the
// rules that stand here), and like all of the core it has no clock. Start reading
// at State, Apply and Decide.
package program
