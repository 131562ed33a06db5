// Package veil takes secrets out of texts that come from elsewhere: answers of servers
// and errors of libraries, which repeat passwords in many ways.
//
// It owns the ways in which a secret may come back. It does not know which texts are
// shown, nor where secrets come from. Start at New.
package veil
