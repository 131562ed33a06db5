// Package fold is what follows from what happened: three pure functions.
//
//   - Decide judges a command (a check result, an operator's wish, a tick)
//     against the state of one object and returns the events that say what now
//     holds, or a refusal. It changes nothing.
//   - Apply takes one event into the state of one object. It never refuses and
//     never fails, so that every reader of the same prefix holds the same state.
//   - Due says what is to be done for an object now and when to ask again.
//
// It never reads a clock, a config file or the network and starts nothing; the
// shell that does is roles/engine. The definition of Apply is the handover
// protocol's fold: epoch fence, base check, complete state. Start reading at
// State.
package fold
