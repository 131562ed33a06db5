package web

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/replay"
	"jaque.sh/jaque/web/wire"
)

// atParam is the parameter for the state at an instant.
func atParam() wire.Param {
	return wire.Param{Name: "at", Type: "string", Help: "the state as it was then: RFC 3339 or Unix seconds, not in the future; default now. " +
		"Told from the log alone: state, attempt and all that was decided are exact. Output, performance data and times of the check " +
		"are those of the last measurement in the 15 minutes before, as far as it is still kept, else of the last decision. Which " +
		"objects there are, their labels and groups are those of the running configuration; owner is null. " +
		"503 if the log is too long to be read in 20 seconds"}
}

// latestSeconds is the largest number that is read as seconds: the year 5138.
// What is larger was meant in milliseconds or less.
const latestSeconds = 100_000_000_000

// parseAt reads the instant of a request, 0 for the present.
func parseAt(text string, now time.Time) (object.Time, error) {
	if text == "" {
		return 0, nil
	}
	t, err := parseInstant(text)
	if err != nil {
		return 0, err
	}
	if t.After(now) {
		return 0, faultf(http.StatusBadRequest, "at is %q, which is in the future; leave it out to get the present state", text)
	}
	if t.UnixMilli() <= 0 {
		return 0, faultf(http.StatusBadRequest, "at is %q; write an instant after 1970-01-01T00:00:00Z", text)
	}
	return object.At(t), nil
}

func parseInstant(text string) (time.Time, error) {
	// A number is read as one only if it looks like one: no "Inf", no "0x10".
	if n, err := strconv.ParseFloat(text, 64); err == nil && strings.Trim(text, "-.0123456789") == "" {
		if math.Abs(n) >= latestSeconds {
			return time.Time{}, faultf(http.StatusBadRequest, "at is %q, which are no seconds; write seconds since 1970, as in %s, or a time as in 2026-01-31T08:00:00Z",
				text, inSeconds(text))
		}
		return time.UnixMilli(int64(math.Round(n * 1000))), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		hint := ""
		if strings.Contains(text, " ") {
			hint = " (in a URL + is written as %2B)"
		}
		return t, faultf(http.StatusBadRequest, "at is %q; write a time as in 2026-01-31T08:00:00Z%s or seconds since 1970, as in 1769846400", text, hint)
	}
	return t, nil
}

// inSeconds returns what a number of milliseconds, microseconds or nanoseconds
// is in seconds.
func inSeconds(text string) string {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return "1769846400"
	}
	for math.Abs(n) >= latestSeconds {
		n /= 1000
	}
	return strconv.FormatFloat(math.Round(n*1000)/1000, 'f', -1, 64)
}

// as returns the projection to answer from: the live one, or what was at an
// instant. An error that is a fault tells the client what to do.
func (s *site) as(ctx context.Context, at object.Time) (*projection.Projection, error) {
	if at == 0 {
		return s.Projection, nil
	}
	if s.past == nil {
		return nil, faultf(http.StatusServiceUnavailable, "this process has no event log to read the past from; leave at out to get the present state")
	}
	p, err := s.past.At(ctx, at)
	if errors.Is(err, replay.ErrTooLong) {
		s.Logger.Warn("the past was not told in time", "at", at.Std(), "err", err)
		return nil, faultf(http.StatusServiceUnavailable,
			"the log is too long to be read in time, or others are reading it; try again in a moment, ask for one object's history under /api/v1/events, or leave at out")
	}
	return p, err
}

// instantOf reads the parameter at and returns what to answer from.
func (s *site) instantOf(r *http.Request) (*projection.Projection, object.Time, error) {
	at, err := parseAt(r.URL.Query().Get("at"), s.Now())
	if err != nil {
		return nil, 0, err
	}
	p, err := s.as(r.Context(), at)
	return p, at, err
}

// context returns what items of a projection are written with.
func (s *site) context(p *projection.Projection, at object.Time) *wire.Context {
	if at != 0 {
		return &wire.Context{State: p.State, Set: p.Set()} // who owned an object then is not known
	}
	now := s.Now()
	return &wire.Context{State: p.State, Set: p.Set(), Old: s.Old(), Owner: s.owner(), Next: func(i *projection.Item) object.Time { return s.next(i, now) }}
}

// owner returns who tells the owners of objects for one answer: asking the
// process for its id at each of them would cost more than the rest.
func (s *site) owner() func(object.ID) string {
	if s.Owner != nil {
		return s.Owner
	}
	id := s.Status().EngineID
	return func(object.ID) string { return id }
}
