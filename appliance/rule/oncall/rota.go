package oncall

import "jaque.sh/jaque/appliance/core/object"

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
