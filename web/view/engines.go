package view

import (
	"cmp"
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// EngineRow is one of the engines that share the objects.
type EngineRow struct {
	Badge      Badge
	Name       string
	Marks      []string // "this one"
	Share      string   // of the objects: "34 of 100 objects, 34 %"
	Width      int      // of the share in a bar of 1000
	Generation string   // of its config, shortened
	Delivery   string   // who delivers what it asks for
	Since      When     // when it joined, or was missed
	Gone       bool
}

// EngineSource is what a row of an engine is filled from.
type EngineSource struct {
	ID                   string
	Self, Live           bool
	Joined, Gone         object.Time // 0 = not known
	Objects, Of          int         // that it owns, and that there are
	Generation, Delivery string
}

// generationShown is how much of a generation tells two apart.
const generationShown = 8

// NewEngineRow fills a row.
func NewEngineRow(src EngineSource, now time.Time) EngineRow {
	r := EngineRow{
		Badge: Badge{Name: "LIVE", Tone: "ok"}, Name: src.ID, Since: NewWhen(src.Joined, now),
		Generation: cmp.Or(src.Generation[:min(len(src.Generation), generationShown)], "not known"),
	}
	if src.Self {
		r.Marks = []string{"this one"}
	}
	switch src.Delivery {
	case "notifier":
		r.Delivery = "left to notifiers"
	case "local":
		r.Delivery = "by itself"
	default:
		r.Delivery = "not known"
	}
	if !src.Live {
		r.Badge, r.Since, r.Gone = Badge{Name: "MISSED", Tone: "crit"}, NewWhen(src.Gone, now), true
		r.Share = "the others have its objects"
		return r
	}
	if src.Of > 0 {
		r.Width = 1000 * src.Objects / src.Of
		r.Share = fmt.Sprintf("%s of %s, %d %%", Number(src.Objects), Count(src.Of, "object", "objects"), (100*src.Objects+src.Of/2)/src.Of)
	}
	return r
}
