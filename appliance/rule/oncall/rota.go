package oncall

import (
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// rota answers about a schedule as the deciding of notifications asks.
type rota struct {
	schedule *Schedule
	members  []string
}

// Rota returns the schedule as a notification names it.
func (s *Schedule) Rota() object.Rota { return rota{s, s.Contacts()} }

func (r rota) Name() string { return r.schedule.name }

func (r rota) OnCall(at object.Time) (contact, why string, until object.Time) {
	turn := r.schedule.OnCall(at)
	return turn.Contact, turn.Source.String(), turn.Until
}

func (r rota) Members() []string { return r.members }

// Zone returns the time zone in which the hand-overs are, nil if layers have
// different ones or there are none.
func (r rota) Zone() *time.Location {
	var zone *time.Location
	for i := range r.schedule.layers {
		z := r.schedule.layers[i].zone
		if i > 0 && (zone == nil || z.String() != zone.String()) {
			return nil
		}
		zone = z
	}
	return zone
}
