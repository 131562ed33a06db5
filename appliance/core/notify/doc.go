// Package notify decides who is told what about an object, and says why.
//
// Decide is one pure function: an attempt to tell people goes through an ordered
// list of gates, first those of the object, then those of each contact. Every gate
// gets a verdict and a sentence, whatever came before it, so that a decision can be
// read afterwards and nothing else decides. Attempts says which attempts a change
// of an object makes, Turn what the change itself does to the memory of an
// incident, Next when time alone makes an attempt worth it.
//
// The rules are those of Nagios Core 4.5, without what is wrong with them: a
// recovery that could not be told is owed until it can, the counter of
// notifications begins anew with every problem, and the opening of a period does
// not cut an interval short.
//
// It never reads a clock, sends nothing and keeps nothing: package fold takes the
// Fields of an Outcome into the object's status. Start reading at Input.
package notify
