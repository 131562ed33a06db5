// Package spawn starts programs cheaply and bounds them in time and output.
//
// It owns the starting, watching, killing and reaping of child processes. Every
// program is looked after by the goroutine that asked for it; there is no thread
// and no process in between. It never looks at what a program printed and never
// decides what to start. Start reading at Starter.Run.
package spawn
