package web

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/explain"
	"jaque.sh/jaque/web/page"
	"jaque.sh/jaque/web/view"
)

// explainPage says who is told of an object, and why or why not.
func (s *site) explainPage(w http.ResponseWriter, r *http.Request) error {
	now, q := s.Now(), r.URL.Query()
	ask := view.ExplainAsk{
		Object: strings.TrimSpace(q.Get("object")), Contact: strings.TrimSpace(q.Get("contact")), Kind: strings.ToUpper(strings.TrimSpace(q.Get("kind"))),
		At: strings.TrimSpace(q.Get("at")),
	}
	v := view.Explain{Chrome: s.chrome(r, "Explain", "notifications")}
	status := http.StatusOK
	if ask.Object != "" {
		if err := s.explainInto(r, &v, &ask); err != nil {
			f := asFault(err)
			if f == nil {
				return err
			}
			v.Error, status = f.Detail, f.Status
		}
	} else {
		v.Chrome.Live = ""
	}
	v.Form = ask.Fields(slices.Sorted(maps.Keys(s.Projection.Set().Contacts)))
	if v.Verdict == "" {
		return s.render(w, r, status, page.Explain(v))
	}
	v.Chrome.Title = view.Title("Explain "+ask.Object, v.Chrome.Trouble)
	if ask.At == "" {
		v.Chrome.Live += "&object=" + url.QueryEscape(ask.Object)
	} else if !ask.Moment.After(now) {
		v.Chrome.Live = "" // what was does not change
	}
	return s.render(w, r, status, page.Explain(v))
}

// explainInto answers what is asked.
func (s *site) explainInto(r *http.Request, v *view.Explain, ask *view.ExplainAsk) error {
	if ask.At != "" {
		at, err := momentOf(ask.At, "at")
		if err != nil {
			return err
		}
		ask.Moment = at
	}
	question := explain.Question{Object: object.ID(ask.Object), Contact: ask.Contact, Kind: notify.Kind(ask.Kind), At: stampOf(ask.Moment)}
	a, err := s.explained(r.Context(), question)
	if err != nil {
		return err
	}
	v.Badge = view.NewBadge(s.lookup(object.ID(ask.Object)))
	v.Explained(a, s.Now())
	return nil
}

// who says who was told of an object's present incident, and who was not.
func (s *site) who(r *http.Request, item *projection.Item) view.Who {
	if item.Object.Notify == nil {
		return view.NobodyEver(item.Object.ID)
	}
	a, err := s.explained(r.Context(), explain.Question{Object: item.Object.ID})
	if err != nil {
		s.Logger.Warn("who was told is not shown", "object", item.Object.ID, "err", err)
		return view.WhoBroken(item.Object.ID, "The event log cannot be read now: who was told is not known.")
	}
	st := &item.State.Status
	since := st.Problem
	if since == 0 && st.Notified != 0 {
		since = st.LastNotification // a recovery is owed: the incident is not over for those who were told
	}
	return view.NewWho(a, since, s.Now())
}
