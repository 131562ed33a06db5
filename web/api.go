package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/filter"
	"jaque.sh/jaque/web/query"
	"jaque.sh/jaque/web/wire"
)

const root = "/api/v1"

// listParams are the parameters of both lists.
func listParams() []wire.Param {
	return []wire.Param{
		{Name: "filter", Type: "string", Help: `which objects, as in: state=CRITICAL and !acknowledged`},
		{Name: "sort", Type: "string", Help: "key to sort by, with - in front for descending; default the id"},
		{Name: "limit", Type: "integer", Help: "items of a page; default all"},
		{Name: "cursor", Type: "string", Help: "next of the page before"},
		{Name: "fields", Type: "string", Help: "fields of an item, separated by commas; default all"},
		atParam(),
	}
}

func eventParams() []wire.Param {
	return []wire.Param{
		{Name: "object", Type: "string", Help: "host or host!service; default all"},
		{Name: "kind", Type: "string", Help: "kinds of event, separated by commas; default all"},
		{Name: "results", Type: "boolean", Help: "also check results that changed nothing; default false"},
	}
}

const commandHelp = "ask for one thing, of one object or of many. With preview nothing is done and the answer is 200. A group, a filter or " +
	"a scope that touches more than 50 objects must be confirmed with their number: 409 says it"

// apiRoutes is the one table of the API: what is served and what OpenAPI says.
func (s *site) apiRoutes() []route {
	fields := []wire.Param{{Name: "fields", Type: "string", Help: "fields, separated by commas; default all"}, atParam()}
	get := func(name, path string, h handle, help, answer string, params ...wire.Param) route {
		return route{name: name, path: root + path, get: h, doc: []wire.Route{
			{Method: "GET", Path: root + path, Help: help, Params: params, Answer: answer, Status: 200},
		}}
	}
	history := append(eventParams(),
		wire.Param{Name: "since", Type: "string", Help: "RFC 3339, inclusive"},
		wire.Param{Name: "until", Type: "string", Help: "RFC 3339, exclusive"},
		wire.Param{Name: "limit", Type: "integer", Help: "at most so many, default 100, at most 10000"})
	stream := get("api_stream", "/events/stream", s.stream, streamHelp, "Event", append(eventParams(), positionParams()...)...)
	stream.stream, stream.doc[0].Media = true, "text/event-stream"
	commands := route{name: "api_commands", path: root + "/commands", post: s.command, doc: []wire.Route{{
		Method: "POST", Path: root + "/commands", Help: commandHelp, Body: "Command", Answer: "Accepted",
		Params: []wire.Param{{Name: "Idempotency-Key", In: "header", Type: "string", Help: "any text; a command that comes again with it is answered as before and not carried out again"}},
		Status: 202, Write: true, Other: map[int]string{200: "Preview"},
	}}}
	notes, try := notifyParams(), route{name: "api_notify_test", path: root + "/notify/test", post: s.tryNotify, doc: []wire.Route{{
		Method: "POST", Path: root + "/notify/test", Help: "send a marked message to a contact now", Body: "NotifyTest", Answer: "NotifyTested", Status: 200, Write: true,
	}}}
	return []route{
		get("api_explain", "/explain", s.explainRoute, "who is told of an object, and why or why not", "Explanation", explainParams()...),
		get("api_notifications", "/notifications", s.notifications, "the notification log, newest first", "Notifications", notes...),
		get("api_notifications_open", "/notifications/open", s.openNotifications, "messages that are not delivered yet", "OpenRequests", openParams()...),
		get("api_contacts", "/contacts", s.contacts, "who can be told, and who is on call", "Contacts"),
		try,
		get("api_workers", "/workers", s.fleetAPI, "who executes checks, and for which zones", "Workers", fleetParams()...),
		get("api_status", "/status", s.status, "what this process is and how it does", "Status"),
		get("api_hosts", "/hosts", s.list(object.Host), "hosts", "Hosts", listParams()...),
		get("api_services", "/services", s.list(object.Service), "services", "Services", listParams()...),
		get("api_host", "/hosts/{host}", s.one, "one host", "Host", fields...),
		get("api_service", "/services/{host}/{service}", s.one, "one service", "Service", fields...),
		get("api_events", "/events", s.events, "history, newest first", "Events", history...),
		stream,
		get("api_downtimes", "/downtimes", s.downtimes, "downtimes of objects, and rules for many objects or times", "Downtimes", readParams()...),
		get("api_comments", "/comments", s.comments, "comments of objects", "Comments", readParams()...),
		get("api_settings", "/settings", s.settings, "what operators set against the configuration", "Settings", readParams()...),
		commands,
		get("api_command", "/commands/{id}", s.oneCommand, "how far a command is that was sent to this process", "Submission"),
		get("api_openapi", "/openapi.json", s.describe, "this description", "OpenAPI"),
	}
}

func describe(version string, routes []route) ([]byte, error) {
	var docs []wire.Route
	for _, r := range routes {
		docs = append(docs, r.doc...)
	}
	data, err := json.Marshal(wire.OpenAPI(version, docs))
	if err != nil {
		return nil, fmt.Errorf("describe the API: %w", err)
	}
	return data, nil
}

func (s *site) describe(w http.ResponseWriter, r *http.Request) error {
	if err := parameters(r); err != nil {
		return err
	}
	return s.write(w, r, s.openapi)
}

func (s *site) write(w http.ResponseWriter, r *http.Request, data []byte) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-cache")
	_, err := w.Write(data)
	s.sent(r, err)
	return nil
}

func (s *site) json(w http.ResponseWriter, r *http.Request, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	return s.write(w, r, append(data, '\n'))
}

// list answers one page of a kind of object.
func (s *site) list(k object.Kind) handle {
	return func(w http.ResponseWriter, r *http.Request) error {
		q, cols, err := listQuery(r, k)
		if err != nil {
			return err
		}
		p, at, err := s.instantOf(r)
		if err != nil {
			return err
		}
		result, err := query.Select(p, q)
		if err != nil {
			return faultf(http.StatusBadRequest, "%v", err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-cache")
		s.sent(r, s.writeList(w, result, cols, s.context(p, at)))
		return nil
	}
}

// chunk is how many bytes of a list are written at once.
const chunk = 64 << 10

func (s *site) writeList(w http.ResponseWriter, result query.Result, cols []wire.Column, c *wire.Context) error {
	b := make([]byte, 0, chunk+8<<10)
	b = append(b, `{"items":[`...)
	for i := range result.Items {
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendItem(b, &result.Items[i], cols, c)
		if len(b) >= chunk {
			if _, err := w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	b = append(b, `],"total":`...)
	b = strconv.AppendInt(b, int64(result.Total), 10)
	b = append(b, `,"next":`...)
	b = wire.AppendString(b, result.Next)
	_, err := w.Write(append(b, "}\n"...))
	return err
}

func listQuery(r *http.Request, k object.Kind) (query.Query, []wire.Column, error) {
	q := query.Query{Kind: k}
	if err := parameters(r, "filter", "sort", "limit", "cursor", "fields", "at"); err != nil {
		return q, nil, err
	}
	v := r.URL.Query()
	var err error
	if q.Filter, err = filter.Parse(v.Get("filter")); err != nil {
		return q, nil, badFilter(err)
	}
	if q.Order, err = query.ParseOrder(v.Get("sort")); err != nil {
		f := faultf(http.StatusBadRequest, "sort: %v", err)
		f.Known = query.Keys()
		return q, nil, f
	}
	if q.Limit, err = number(v.Get("limit"), "limit", 0, 1_000_000); err != nil {
		return q, nil, err
	}
	q.Cursor = v.Get("cursor")
	cols, err := wire.Pick(k, v.Get("fields"))
	if err != nil {
		return q, nil, faultf(http.StatusBadRequest, "fields: %v", err)
	}
	return q, cols, nil
}

// number reads a positive parameter, fallback if it is not given.
func number(text, name string, fallback, most int) (int, error) {
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, faultf(http.StatusBadRequest, "%s is %q; write a number from 1 to %d", name, text, most)
	}
	return n, nil
}

// one answers a host or a service.
func (s *site) one(w http.ResponseWriter, r *http.Request) error {
	if err := parameters(r, "fields", "at"); err != nil {
		return err
	}
	item, err := s.item(r)
	if err != nil {
		return err
	}
	p, at, err := s.instantOf(r)
	if err != nil {
		return err
	}
	if at != 0 {
		item.State = p.State(item.Object.ID)
	}
	cols, err := wire.Pick(item.Object.Kind(), r.URL.Query().Get("fields"))
	if err != nil {
		return faultf(http.StatusBadRequest, "fields: %v", err)
	}
	return s.write(w, r, append(wire.AppendItem(nil, &item, cols, s.context(p, at)), '\n'))
}

// item returns the object that the path names.
func (s *site) item(r *http.Request) (projection.Item, error) {
	id := object.HostID(r.PathValue("host"))
	if service := r.PathValue("service"); service != "" {
		id = object.ServiceID(r.PathValue("host"), service)
	} else if id.Kind() == object.Service {
		return projection.Item{}, s.unknown(id)
	}
	item, ok := s.Projection.Get(id)
	if !ok {
		return item, s.unknown(id)
	}
	return item, nil
}

// slash answers for a service that is called "/", as disks are: the mux does
// not take that for a part of a path. Behind is what follows the name.
func (s *site) slash(behind string, h handle) handle {
	return func(w http.ResponseWriter, r *http.Request) error {
		if r.PathValue("service") != "/"+behind {
			return s.missing(w, r)
		}
		r.SetPathValue("service", "/")
		return h(w, r)
	}
}
