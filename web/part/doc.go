// Package part holds the components that pages are made of.
//
// It owns markup and classes. It never decides what is shown: everything comes
// in a struct of package view. Every part appears on the gallery page in all
// its states. Start reading at Frame.
package part
