// Package threshold reads the ranges of the plugin guidelines, such as "10:20"
// or "@~:5", and tells whether a value raises an alert.
//
// It owns the syntax of a range and of the numbers in it; which state an alert
// means is its caller's business. Start reading at Parse.
package threshold
