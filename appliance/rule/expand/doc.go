// Package expand writes a check with every text of it replaced, which is how
// macros come into a check right before it is executed.
//
// It owns the knowledge of which fields of a check are texts. It never knows
// what a macro is and never changes the check it is given, which many objects
// share. Start reading at Check.
package expand
