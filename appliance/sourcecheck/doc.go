// Package sourcecheck holds the tests about the source itself: which way imports
// point, that the core stays pure, that everything has a comment, and the habits
// that a reader may rely on in every file.
//
// It owns rules, no code: there is nothing here to import. A failure says where
// the code belongs instead. Every rule is a function from parsed source to
// complaints and is itself tested on small sources that break it. Start reading
// at rooms_test.go.
package sourcecheck
