package view

import (
	"cmp"
	"slices"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
)

// homeRows is how many problems the first page shows at most.
const homeRows = 200

// Home is the first page: what is broken and nobody takes care of.
type Home struct {
	Chrome   Chrome
	Headline string
	Tone     string // of the headline: ok, warn, crit, unknown, pending
	Detail   string
	Tallies  []Tally
	Groups   []Group
	More     string // how many problems are not shown, "" = none
	MoreURL  string
	Handled  []Link // problems that somebody takes care of, or that are not sure yet
	Bar      Bulk
}

// Group is one host with its problems, worst first.
type Group struct {
	Host  Row
	Down  bool // the host itself is the problem
	Rows  []Row
	worst int
	since object.Time
}

// NewHome fills the first page from the objects in a problem state.
func NewHome(c Chrome, counts projection.Counts, problems []projection.Item, host func(object.ID) projection.Item, now time.Time) Home {
	h := Home{Chrome: c, Tallies: NewTallies(counts)}
	var counted [3][2]int // soft, acknowledged, in downtime; of hosts and of services
	var open []projection.Item
	for _, i := range problems {
		kind := i.Object.Kind()
		switch s := &i.State.Status; {
		case projection.Unhandled(i.State):
			open = append(open, i)
		case s.Ack != object.AckNone:
			counted[1][kind]++
		case s.DowntimeDepth > 0:
			counted[2][kind]++
		default:
			counted[0][kind]++
		}
	}
	h.Groups = groups(open, host, now)
	h.headline(counts, open, now)
	h.cut(len(open))
	h.handled(counted)
	return h
}

// Offer lets problems be chosen for a command.
func (h *Home) Offer() {
	total := 0
	for i := range h.Groups {
		g := &h.Groups[i]
		Pickable(g.Rows)
		total += len(g.Rows)
		if g.Down {
			g.Host.Pick = g.Host.id
			total++
		}
	}
	if total > 0 {
		h.Bar = NewBulk("", "unhandled", total, "/")
	}
}

func (h *Home) headline(c projection.Counts, open []projection.Item, now time.Time) {
	total := 0
	for _, n := range c.Services {
		total += n
	}
	for _, n := range c.Hosts {
		total += n
	}
	pending := c.PendingHosts + c.PendingServices
	switch {
	case len(open) > 0:
		h.Headline = Count(len(open), "problem needs", "problems need") + " somebody"
		h.Tone = h.Groups[0].tone()
		newest := open[0].State.Status.LastChange
		for _, i := range open {
			newest = max(newest, i.State.Status.LastChange)
		}
		h.Detail = "on " + Count(len(h.Groups), "host", "hosts") + ", the newest since " + NewWhen(newest, now).Ago
	case total == 0 && pending == 0:
		h.Headline, h.Tone = "Nothing is watched yet", "pending"
		h.Detail = "Add hosts and services to the configuration and reload it."
	case total == 0:
		h.Headline, h.Tone = "Waiting for the first results", "pending"
		h.Detail = Count(pending, "object has", "objects have") + " not been checked yet"
	default:
		h.Headline, h.Tone = "Nothing needs you", "ok"
		h.Detail = Count(total, "object is", "objects are") + " watched"
		if pending > 0 {
			h.Detail += ", " + Number(pending) + " more not checked yet"
		}
	}
}

func (g Group) tone() string {
	if g.Down {
		return g.Host.Badge.Tone
	}
	return g.Rows[0].Badge.Tone
}

// groups gathers problems by host, hosts with the worst problem first, among
// equals the newest.
func groups(open []projection.Item, host func(object.ID) projection.Item, now time.Time) []Group {
	type member struct {
		item     projection.Item
		severity int
	}
	byHost := map[object.ID][]member{}
	var order []object.ID
	for _, i := range open {
		id := i.Object.HostObject().ID
		if byHost[id] == nil {
			order = append(order, id)
		}
		byHost[id] = append(byHost[id], member{i, severity(i)})
	}
	out := make([]Group, 0, len(order))
	for _, id := range order {
		list := byHost[id]
		slices.SortStableFunc(list, func(a, b member) int {
			return cmp.Or(cmp.Compare(b.severity, a.severity),
				cmp.Compare(b.item.State.Status.LastChange, a.item.State.Status.LastChange))
		})
		g := Group{Host: NewRow(host(id), now), worst: list[0].severity}
		for _, m := range list {
			g.since = max(g.since, m.item.State.Status.LastChange)
			if m.item.Object.Kind() == object.Host {
				g.Down = true
				continue
			}
			g.Rows = append(g.Rows, NewRow(m.item, now))
		}
		out = append(out, g)
	}
	slices.SortStableFunc(out, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.worst, a.worst), cmp.Compare(b.since, a.since))
	})
	return out
}

// severity ranks problems: DOWN, CRITICAL, UNREACHABLE, UNKNOWN, WARNING.
func severity(i projection.Item) int {
	if i.Object.Kind() == object.Host {
		return [...]int{0, 5, 3, 3}[min(i.State.Status.State, 3)]
	}
	return [...]int{0, 1, 4, 2}[min(i.State.Status.State, 3)]
}

// cut leaves the rows that a person can read at once.
func (h *Home) cut(total int) {
	shown := 0
	for n := range h.Groups {
		g := &h.Groups[n]
		if shown >= homeRows {
			h.Groups = h.Groups[:n]
			break
		}
		g.Rows = g.Rows[:min(len(g.Rows), homeRows-shown)]
		shown += len(g.Rows)
		if g.Down {
			shown++
		}
	}
	if shown < total {
		h.More = Number(total - shown)
		h.MoreURL = ListURL(object.Service, "unhandled")
	}
}

// handled leads to the problems that are not shown, hosts and services apart as
// their lists are.
func (h *Home) handled(counted [3][2]int) {
	words := [3]struct{ label, filter string }{
		{"being retried", "problem soft !acknowledged !downtime"},
		{"acknowledged", "problem acknowledged"},
		{"in downtime", "problem downtime !acknowledged"},
	}
	for n, w := range words {
		both := counted[n][object.Host] > 0 && counted[n][object.Service] > 0
		for _, k := range []object.Kind{object.Host, object.Service} {
			if counted[n][k] == 0 {
				continue
			}
			l := Link{Label: w.label, Count: Number(counted[n][k]), URL: ListURL(k, w.filter)}
			if both || k == object.Host {
				l.Count = Count(counted[n][k], k.String(), k.String()+"s")
			}
			h.Handled = append(h.Handled, l)
		}
	}
}
