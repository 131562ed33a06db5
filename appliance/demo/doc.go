// Package demo prepares the folder of `jaque demo`: a small commented
// configuration that watches the machine it runs on.
//
// It owns which files are written and when. It never changes a file that
// somebody may have edited, and never starts anything. Start reading at Prepare.
package demo
