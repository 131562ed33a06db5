// Package rig is what the tests of both ways of commands stand on: a server on the
// loopback, connections to it, services that run, and messages that nobody has sent. No
// other code imports it. Start reading at Serve.
package rig
