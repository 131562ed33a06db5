// Package probe executes checks: plugins as processes, and the kinds of check
// that are built in.
//
// It owns everything between "this object is due" and "this is what its check
// said": finding and starting plugins, opening connections, bounding time,
// output and the number of checks at once. It never schedules, never judges
// attempts and never writes an event; whatever goes wrong becomes a result that
// says what to do. Start reading at Runner.Do.
package probe
