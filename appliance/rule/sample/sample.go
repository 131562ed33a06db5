package sample

import (
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/object"
)

// Label is one name with its value; neither is empty.
type Label struct{ Name, Value string }

// Sample is one value of one series at an instant.
type Sample struct {
	Name    string
	Labels  []Label // sorted by name, each name once
	Value   float64 // finite
	Time    object.Time
	Unit    string // in which the value is, "" = none
	Counter bool   // the value only grows, until it starts again
}

// Label returns the value of a label, "" if there is none.
func (s *Sample) Label(name string) string {
	for _, l := range s.Labels {
		if l.Name == name {
			return l.Value
		}
	}
	return ""
}

// Compare orders samples by series: by name, then by labels. Two samples are of one
// series if it returns 0.
func (s *Sample) Compare(other *Sample) int {
	if c := strings.Compare(s.Name, other.Name); c != 0 {
		return c
	}
	return slices.CompareFunc(s.Labels, other.Labels, func(a, b Label) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return strings.Compare(a.Value, b.Value)
	})
}

// Left is a value that became no sample.
type Left struct {
	Reason string // one of the Left… names
	Text   string // what the plugin wrote, or the label of it
}

// Why values are left out.
const (
	LeftUnknown    = "unknown"    // the plugin wrote U: it could not tell
	LeftUnreadable = "unreadable" // it is no metric as plugins write them
	LeftRepeated   = "repeated"   // another value of the same result has the same series
	LeftNameless   = "nameless"   // nothing of its name can stand in a name of the target
)

// Reasons returns every reason there is.
func Reasons() []string { return []string{LeftUnknown, LeftUnreadable, LeftRepeated, LeftNameless} }
