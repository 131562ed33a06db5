package client

import (
	"regexp"
	"time"
)

// clock writes times for people: on the clock of this machine, on which they are
// read too, and with its zone.
type clock struct{ zone *time.Location }

func (c *call) clock() clock { return clock{c.Now().Location()} }

const clockLayout = "2006-01-02 15:04:05 MST"

// at writes a time of the API; what is none stays as it is.
func (k clock) at(s string) string {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.In(k.zone).Format(clockLayout)
	}
	return s
}

// inUTC finds the times in what the API says in sentences.
var inUTC = regexp.MustCompile(`\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\b`)

// OnClock rewrites the times in a sentence, which are in UTC, on the clock of a zone.
func OnClock(zone *time.Location, sentence string) string { return clock{zone}.text(sentence) }

// text rewrites the times in a sentence of the API.
func (k clock) text(s string) string {
	return inUTC.ReplaceAllStringFunc(s, func(utc string) string {
		t, err := time.Parse(clockLayout, utc)
		if err != nil {
			return utc
		}
		return t.In(k.zone).Format(clockLayout)
	})
}
