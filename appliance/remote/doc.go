// Package remote runs checks somewhere else: the engine's half hands a check to
// the queue and waits for its result, the worker's half takes checks from the
// queue and executes them.
//
// It owns what a check needs to travel and what goes wrong on the way, which
// becomes a result that says what to do. It never executes a check itself and
// never schedules one. Start reading at Runner and Worker.
package remote
