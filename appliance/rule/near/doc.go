// Package near measures how far a mistyped word is from a right one.
//
// It owns the distance alone; which words come into question, how far is too
// far and how it is said is up to who asks. Start reading at Distance.
package near
