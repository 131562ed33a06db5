// Package listen serves HTTP as one part of a process.
//
// It owns the listener, the time-outs and the graceful end. It never knows what
// is served. Start reading at Open.
package listen
