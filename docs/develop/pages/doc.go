// Command pages keeps the pages of docs/ together: each has a line below its title that
// says in which section it stands, which page is next and where the index is, and
// docs/llms.txt lists them all for programs that read.
//
// It owns the order of the pages and nothing of what they say. Pages that another
// generator writes get their line there; the test of this package says which line is
// right. Start reading at sections in pages.go.
package main
