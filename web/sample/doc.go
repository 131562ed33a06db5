// Package sample is an invented installation for tests of the web: objects, a
// projection and a log that agree with each other.
//
// It owns no rule: what it says about states is said directly. Nothing outside
// tests imports it. Start reading at Site.
package sample
