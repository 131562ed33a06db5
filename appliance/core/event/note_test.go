package event_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

func TestAnEventRequestsAMessageForEachChannelOfThoseWhoAreTold(t *testing.T) {
	e := full()
	var got []string
	for _, r := range e.Requests() {
		if r.Event != e || r.Note != &e.Notes[0] || r.Contact != "ann" {
			t.Errorf("request %+v is not of its event and note", r)
		}
		got = append(got, r.ID)
	}
	want := []string{"web01!http/13/2/PROBLEM/d1/ann/email", "web01!http/13/2/PROBLEM/d1/ann/chat:2"}
	if !slices.Equal(got, want) {
		t.Errorf("requests %q, want %q", got, want)
	}
}

func TestNobodyIsAskedToBeToldByANoteThatSaysNo(t *testing.T) {
	e := full()
	e.Notes[0].Send = false
	if r := e.Requests(); len(r) != 0 {
		t.Errorf("requests %+v of notes that send nothing", r)
	}
}

// Two requests have the same name only if they are the same.
func TestTheNameOfARequestSaysEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func() (string, [4]string) {
			parts := [4]string{}
			for i := range parts {
				parts[i] = rapid.StringMatching(`[a%/2F5!]{0,4}`).Draw(t, "part")
			}
			e := &event.Event{Object: object.ID(parts[0]), ID: parts[1], Notes: []event.Note{{
				Send: true, Kind: "PROBLEM", People: []event.Person{{Name: parts[2], Told: true, Channels: []string{parts[3]}}},
			}}}
			return e.Requests()[0].ID, parts
		}
		a, of := draw()
		b, other := draw()
		if (a == b) != (of == other) {
			t.Fatalf("%q of %q, %q of %q", a, of, b, other)
		}
	})
}

func TestTheGateThatBlocks(t *testing.T) {
	e := full()
	if g := e.Notes[1].Blocking(); g.Name != "hard" || g.Verdict.String() != "blocked" {
		t.Errorf("the blocking gate is %+v", g)
	}
	if g := e.Notes[0].People[1].Blocking(); g.Why != "an operator - ann + bob" {
		t.Errorf("the contact's blocking gate is %+v", g)
	}
	if g := e.Notes[0].Blocking(); g != (event.Gate{}) {
		t.Errorf("a note that is sent is blocked by %+v", g)
	}
}
