package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/rule/explain"
	"jaque.sh/jaque/appliance/rule/near"
	"jaque.sh/jaque/web/wire"
)

// TestOutcome is what became of a message that was sent to try a channel.
type TestOutcome struct {
	Channel string
	Err     error // nil = it was taken
	Took    time.Duration
}

// tryBody is how many bytes the body of a test may have.
const tryBody = 64 << 10

// tryNotify sends a marked message to a contact, so that somebody can see whether it
// arrives.
func (s *site) tryNotify(w http.ResponseWriter, r *http.Request) error {
	if err := s.mayWrite(r); err != nil {
		return err
	}
	if err := parameters(r); err != nil {
		return err
	}
	contact, channel, err := readTry(w, r)
	if err != nil {
		return err
	}
	if err := s.mayTry(contact, channel); err != nil {
		return err
	}
	outcomes, err := s.TestNotify(r.Context(), contact, channel)
	if err != nil {
		return faultf(http.StatusBadRequest, "%v", err)
	}
	answer := wire.Tested{Contact: contact, Delivered: len(outcomes) > 0, Outcomes: []wire.TestedOver{}}
	for _, o := range outcomes {
		one := wire.TestedOver{Channel: o.Channel, Delivered: o.Err == nil, Seconds: o.Took.Seconds()}
		if o.Err != nil {
			one.Reason, answer.Delivered = o.Err.Error(), false
		}
		answer.Outcomes = append(answer.Outcomes, one)
	}
	return s.json(w, r, answer)
}

func readTry(w http.ResponseWriter, r *http.Request) (contact, channel string, err error) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, tryBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return "", "", faultf(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", tryBody)
	case err != nil:
		return "", "", faultf(http.StatusBadRequest, "the body did not arrive whole; send it again")
	}
	var body struct {
		Contact string `json:"contact"`
		Channel string `json:"channel"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil || d.More() {
		return "", "", faultf(http.StatusBadRequest, `the body is no object with the fields contact and channel; send {"contact":"alice"}`)
	}
	if body.Contact == "" {
		return "", "", badField("contact", "contact is missing; name the contact who gets the message")
	}
	return body.Contact, body.Channel, nil
}

// mayTry complains of contacts and channels that are not there, and of a process
// that sends nothing.
func (s *site) mayTry(contact, channel string) error {
	c := s.Projection.Set().Contacts[contact]
	if c == nil {
		return s.unknownContact(contact)
	}
	names := channelNames(c)
	switch {
	case len(names) == 0:
		return badField("contact", "contact %q has no channel; give it an email address or another one", contact)
	case channel != "" && !slices.Contains(names, channel):
		f := badField("channel", "contact %q has no channel %q; write one of %s", contact, short(channel), strings.Join(names, ", "))
		f.Status, f.Title, f.Known = http.StatusNotFound, http.StatusText(http.StatusNotFound), names
		return f
	case s.TestNotify == nil:
		return faultf(http.StatusServiceUnavailable, "this process delivers no notifications, others do, so that no test can be sent from here; "+
			"send a text about an object instead, which goes the whole way: jaque notify OBJECT -comment TEXT")
	}
	return nil
}

// unknownContact is the fault for a contact that is not configured.
func (s *site) unknownContact(name string) error {
	best := nearestOf(name, slices.Sorted(maps.Keys(s.Projection.Set().Contacts)))
	return unknownAsked(&explain.Unknown{What: "contact", Name: short(name), Near: best})
}

// nearestOf returns the first of the names that are nearest, "" if none is near.
func nearestOf(name string, names []string) string {
	best, least := "", min(4, len(name)/2+1)
	for _, known := range names {
		if d := near.Distance(name, known, least); d < least {
			best, least = known, d
		}
	}
	return best
}
