// Package event defines what happened: the facts on the log, in the past tense
// and immutable, and their encoding.
//
// An event carries outcomes, not inputs to be judged again: a decision about an
// object holds the object's complete new state, so that a reader with another
// config version folds the same. It owns the envelope, the kinds and the codec;
// it never decides and never applies, that is package fold. Start reading at
// Event.
package event
