package web

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/replay"
	"jaque.sh/jaque/web/wire"
)

// handle answers a request or returns what went wrong, see fault.
type handle func(w http.ResponseWriter, r *http.Request) error

// route is one address. Name is its label in metrics.
type route struct {
	name   string
	path   string
	get    handle
	post   handle
	open   bool // answers without the check of who may read
	stream bool // never compressed
	doc    []wire.Route
}

// site is the handler's shared state; it never changes after New.
type site struct {
	Options
	assets  *shelf
	metrics *metrics
	mux     *http.ServeMux
	origin  *http.CrossOriginProtection
	names   []string // of API routes, for errors
	openapi []byte
	past    *replay.Replayer // nil without a log
	started time.Time        // when the process began to check

	outcomes  outcomes // of the last commands of forms
	onces     onces    // commands that must not be carried out twice
	kept      keptCommands
	abandoned abandoned // notifications that were given up lately
}

// New returns the handler of everything that is served over HTTP.
func New(o Options) (http.Handler, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	shelf, err := newShelf(o.Assets)
	if err != nil {
		return nil, err
	}
	s := &site{Options: o, assets: shelf, mux: http.NewServeMux(), origin: http.NewCrossOriginProtection()}
	if o.History != nil {
		s.past = replay.New(replay.Options{Log: o.History, Set: o.Projection.Set, Now: o.Now})
	}
	routes := append(s.apiRoutes(), s.pageRoutes()...)
	var names []string
	for _, r := range routes {
		names = append(names, r.name)
		if len(r.doc) > 0 {
			s.names = append(s.names, r.path)
		}
	}
	if s.metrics, err = newMetrics(o.Registerer, append(names, "other")); err != nil {
		return nil, err
	}
	st := o.Status()
	s.started = st.Started
	if s.openapi, err = describe(st.Version, routes); err != nil {
		return nil, err
	}
	for _, r := range routes {
		s.mux.Handle(r.path, s.wrap(r))
	}
	s.mux.Handle("/", s.wrap(route{name: "other", get: s.missing, post: s.missing}))
	return http.HandlerFunc(s.serve), nil
}

func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Content-Security-Policy", policy)
	s.mux.ServeHTTP(w, r)
}

// policy lets pages load what this handler serves and nothing else: no inline
// script or style, no frames, no forms to elsewhere.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// wrap adds to a route what all have in common.
func (s *site) wrap(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := &recorder{ResponseWriter: w, status: http.StatusOK}
		defer s.metrics.observe(rt.name, rec, s.Now())(s.Now)
		defer s.recover(rec, r)
		var out http.ResponseWriter = rec
		if !rt.stream {
			z := compress(rec, r)
			defer z.close()
			out = z
		}
		if err := s.dispatch(rt, out, r); err != nil {
			s.fail(out, r, err)
		}
	})
}

func (s *site) dispatch(rt route, w http.ResponseWriter, r *http.Request) error {
	if err := s.ownName(r); err != nil {
		return err
	}
	if !rt.open {
		if err := s.mayRead(r); err != nil {
			return err
		}
	}
	var allow []string
	if rt.get != nil {
		allow = append(allow, http.MethodGet, http.MethodHead)
	}
	if rt.post != nil {
		allow = append(allow, http.MethodPost)
	}
	switch {
	case !slices.Contains(allow, r.Method):
		w.Header().Set("Allow", strings.Join(allow, ", "))
		return faultf(http.StatusMethodNotAllowed, "%s is not answered here; use %s", r.Method, strings.Join(allow, " or "))
	case r.Method == http.MethodPost:
		return rt.post(w, r)
	}
	return rt.get(w, r)
}

func (s *site) missing(_ http.ResponseWriter, r *http.Request) error {
	f := faultf(http.StatusNotFound, "there is nothing at %s", r.URL.Path)
	if isAPI(r) {
		f.Known = s.names
	}
	return f
}

func isAPI(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/api"
}
