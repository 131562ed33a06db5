package rehearse

import (
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Limits say how messages go out.
type Limits struct{}

type post struct{}

func newPost(Limits) *post { return &post{} }

func (p *post) next(object.Time) object.Time { return 0 }

func (w *world) send() bool { return false }

// note takes the verdicts of an event into the outcome, and its requests to the
// post.
func (w *world) note(ev *event.Event) {
	if ev.Stream != event.Log {
		return
	}
	if w.scene.Watch != nil {
		w.scene.Watch(ev)
	}
	entries := Entries(ev)
	if w.now > w.scene.End {
		for i := range entries {
			if entries[i].Told && !w.found {
				w.found, w.out.Next = true, entries
			}
		}
		return
	}
	w.out.Entries = append(w.out.Entries, entries...)
}
