package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/a-h/templ"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/filter"
	"jaque.sh/jaque/web/page"
	"jaque.sh/jaque/web/query"
	"jaque.sh/jaque/web/view"
)

func (s *site) pageRoutes() []route {
	routes := []route{
		{name: "home", path: "/{$}", get: s.home},
		{name: "hosts", path: "/hosts", get: s.listPage(object.Host)},
		{name: "services", path: "/services", get: s.listPage(object.Service)},
		{name: "host", path: "/hosts/{host}", get: s.detail},
		{name: "service", path: "/services/{host}/{service}", get: s.detail},
		{name: "service", path: "/services/{host}/{service...}", get: s.slash("", s.detail), post: s.slash("/check", s.checkNow)},
		{name: "api_service", path: root + "/services/{host}/{service...}", get: s.slash("", s.one)},
		{name: "host_check", path: "/hosts/{host}/check", post: s.checkNow},
		{name: "service_check", path: "/services/{host}/{service}/check", post: s.checkNow},
		{name: "events", path: "/events", get: s.eventsPage},
		{name: "notifications", path: "/notifications", get: s.notesPage},
		{name: "contacts", path: "/contacts", get: s.contactsPage},
		{name: "workers", path: "/workers", get: s.workersPage},
		{name: "explain", path: "/explain", get: s.explainPage},
		{name: "form", path: doPath, get: s.openForm, post: s.takeForm},
		{name: "done", path: "/done/{id}", get: s.done},
		{name: "downtimes", path: "/downtimes", get: s.downtimesPage},
		{name: "comments", path: "/comments", get: s.commentsPage},
		{name: "settings", path: "/settings", get: s.settingsPage},
		{name: "keys", path: "/keys", get: s.keys},
		{name: "search", path: "/search", get: s.search},
		{name: "engine", path: "/status", get: s.engine},
		{name: "live", path: "/live", get: s.live, stream: true},
		{name: "theme", path: "/theme", post: s.theme},
		{name: "sign_in", path: "/sign-in", get: s.signInPage, post: s.signIn},
		{name: "sign_out", path: "/sign-out", post: s.signOut},
		{name: "asset", path: "/assets/{name}", get: s.asset, open: true},
		{name: "livez", path: "/livez", get: s.livez, open: true},
		{name: "livez", path: "/healthz", get: s.livez, open: true},
		{name: "readyz", path: "/readyz", get: s.readyz, open: true},
		{name: "metrics", path: "/metrics", get: s.serveMetrics, open: true, stream: true},
	}
	if s.Debug {
		routes = append(routes, route{name: "gallery", path: "/gallery", get: s.gallery})
	}
	return routes
}

// chrome returns what surrounds a page.
func (s *site) chrome(r *http.Request, title, section string) view.Chrome {
	n := s.Projection.Counts()
	trouble := n.UnhandledHosts + n.UnhandledServices
	st := s.Status()
	c := view.Chrome{
		Title: view.Title(title, trouble), Section: section, Here: r.URL.RequestURI(),
		Style: s.assets.hashed["jaque.css"], Script: s.assets.hashed["jaque.js"], Icon: s.assets.hashed["icon.svg"],
		Version: st.Version, Trouble: trouble, Status: view.Summary(trouble),
		Banners: view.NewBanners(!st.Reload.OK && !st.Reload.At.IsZero(), len(st.Reload.Problems), s.Trouble()),
		SignIn:  s.Token != "", SignedIn: s.signedIn(r), Live: "/live?at=" + formatPosition(s.Projection.Position()),
		Notice: s.notice(r), Fleet: s.workers() != nil,
	}
	if id, ok := s.waiting(r); ok {
		c.Live += "&did=" + url.QueryEscape(id)
	}
	s.abandoned.with(r.Context(), s, func(a *view.Abandonments) { c.Banners = append(c.Banners, a.Banner(s.unheard)...) })
	c.Banners = append(c.Banners, s.canary(s.Now()).Banner()...)
	c.Banners = append(c.Banners, view.OffBanners(s.Projection.Set().Settings.On, &s.Projection.Program().Switches, s.Now())...)
	if t, err := r.Cookie("jaque_theme"); err == nil && (t.Value == "dark" || t.Value == "light") {
		c.Theme = t.Value
	}
	return c
}

// off returns what is off for the whole program.
func (s *site) off() object.Program {
	return ^program.Effective(s.Projection.Set().Settings, s.Projection.Program()).On
}

func (s *site) render(w http.ResponseWriter, r *http.Request, status int, c templ.Component) error {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	out := &visible{w: w}
	err := c.Render(r.Context(), out)
	if err == nil {
		err = out.end()
	}
	s.sent(r, err)
	return nil
}

func (s *site) lookup(id object.ID) projection.Item {
	item, ok := s.Projection.Get(id)
	if !ok {
		// A reload took it away since the set was read.
		item = projection.Item{Object: &object.Object{ID: id, Name: string(id), Rule: &object.Rule{}}, State: s.Projection.State(id)}
	}
	return item
}

func (s *site) home(w http.ResponseWriter, r *http.Request) error {
	v := view.NewHome(s.chrome(r, "Problems", "home"), s.Projection.Counts(), s.Projection.Problems(), s.lookup, s.Now())
	if s.cannot(r) == "" {
		v.Offer()
	}
	return s.render(w, r, http.StatusOK, page.Home(v))
}

func (s *site) listPage(k object.Kind) handle {
	return func(w http.ResponseWriter, r *http.Request) error {
		asked := r.URL.Query()
		req := view.ListRequest{Kind: k, Filter: asked.Get("filter"), Sort: asked.Get("sort"), Page: 1, Why: s.cannot(r)}
		status := http.StatusOK
		result, err := s.listResult(r, &req)
		if err != nil {
			f := asFault(err)
			if f == nil {
				return err
			}
			req.Error, req.Page, status = f.Detail, max(req.Page, 1), f.Status
		}
		title := map[object.Kind]string{object.Host: "Hosts", object.Service: "Services"}[k]
		c, now := s.chrome(r, title, k.String()+"s"), s.Now()
		if req.At != 0 {
			c.Live, now = "", req.At.Std() // what was does not change, and is as old as it was then
		}
		v := view.NewList(c, req, result.Items, result.Total, now)
		for i := range result.Items {
			if host := result.Items[i].Object.Host; host != nil && req.At == 0 && s.Projection.State(host.ID).Status.DowntimeDepth > 0 {
				v.Rows[i].Marks = append(v.Rows[i].Marks, "host in downtime")
			}
		}
		return s.render(w, r, status, page.List(v))
	}
}

// listResult reads the rest of a list's address and selects its page.
func (s *site) listResult(r *http.Request, req *view.ListRequest) (result query.Result, err error) {
	q := query.Query{Kind: req.Kind, Limit: view.PageSize}
	if req.Page, err = number(r.URL.Query().Get("page"), "page", 1, 1_000_000); err != nil {
		return result, err
	}
	q.Offset = (req.Page - 1) * view.PageSize
	if q.Filter, err = filter.Parse(req.Filter); err != nil {
		return result, badFilter(err)
	}
	if q.Order, err = query.ParseOrder(req.Sort); err != nil {
		return result, faultf(http.StatusBadRequest, "%v", err)
	}
	p, at, err := s.instantOf(r)
	if err != nil {
		return result, err
	}
	req.At = at
	return query.Select(p, q)
}

// lines is how many events a page shows.
const lines = 50

func (s *site) detail(w http.ResponseWriter, r *http.Request) error {
	item, err := s.item(r)
	if err != nil {
		return err
	}
	id := item.Object.ID
	src := view.Sources{Item: item, Lookup: s.lookup, Owner: s.owner()(id), Next: s.next(&item, s.Now()), Check: s.checkForm(r, item.Object), Off: s.off(), Why: s.cannot(r)}
	if s.History == nil {
		src.Broken = "This process has no event log to read from."
	} else if err = s.historyOf(r.Context(), id, &src); err != nil {
		s.Logger.Warn("history not shown", "object", id, "err", err)
		src.Broken = "The event log cannot be read now; the state above is current."
	}
	who := s.who(r, &item)
	c := s.chrome(r, string(id), item.Object.Kind().String()+"s")
	if r.URL.Query().Get("asked") == "check" {
		c.Notice = view.Notice{Tone: "pending", Text: "The check was asked for. Its result appears here."}
	}
	c.Live += "&object=" + url.QueryEscape(string(id))
	v := view.NewDetail(c, src, s.Now())
	v.Who = who
	return s.render(w, r, http.StatusOK, page.Detail(v))
}

// historyLines is how many events the bar of an object's page is made from. What
// became of notifications is none of them: a storm of it must not hide the states.
const historyLines = 4 * lines

// historyOf reads what the page of an object shows of its history.
func (s *site) historyOf(ctx context.Context, id object.ID, src *view.Sources) (err error) {
	kinds := slices.DeleteFunc(slices.Clone(allKinds), func(k event.Kind) bool { return slices.Contains(outcomeKinds(), k) })
	if src.Events, err = s.History.History(ctx, journal.Query{Object: id, Kinds: kinds, Limit: historyLines}); err != nil {
		return err
	}
	q := journal.Query{Object: id, Kinds: outcomeKinds(), Limit: noteChunk}
	if n := len(src.Events); n == historyLines {
		src.Cut = true
		q.Since = src.Events[n-1].Time.Std()
	}
	src.Outcomes, err = s.History.History(ctx, q)
	return err
}

// checkForm says whether the button can be used.
func (s *site) checkForm(r *http.Request, o *object.Object) view.Form {
	switch {
	case o.Rule.Check.Kind == object.CheckPassive:
		return view.Form{Why: "results of this object are submitted to jaque"}
	case o.Rule.Check.Kind == object.CheckNone || o.Rule.Check.Kind == "":
		return view.Form{Why: "this object has no check of its own"}
	case s.cannot(r) != "":
		return view.Form{Why: s.cannot(r)}
	}
	return view.Form{}
}

func (s *site) checkNow(w http.ResponseWriter, r *http.Request) error {
	if err := s.mayWrite(r); err != nil {
		return err
	}
	item, err := s.item(r)
	if err != nil {
		return err
	}
	author := cmp.Or(kept(r, nameCookie), "dashboard")
	id, err := s.run(r, request{Command: "check-now", Object: item.Object.ID, Author: author})
	if err != nil {
		return err
	}
	if s.submits() {
		s.outcomes.put(id, handedOn("check-now", item.Object.ID))
		http.Redirect(w, r, withDid(view.URL(item.Object.ID), id), http.StatusSeeOther)
		return nil
	}
	http.Redirect(w, r, view.URL(item.Object.ID)+"?asked=check", http.StatusSeeOther)
	return nil
}

func (s *site) eventsPage(w http.ResponseWriter, r *http.Request) error {
	v := r.URL.Query()
	c := s.chrome(r, "Events", "events")
	q := journal.Query{Object: object.ID(v.Get("object")), Limit: lines}
	broken, status := "", http.StatusOK
	var err error
	var list []event.Event
	if q.Kinds, err = kindList(v.Get("kind")); err == nil {
		q.Until, err = instant(v.Get("until"), "until")
	}
	if err == nil {
		list, err = s.history(r, q)
	}
	if err != nil {
		f := asFault(err)
		if f == nil {
			return err
		}
		broken, status = f.Detail, f.Status
	}
	e := view.NewEvents(c, v.Get("object"), v.Get("kind"), list, s.Now())
	e.Error = broken
	for i := range e.Lines {
		if id := object.ID(e.Lines[i].Object); id != "" && !s.hasPage(id) {
			e.Lines[i].URL = "/events?object=" + url.QueryEscape(string(id)) // it has no page any more
		}
	}
	if len(list) == lines {
		// The bound is exclusive and times are milliseconds: one later, so
		// that events of the same instant are not lost between two pages.
		oldest := list[len(list)-1].Time + 1
		if oldest > list[0].Time {
			oldest-- // a page full of one instant must still move on
		}
		v.Set("until", oldest.Std().Format(time.RFC3339Nano))
		e.Older = "/events?" + v.Encode()
	}
	return s.render(w, r, status, page.Events(e))
}

// found is how many rows of a kind the search shows.
const found = 25

func (s *site) search(w http.ResponseWriter, r *http.Request) error {
	text := r.URL.Query().Get("q")
	v := view.Search{Chrome: s.chrome(r, "Search", ""), Text: text}
	v.Chrome.Search = text
	if _, ok := s.Projection.Get(object.ID(text)); ok {
		http.Redirect(w, r, view.URL(object.ID(text)), http.StatusSeeOther)
		return nil
	}
	f, err := filter.Parse(text)
	if err != nil || text == "" {
		if err != nil {
			v.Error = err.Error()
		}
		return s.render(w, r, http.StatusOK, page.Search(v))
	}
	for _, k := range []object.Kind{object.Host, object.Service} {
		result, err := query.Select(s.Projection, query.Query{Kind: k, Filter: f, Limit: found, Order: query.Order{Key: "state", Desc: true}})
		if err != nil {
			return err
		}
		rows, all := view.NewRows(result.Items, s.Now()), view.Link{URL: view.ListURL(k, text)}
		if result.Total > len(rows) {
			all.Label = "all " + view.Count(result.Total, k.String(), k.String()+"s")
		}
		if k == object.Host {
			v.Hosts, v.AllHosts = rows, all
		} else {
			v.Services, v.All = rows, all
		}
	}
	return s.render(w, r, http.StatusOK, page.Search(v))
}

func (s *site) gallery(w http.ResponseWriter, r *http.Request) error {
	c := s.chrome(r, "Gallery", "")
	c.Live = ""
	return s.render(w, r, http.StatusOK, page.Gallery(view.NewGallery(c)))
}

func (s *site) failPage(w http.ResponseWriter, r *http.Request, f *fault) {
	c := s.chrome(r, f.Title, "")
	c.Live = ""
	v := view.Failure{Chrome: c, Status: f.Status, Title: f.Title, Detail: f.Detail, Near: nearLink(f)}
	if err := s.render(w, r, f.Status, page.Failure(v)); err != nil {
		s.sent(r, err)
	}
}

func (s *site) engine(w http.ResponseWriter, r *http.Request) error {
	st, set, at := s.Status(), s.Projection.Set(), s.Projection.Position()
	now := s.Now()
	v := view.Engine{Chrome: s.chrome(r, "Engine", "engine"), Unready: s.Unready()}
	for _, e := range st.Engines {
		if len(st.Engines) == 1 && e.ID == st.EngineID {
			break // it needs no table
		}
		v.Engines = append(v.Engines, view.NewEngineRow(view.EngineSource{
			ID: e.ID, Self: e.ID == st.EngineID, Live: e.Live, Joined: object.At(e.Joined), Gone: object.At(e.Gone),
			Objects: e.Objects, Of: len(set.Objects), Generation: e.Generation, Delivery: e.Delivery,
		}, now))
	}
	v.Facts = []view.Fact{
		{Label: "Version", Value: cmp.Or(st.Version, "not known")},
		{Label: "Role", Value: cmp.Or(st.Role, "not known")},
		{Label: "Engine id", Value: cmp.Or(st.EngineID, "none")},
		{Label: "Epoch", Value: view.Number(int(max(st.Epoch, s.Projection.Epoch())))},
		{Label: "Started", When: view.NewWhen(object.At(st.Started), now)},
	}
	v.Log = []view.Fact{
		{Label: "Decisions", Value: view.Number(int(at.Log))},
		{Label: "Measurements", Value: view.Number(int(at.Results))},
		{Label: "Newest event", When: view.NewWhen(s.Projection.Newest(), now)},
	}
	v.Lateness = view.NewLateness([]string{"half within", "95 % within", "99 % within", "worst"},
		[]float64{st.Latency.P50, st.Latency.P95, st.Latency.P99, st.Latency.Max})
	v.Reload = view.Reload{
		Badge: view.Badge{Name: "LOADED", Tone: "ok"}, When: view.NewWhen(object.At(st.Reload.At), now),
		Generation: cmp.Or(st.Reload.Generation, set.Generation), Problems: st.Reload.Problems,
		Objects: view.Count(len(set.Hosts), "host", "hosts") + ", " + view.Count(len(set.Objects)-len(set.Hosts), "service", "services"),
	}
	v.Canary, v.Strip = s.canary(now), s.strip(r, now)
	switch {
	case !st.Reload.OK && !st.Reload.At.IsZero():
		v.Reload.Badge = view.Badge{Name: "REFUSED", Tone: "crit"}
	case len(st.Reload.Problems) > 0:
		v.Reload.Badge = view.Badge{Name: "WARNINGS", Tone: "warn"}
	}
	return s.render(w, r, http.StatusOK, page.Engine(v))
}
