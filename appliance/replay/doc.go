// Package replay tells what an installation looked like at an instant.
//
// It folds what stands on the log up to the instant into a projection of its
// own, within a bound of time, and remembers the last instants that were asked
// for. It reads only: it never decides, appends or keeps anything on disk, and
// the live projection is not touched. Start reading at Replayer.At.
package replay
