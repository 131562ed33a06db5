package web

import (
	"cmp"
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/filter"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/web/view"
	"jaque.sh/jaque/web/wire"
)

const (
	pageOf   = 1000   // items of a page of downtimes, comments and settings
	pageMost = 10_000 // the same, at most
)

// readParams are the parameters of the lists of downtimes, comments and settings.
func readParams() []wire.Param {
	return []wire.Param{
		{Name: "filter", Type: "string", Help: "of which objects, as in: state=CRITICAL and in_downtime"},
		{Name: "object", Type: "string", Help: "of one host or host!service; default all"},
		{Name: "limit", Type: "integer", Help: "items of a page, default 1000, at most 10000"},
		{Name: "cursor", Type: "string", Help: "next of the page before"},
	}
}

// reading is one request for a list of what operators left at objects.
type reading struct {
	object object.ID      // "" = all
	filter *filter.Filter // nil = all
	limit  int
	after  spot
}

// spot is a place in a list: an object, and a number within it.
type spot struct {
	object object.ID
	number uint64
}

func (p spot) compare(q spot) int {
	return cmp.Or(cmp.Compare(p.object, q.object), cmp.Compare(p.number, q.number))
}

func (p spot) cursor() string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatUint(p.number, 10) + " " + string(p.object)))
}

func parseCursor(text string) (spot, error) {
	bad := badField("cursor", "the cursor is none of this list; start again without it")
	data, err := base64.RawURLEncoding.DecodeString(text)
	number, id, ok := strings.Cut(string(data), " ")
	n, wrong := strconv.ParseUint(number, 10, 64)
	if err != nil || wrong != nil || !ok {
		return spot{}, bad
	}
	return spot{object.ID(id), n}, nil
}

// reading reads the parameters of a list.
func (s *site) reading(r *http.Request) (*reading, error) {
	if err := parameters(r, "filter", "object", "limit", "cursor"); err != nil {
		return nil, err
	}
	v := r.URL.Query()
	q := &reading{object: object.ID(v.Get("object"))}
	if q.object != "" && s.Projection.Set().Get(q.object) == nil {
		return nil, s.unknown(q.object)
	}
	var err error
	if text := v.Get("filter"); text != "" {
		if q.filter, err = filter.Parse(text); err != nil {
			return nil, badFilter(err)
		}
	}
	if q.limit, err = number(v.Get("limit"), "limit", pageOf, pageMost); err != nil {
		return nil, err
	}
	if text := v.Get("cursor"); text != "" {
		q.after, err = parseCursor(text)
	}
	return q, err
}

// wants tells whether an object is asked for.
func (s *site) wants(q *reading, id object.ID, st *fold.State) bool {
	o := s.Projection.Set().Get(id)
	return o != nil && (q.object == "" || q.object == id) && (q.filter == nil || q.filter.MatchIn(o, st, s.Projection.State))
}

// behind returns the page of a list behind the reading's place, and the cursor of
// the next one. at tells where an item stands.
func behind[T any](q *reading, all []T, at func(*T) spot) (page []T, next string) {
	slices.SortStableFunc(all, func(a, b T) int { return at(&a).compare(at(&b)) })
	from, exact := slices.BinarySearchFunc(all, q.after, func(item T, p spot) int { return at(&item).compare(p) })
	// What shares a number, as it should not, is not to be told again for ever.
	for exact && from < len(all) && at(&all[from]) == q.after {
		from++
	}
	to := min(len(all), from+q.limit)
	if to < len(all) {
		next = at(&all[to-1]).cursor()
	}
	return append([]T{}, all[from:to]...), next
}

func (s *site) downtimes(w http.ResponseWriter, r *http.Request) error {
	q, err := s.reading(r)
	if err != nil {
		return err
	}
	var all []wire.Downtime
	of := map[string]bool{} // rules of what is listed
	for id, st := range s.Projection.Extras() {
		if st.Status.Extra == nil || !s.wants(q, id, st) {
			continue
		}
		for i := range st.Status.Extra.Downtimes {
			d := &st.Status.Extra.Downtimes[i]
			all, of[d.Rule] = append(all, wire.FromDowntime(id, d)), true
		}
	}
	answer := wire.Downtimes{Total: len(all), Rules: s.rulesFor(q, of)}
	answer.Items, answer.Next = behind(q, all, func(d *wire.Downtime) spot { return spot{d.Object, d.Number} })
	return s.json(w, r, answer)
}

// rulesFor returns the downtimes for many objects or times: all of them, with one
// object those that are for it, with a filter those that what is listed was made
// from.
func (s *site) rulesFor(q *reading, of map[string]bool) []wire.Rule {
	out := []wire.Rule{}
	p := s.Projection.Program()
	for _, id := range slices.SortedFunc(maps.Keys(p.Rules), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.Rules[a].Number, p.Rules[b].Number), cmp.Compare(a, b))
	}) {
		rule := p.Rules[id]
		if q.object != "" && !s.covers(&rule, q.object) || q.filter != nil && !of[id] {
			continue
		}
		one := wire.FromRule(&rule)
		one.Target, one.Objects = view.RuleTarget(&rule), len(s.Projection.OfRule(id))
		if len(rule.Ranges) > 0 {
			// What cannot be computed any more, as after a change of the zones, is
			// shown without times, so that it can be cancelled.
			one.Occurrences, _ = s.occurrences(&rule)
		}
		out = append(out, one)
	}
	return out
}

// covers tells whether a rule is for an object as things are.
func (s *site) covers(r *event.DowntimeRule, id object.ID) bool {
	set := s.Projection.Set()
	o := set.Get(id)
	switch {
	case o == nil:
		return false
	case r.Object != "":
		return r.Object == id || r.WithServices && r.Object == o.HostObject().ID
	case r.Group != "":
		members, err := operate.Members(set, r.Group)
		return err == nil && slices.Contains(members, o)
	}
	f, err := filter.Parse(r.Filter)
	return err == nil && f.MatchIn(o, s.Projection.State(id), s.Projection.State)
}

func (s *site) comments(w http.ResponseWriter, r *http.Request) error {
	q, err := s.reading(r)
	if err != nil {
		return err
	}
	var all []wire.Comment
	for id, st := range s.Projection.Extras() {
		if st.Status.Extra == nil || !s.wants(q, id, st) {
			continue
		}
		for i := range st.Status.Extra.Comments {
			all = append(all, wire.FromComment(id, &st.Status.Extra.Comments[i]))
		}
	}
	answer := wire.Comments{Total: len(all)}
	answer.Items, answer.Next = behind(q, all, func(c *wire.Comment) spot { return spot{c.Object, c.Number} })
	return s.json(w, r, answer)
}

func (s *site) settings(w http.ResponseWriter, r *http.Request) error {
	q, err := s.reading(r)
	if err != nil {
		return err
	}
	p := s.Projection.Program()
	answer := wire.Settings{Program: programSwitches(s.Projection.Set(), p, false), Contacts: contactSettings(p)}
	var all []wire.ObjectSettings
	for id, st := range s.Projection.Extras() {
		if x := st.Status.Extra; x != nil && len(x.Settings) > 0 && s.wants(q, id, st) {
			all = append(all, wire.ObjectSettings{Object: id, Settings: wire.FromSettings(x.Settings)})
		}
	}
	answer.Total = len(all)
	answer.Objects, answer.Next = behind(q, all, func(o *wire.ObjectSettings) spot { return spot{object: o.Object} })
	return s.json(w, r, answer)
}

// programSwitches returns the switches of the whole program, or only those that
// operators set against the config.
func programSwitches(set *object.Set, p *program.State, changed bool) []wire.ProgramSwitch {
	config := set.Settings.On
	on := program.Effective(set.Settings, p).On
	out := []wire.ProgramSwitch{}
	for bit := object.Program(1); program.Names(bit) != ""; bit <<= 1 {
		one := wire.ProgramSwitch{Name: program.Names(bit), On: on.Has(bit), Configured: config.Has(bit)}
		for _, setting := range p.Switches.Settings {
			if setting.Name == one.Name && one.On != one.Configured {
				one.Author, one.Time = setting.Author, wire.Time(setting.Time)
			}
		}
		if !changed || one.On != one.Configured {
			out = append(out, one)
		}
	}
	return out
}

func contactSettings(p *program.State) []wire.Contact {
	out := []wire.Contact{}
	for _, name := range slices.Sorted(maps.Keys(p.Contacts)) {
		c := p.Contacts[name]
		if !c.HostOff && !c.ServiceOff && len(c.Settings) == 0 {
			continue // what differs are Nagios' bits alone
		}
		out = append(out, wire.Contact{Name: name, Hosts: !c.HostOff, Services: !c.ServiceOff, Settings: wire.FromSettings(c.Settings)})
	}
	return out
}
