// Package client is the command line of operators: jaque ack, downtime, comment
// and the like, which ask a running jaque through its HTTP API.
//
// It owns how these commands are written, their help, and how answers are shown.
// It never decides anything about objects; the process that is asked does. It
// reads no clock, environment or terminal of its own but what Process hands in.
// Start reading at Run and commands.
package client
