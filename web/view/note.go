package view

import (
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/macro"
)

// noter expands the macros in what an object's declaration says to people.
type noter struct {
	src  macro.Source
	kind string // as macros are called: HOST, SERVICE
}

// newNoter returns one for an item. Without lookup nothing is known of other
// objects' states, which addresses hardly ever name.
func newNoter(item projection.Item, lookup func(object.ID) projection.Item, now time.Time) noter {
	n := noter{kind: strings.ToUpper(item.Object.Kind().String())}
	n.src = macro.Source{Object: item.Object, Now: object.At(now), Dates: macro.ISO8601}
	n.src.State = func(id object.ID) *fold.State {
		switch {
		case id == item.Object.ID:
			return item.State
		case lookup == nil:
			return nil
		}
		return lookup(id).State
	}
	if lookup != nil {
		n.src.Find = func(id object.ID) *object.Object { return lookup(id).Object }
	}
	return n
}

// text returns a directive with its macros expanded, values in addresses
// encoded: NOTES, NOTESURL or ACTIONURL. A text without macros stays as it is.
func (n *noter) text(name, written string) string {
	if !strings.Contains(written, "$") {
		return written
	}
	return macro.Expand("$"+n.kind+name+"$", &n.src, macro.Options{})
}
