// Package operate turns what an operator asks for into commands of the core: it
// finds the objects that are meant, and says what would be done to each.
//
// It owns the targets of commands (an object, a host with its services, a group,
// everything that matches a filter). It never decides what a command does to an
// object; that is package fold. Start reading at Request and Plan.
package operate
