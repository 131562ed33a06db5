// Package spawn starts programs cheaply and bounds them in time and output.
//
// It owns the event loop that starts, watches, kills and reaps child processes,
// the frames in which work and results travel, and the pool of small spawner
// processes that run that loop beside the engine. A loop can also run inside the
// calling process, over the same frames. It never looks at what a program
// printed and never decides what to start. Start reading at Pool and loop.
package spawn
