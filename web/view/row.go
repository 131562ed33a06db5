package view

import (
	"fmt"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
)

// Row is an object in a list.
type Row struct {
	Badge   Badge
	Host    string
	HostURL string
	Name    string // of the service, or of the host
	URL     string
	Alias   string
	Output  string
	Since   When
	Checked When
	Attempt string // "2/3", "" when it says nothing
	Marks   []string
	Help    string // address of the notes, "" = none
	Pick    string // the object's id where rows can be chosen, "" = they cannot
	id      string
}

// NewRow returns the row of an item.
func NewRow(i projection.Item, now time.Time) Row {
	o, s := i.Object, &i.State.Status
	host := o.HostObject()
	r := Row{
		Badge: NewBadge(i), Host: host.Name, HostURL: URL(host.ID), Name: o.Name, URL: URL(o.ID), id: string(o.ID),
		Output: i.State.Measure.Output, Since: NewWhen(s.LastChange, now),
		Checked: NewWhen(i.State.Measure.LastCheck, now), Marks: Marks(i), Help: o.Rule.NotesURL,
	}
	if strings.Contains(r.Help, "$") {
		n := newNoter(i, nil, now)
		r.Help = n.text("NOTESURL", r.Help)
	}
	if o.Alias != o.Name {
		r.Alias = o.Alias
	}
	if s.Checked && s.State != object.OK {
		r.Attempt = fmt.Sprintf("%d/%d", s.Attempt, s.MaxAttempts)
	}
	if r.Output == "" {
		r.Output = silent(i)
	}
	return r
}

// Pickable makes rows such that can be chosen for a command.
func Pickable(rows []Row) {
	for i := range rows {
		rows[i].Pick = rows[i].id
	}
}

// silent says why there is no output.
func silent(i projection.Item) string {
	switch {
	case i.State.Status.Checked:
		return "the check wrote nothing"
	case i.Object.Rule.Check.Kind == object.CheckPassive:
		return "waiting for the first submitted result"
	case i.Object.Rule.Check.Kind == object.CheckNone, i.Object.Rule.Check.Kind == "":
		return "has no check of its own"
	}
	return "waiting for the first check"
}

// NewRows returns the rows of items in their order.
func NewRows(items []projection.Item, now time.Time) []Row {
	rows := make([]Row, len(items))
	for n, i := range items {
		rows[n] = NewRow(i, now)
	}
	return rows
}
