package main

import (
	"fmt"
	"strings"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// story tells what the log says of each object without what differs between two days:
// ids, numbers, times, and who wrote it. What became of messages is told apart, since
// it stands on the log when they have been sent.
func (x *shapeDay) story() map[object.ID][]string {
	x.t.Helper()
	story := map[object.ID][]string{}
	readLog(x.t, x.log, x.path("site.cue"), func(e *event.Event) {
		at := e.Time.Std()
		switch {
		case at.Before(x.began), at.After(x.over): // nothing is compared
		case e.Stream != event.Log, e.Object.Host() == "jaque": // what watches the fleet is no part of role all
		case e.Status != nil:
			story[e.Object] = append(story[e.Object], tellObject(e)+tellNotes(e))
		case strings.HasPrefix(string(e.Kind), "notification.") && e.Object != "":
			apart := e.Object + " messages"
			story[apart] = append(story[apart], fmt.Sprintf("%s %s %s", e.Kind, e.Facts["contact"], e.Facts["channel"]))
		}
	})
	return story
}

// tellNotes tells who is told of an event, and which gates decided.
func tellNotes(e *event.Event) string {
	var b strings.Builder
	for i := range e.Notes {
		n := &e.Notes[i]
		fmt.Fprintf(&b, "; %s %t by %q number %d of %q %v", n.Kind, n.Send, n.By, n.Number, n.Policy, n.Steps)
		for _, g := range n.Gates {
			fmt.Fprintf(&b, " %s %s", g.Name, g.Verdict)
		}
		for _, p := range n.People {
			fmt.Fprintf(&b, " %s %t by %q over %v", p.Name, p.Told, p.By, p.Channels)
		}
	}
	return b.String()
}
