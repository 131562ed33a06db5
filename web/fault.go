package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/filter"
	"jaque.sh/jaque/web/query"
	"jaque.sh/jaque/web/view"
	"jaque.sh/jaque/web/wire"
)

// fault is an error that the client is told. Every other error is internal.
type fault struct{ wire.Problem }

// Error returns the detail.
func (f *fault) Error() string { return f.Detail }

func faultf(status int, format string, args ...any) *fault {
	return &fault{wire.Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf(format, args...),
	}}
}

// fail answers with an error: a problem for the API, a page for people.
func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	var f *fault
	switch {
	case errors.As(err, &f):
	case errors.Is(err, context.Canceled) && r.Context().Err() != nil:
		return // the client has gone
	default:
		s.Logger.Error("request failed", "path", r.URL.Path, "err", err)
		f = faultf(http.StatusInternalServerError, "something went wrong here; the log of this process says what")
	}
	w.Header().Set("Cache-Control", "no-store")
	if f.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="jaque"`)
	}
	if f.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	// A page shows how things stand, which a foreign name must not learn.
	if isAPI(r) || f.Status == http.StatusMisdirectedRequest {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(f.Status)
		s.sent(r, json.NewEncoder(w).Encode(f.Problem))
		return
	}
	s.failPage(w, r, f)
}

// recover turns a panic into an answer, so that one request cannot end the
// process, and says where it was.
func (s *site) recover(w *recorder, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(p)
	}
	s.Logger.Error("request panicked", "path", r.URL.Path, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	if w.began {
		panic(http.ErrAbortHandler) // half an answer must not look whole
	}
	w.Header().Del("Content-Encoding")
	s.fail(w, r, errors.New("panic"))
}

// sent logs that an answer could not be written, which only the client can
// have caused.
func (s *site) sent(r *http.Request, err error) {
	if err != nil {
		s.Logger.Debug("answer not sent", "path", r.URL.Path, "err", err)
	}
}

// parameters refuses query parameters that the route does not know.
func parameters(r *http.Request, known ...string) error {
	for name, values := range r.URL.Query() {
		if !slices.Contains(known, name) {
			f := faultf(http.StatusBadRequest, "no parameter is called %q here; write some of %s", name, strings.Join(known, ", "))
			if len(known) == 0 {
				f.Detail = fmt.Sprintf("no parameter is called %q here; none is known", name)
			}
			f.Known = known
			return f
		}
		if len(values) > 1 {
			return faultf(http.StatusBadRequest, "parameter %q is given %d times; write it once", name, len(values))
		}
	}
	return nil
}

// unknown is the fault for an object that is not configured.
func (s *site) unknown(id object.ID) *fault {
	f := faultf(http.StatusNotFound, "no %s is called %q", id.Kind(), short(string(id)))
	if near, ok := query.Nearest(s.Projection.Set(), id); ok {
		f.Near = string(near)
		f.Detail += fmt.Sprintf("; did you mean %q?", near)
	}
	return f
}

// badFilter is the fault for a filter that cannot be read.
func badFilter(err error) *fault {
	f := faultf(http.StatusBadRequest, "%v", err)
	var e *filter.Error
	if errors.As(err, &e) {
		f.Column = e.Column
	}
	return f
}

// nearLink returns a link to what may have been meant.
func nearLink(f *fault) view.Link {
	if f.Near == "" {
		return view.Link{}
	}
	return view.Link{Label: f.Near, URL: view.URL(object.ID(f.Near))}
}
