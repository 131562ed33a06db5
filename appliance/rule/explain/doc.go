// Package explain says why people were told of an object, or why not: now, at a
// time of the past or at one to come.
//
// It owns the answer in words: the verdict of every gate, what would have to be
// different for somebody to be told, what happens next by itself, and what became
// of everything that was decided before. It never decides anything of its own:
// each verdict is that of notify.Decide, and what would have to be different is
// found by changing just that and deciding again. It reads no clock and no log;
// callers hand in a World. Start reading at Ask.
package explain
