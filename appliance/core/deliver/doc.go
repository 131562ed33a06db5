// Package deliver says which message goes out next, and what it holds.
//
//   - Open folds requests and their outcomes: what is asked for and not yet
//     settled. Equal logs give equal sets, so that nothing intended is forgotten.
//   - Planner puts the open requests that somebody hands to it into messages: it
//     groups them, keeps to the rates of the channels, waits between attempts and
//     gives up at the deadline. What it remembers is gone with the process.
//
// Both are plain values with one owner; they never read a clock, render, send or
// write an outcome. The shell that does is package delivery, the simulation is
// another. Who is told at all was decided before, by package notify. Start reading
// at Pending, then at Planner.
package deliver
