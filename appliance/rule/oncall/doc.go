// Package oncall answers who is on call at an instant, until when and why.
//
// It owns schedules: layers whose contacts take turns, overrides, and what a
// change of clocks does to a hand-over. It never looks up a time zone by name,
// because that reads files, and never asks whether a contact exists: callers hand
// in a *time.Location and check Schedule.Contacts. Start reading at Parse and
// Schedule.OnCall.
//
// # Who counts
//
// An override goes before all layers, and a later layer before those above it in
// the list. A layer has nobody before its start and outside its period; then the
// next one below has its say. So a schedule reads from the usual to the special:
// first the weekly rotation, then the nights, then holidays. If nobody is left,
// nobody is on call, and Schedule.Gaps says when. An override may also say
// "nobody" on purpose.
//
// # Turns
//
// The first contact of a layer begins at its start: that day, at the time of the
// hand-over. From then on each hand-over passes to the next contact, after the
// last to the first again. Hand-overs are on given weekdays, or every so many
// days or weeks counted from the start; weekdays every two weeks are those of
// the first, third, … seven days from the start on. If the start itself is no
// hand-over day, the first turn is a short one.
//
// The period of a layer hides turns and moves none: who would be on call on a
// Saturday of a rotation for working days loses that turn. Hand over on Mondays to
// Fridays to pass over weekends.
//
// # Clocks that change
//
// Hand-overs follow the clock on the wall, as package period does: turns are an
// hour longer or shorter on such a night, and hand-overs stay at nine. Each
// hand-over takes place once, at the first instant at which the clock shows its
// time or a later one. So in an hour that the clocks skip it is when they do; in
// an hour that comes twice it is the first pass, and the turn does not go back
// with the clocks (the spans of a period do). Where a zone skips a whole day, a
// turn that would lie within it has no length and is not listed.
//
// A layer's start and the ends of an override are written by a person who means
// one instant, so a time that the clocks skip is refused there.
package oncall
