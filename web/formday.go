package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/filter"
	"jaque.sh/jaque/web/page"
	"jaque.sh/jaque/web/view"
	"jaque.sh/jaque/web/wire"
)

// mostEntries is how many entries a page of downtimes or settings shows.
const mostEntries = 200

// nextTimes returns the next times of a recurring downtime for people.
func (s *site) nextTimes(r *event.DowntimeRule) []view.Occurrence {
	list, err := s.occurrences(r)
	if err != nil {
		s.Logger.Warn("times of a downtime not shown", "rule", r.ID, "err", err)
	}
	out := make([]view.Occurrence, len(list))
	for i := range list {
		out[i] = occurrenceText(&list[i])
	}
	return out
}

func occurrenceText(o *wire.Occurrence) view.Occurrence {
	v := view.Occurrence{
		UTC:    view.Stretched(object.Time(o.Start).Std().UTC(), object.Time(o.End).Std().UTC()),
		Length: view.Span(time.Duration(o.Length) * time.Second), DST: sentence(o.DST),
	}
	from, err := time.Parse(time.RFC3339, o.LocalStart)
	if err != nil {
		return v
	}
	to, err := time.Parse(time.RFC3339, o.LocalEnd)
	if err != nil {
		return v
	}
	v.Local = view.Stretched(from, to)
	return v
}

// narrowing reads the filter of a page about what operators do.
func (s *site) narrowing(r *http.Request) (text, problem string, keep func(object.ID, *fold.State) bool) {
	text = r.URL.Query().Get("filter")
	f, err := filter.Parse(text)
	if err != nil {
		return text, err.Error(), func(object.ID, *fold.State) bool { return false }
	}
	set := s.Projection.Set()
	return text, "", func(id object.ID, st *fold.State) bool {
		o := set.Get(id)
		return o != nil && (text == "" || f.Match(o, st))
	}
}

// downtimesPage shows what runs, what comes and what comes again and again.
func (s *site) downtimesPage(w http.ResponseWriter, r *http.Request) error {
	now := s.Now()
	v := view.Downtimes{Chrome: s.chrome(r, "Downtimes", "downtimes"), Why: s.cannot(r)}
	var keep func(object.ID, *fold.State) bool
	v.Filter, v.Error, keep = s.narrowing(r)
	begun, total := map[string]int{}, 0
	to := here(r)
	for id, st := range s.Projection.Extras() {
		if !keep(id, st) || st.Status.Extra == nil {
			continue
		}
		for i := range st.Status.Extra.Downtimes {
			d := &st.Status.Extra.Downtimes[i]
			if d.Rule != "" && d.Started != 0 {
				begun[d.Rule]++
			}
			if d.Rule != "" && v.Filter == "" {
				continue // shown once, as the rule
			}
			if total++; total > mostEntries {
				continue
			}
			if line := view.NewDowntime(id, d, to, now); d.Started != 0 {
				v.Running = append(v.Running, line)
			} else {
				v.Coming = append(v.Coming, line)
			}
		}
	}
	byStart := func(a, b view.Downtime) int { return strings.Compare(a.Start.Machine, b.Start.Machine) }
	slices.SortStableFunc(v.Running, byStart)
	slices.SortStableFunc(v.Coming, byStart)
	if total > mostEntries {
		v.Rest = "and " + view.Number(total-mostEntries) + " more; narrow them with a filter"
	}
	if v.Filter == "" {
		v.Rules = s.rules(begun, now)
	}
	status := http.StatusOK
	if v.Error != "" {
		status = http.StatusBadRequest
	}
	return s.render(w, r, status, page.Downtimes(v))
}

// here returns the address of a page without the outcome that it was told.
func here(r *http.Request) string {
	u := *r.URL
	q := u.Query()
	q.Del("did")
	u.RawQuery = q.Encode()
	return u.RequestURI()
}

// rules returns the downtimes for many objects or times in the order in which
// they were made; begun counts the objects that are in them.
func (s *site) rules(begun map[string]int, now time.Time) []view.Rule {
	var list []event.DowntimeRule
	for _, r := range s.Projection.Program().Rules {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b event.DowntimeRule) int {
		if a.Number != b.Number {
			return int(a.Number) - int(b.Number)
		}
		return strings.Compare(a.ID, b.ID)
	})
	var out []view.Rule
	for i := range list {
		var next []view.Occurrence
		if len(list[i].Ranges) > 0 {
			next = s.nextTimes(&list[i])
		}
		out = append(out, view.NewRule(&list[i], begun[list[i].ID], next, now))
	}
	return out
}

// commentsPage shows what operators said, newest first.
func (s *site) commentsPage(w http.ResponseWriter, r *http.Request) error {
	now := s.Now()
	v := view.Comments{Chrome: s.chrome(r, "Comments", "comments"), Why: s.cannot(r)}
	at, err := number(r.URL.Query().Get("page"), "page", 1, 1_000_000)
	if err != nil {
		return err
	}
	var keep func(object.ID, *fold.State) bool
	v.Filter, v.Error, keep = s.narrowing(r)
	type said struct {
		id object.ID
		c  *event.Comment
	}
	var all []said
	for id, st := range s.Projection.Extras() {
		if keep(id, st) && st.Status.Extra != nil {
			for i := range st.Status.Extra.Comments {
				all = append(all, said{id, &st.Status.Extra.Comments[i]})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b said) int { return int(b.c.Time - a.c.Time) })
	from := min((at-1)*view.PageSize, len(all))
	to := min(from+view.PageSize, len(all))
	for _, c := range all[from:to] {
		v.List = append(v.List, view.NewComment(c.id, c.c, here(r), now))
	}
	if to > from {
		v.Range = view.Number(from+1) + " to " + view.Number(to) + " of " + view.Number(len(all))
	}
	if at > 1 {
		v.Prev = pageURL("/comments", v.Filter, at-1)
	}
	if to < len(all) {
		v.Next = pageURL("/comments", v.Filter, at+1)
	}
	status := http.StatusOK
	if v.Error != "" {
		status = http.StatusBadRequest
	}
	return s.render(w, r, status, page.Comments(v))
}

func pageURL(path, text string, n int) string {
	q := url.Values{"page": {strconv.Itoa(n)}}
	if text != "" {
		q.Set("filter", text)
	}
	return path + "?" + q.Encode()
}

// settingsPage shows what is switched for the whole program and for contacts, and
// the objects that differ from the config.
func (s *site) settingsPage(w http.ResponseWriter, r *http.Request) error {
	now, set, p := s.Now(), s.Projection.Set(), s.Projection.Program()
	v := view.Settings{
		Chrome: s.chrome(r, "Settings", "settings"), Why: s.cannot(r),
		Program:  view.NewProgramSwitches(set.Settings.On, &p.Switches, now),
		Contacts: view.NewContacts(set, p, now),
	}
	total := 0
	for id, st := range s.Projection.Extras() {
		if st.Status.Extra == nil || set.Get(id) == nil {
			continue
		}
		for i := range st.Status.Extra.Settings {
			if total++; total > mostEntries {
				continue
			}
			line := view.NewSetting(id, &st.Status.Extra.Settings[i], now)
			for n := range line.Back {
				if line.Back[n].Name == "back" {
					line.Back[n].Value = "/settings"
				}
			}
			if v.Why != "" {
				line.Back = nil
			}
			v.Objects = append(v.Objects, line)
		}
	}
	if total > mostEntries {
		v.Rest = "and " + view.Number(total-mostEntries) + " more"
	}
	return s.render(w, r, http.StatusOK, page.Settings(v))
}

// keys shows what the keyboard does.
func (s *site) keys(w http.ResponseWriter, r *http.Request) error {
	c := s.chrome(r, "Keyboard", "")
	c.Live = ""
	return s.render(w, r, http.StatusOK, page.Keys(view.NewKeys(c)))
}
