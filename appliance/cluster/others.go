package cluster

import (
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/bus"
)

// recall takes up whom the data folder knows.
func (a *Answers) recall() {
	if a.Data == "" {
		return
	}
	m, err := Read(a.Data)
	if err != nil {
		a.Logger.Debug("the other members are not known yet", "err", err)
		return
	}
	a.lately.Lock()
	defer a.lately.Unlock()
	a.others = m.Others
}

// heard returns the other members as they were last heard.
func (a *Answers) heard() []Other {
	a.lately.Lock()
	defer a.lately.Unlock()
	return slices.Clone(a.others)
}

// hear takes in what the members say of themselves. Who is away stays as it was, who is no
// member is forgotten.
func (a *Answers) hear(st *bus.Status, said map[string]self) []Other {
	a.lately.Lock()
	defer a.lately.Unlock()
	var now []Other
	for _, m := range st.Members {
		if m.Name == a.Self.ID {
			continue
		}
		if s := said[m.Name]; s.Address != "" {
			now = append(now, Other{ID: m.Name, Listen: s.Address, Witness: s.Witness})
		} else if i := slices.IndexFunc(a.others, func(o Other) bool { return o.ID == m.Name }); i >= 0 {
			now = append(now, a.others[i])
		}
	}
	slices.SortFunc(now, func(x, y Other) int { return strings.Compare(x.ID, y.ID) })
	a.others = now
	return slices.Clone(now)
}

// know fills in what those do not say that do not answer.
func (r *Report) know(others []Other) {
	for i := range r.Members {
		m := &r.Members[i]
		at := slices.IndexFunc(others, func(o Other) bool { return o.ID == m.ID })
		if at >= 0 && m.Address == "" {
			m.Address, m.Witness = others[at].Listen, others[at].Witness
		}
	}
}
