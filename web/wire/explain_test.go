package wire

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/rule/explain"
)

// answer is one with everything in it.
func answer() *explain.Answer {
	gates := []explain.Gate{{Name: notify.GateHard, Verdict: notify.Blocked, Meaning: "m", Why: "w", Until: 1}}
	changes := []explain.Change{{Gate: notify.GateHard, Contact: "ada", At: 1, Text: "t"}}
	people := []explain.Person{{Name: "ada", Alias: "Ada", Says: "not told", Why: "w", By: notify.GateHard, Channels: []string{"email"}, Gates: gates, Changes: changes, If: "i"}}
	return &explain.Answer{
		Object: "h!s", At: 1, Condition: "c", Supposed: "s",
		Decision: explain.Decision{Kind: notify.Problem, Verdict: "v", Gates: gates, People: people, Changes: changes, If: "i", Steps: []string{"s"}},
		Next:     explain.Next{At: 1, Kind: notify.Problem, Text: "t"},
		Ahead:    []explain.Ahead{{At: 1, Last: 2, Number: 1, Times: 2, Steps: []string{"s"}, Told: []string{"ada"}}},
		Recorded: []explain.Record{{
			Object: "h!s", Time: 1, Event: "e", Seq: 1, Kind: notify.Problem, Text: "t", Author: "a", Gates: gates, People: people,
			Deliveries: []explain.Delivery{{Request: "r", Contact: "ada", Channel: "email", Status: explain.Delivered}},
		}},
		Caveats: []string{"c"},
	}
}

// Every field that is said is described, and the other way round.
func TestExplanationsAreDescribedAsTheyAreSaid(t *testing.T) {
	data, err := json.Marshal(FromAnswer(answer()))
	if err != nil {
		t.Fatal(err)
	}
	var said map[string]any
	if err := json.Unmarshal(data, &said); err != nil {
		t.Fatal(err)
	}
	doc := described(t)
	first := func(list any) any { return list.([]any)[0] }
	decision, recorded := said["decision"].(map[string]any), first(said["recorded"]).(map[string]any)
	for name, item := range map[string]any{
		"Explanation": said, "NoteDecision": decision, "NoteGate": first(decision["gates"]), "NotePerson": first(decision["contacts"]),
		"NoteChange": first(decision["changes"]), "NoteAhead": first(said["ahead"]), "Notification": recorded, "NoteDelivery": first(recorded["deliveries"]),
		"OpenRequest": plain(t, OpenRequest{}), "ContactEntry": plain(t, ContactEntry{}), "NotifyTested": plain(t, Tested{}),
	} {
		properties, _ := dig(doc, "components", "schemas", name, "properties").(map[string]any)
		want, got := slices.Sorted(maps.Keys(properties)), slices.Sorted(maps.Keys(item.(map[string]any)))
		if !slices.Equal(want, got) {
			t.Errorf("%s: described %q, said %q", name, want, got)
		}
	}
}

// plain returns a value as a client reads it.
func plain(t *testing.T, v any) map[string]any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// A client need not ask whether a list is there.
func TestListsOfExplanationsAreNeverNull(t *testing.T) {
	said := plain(t, FromAnswer(&explain.Answer{}))
	for _, name := range []string{"ahead", "recorded", "caveats"} {
		if list, ok := said[name].([]any); !ok || len(list) != 0 {
			t.Errorf("%s is %v", name, said[name])
		}
	}
	for name, v := range said["decision"].(map[string]any) {
		if v == nil && name != "until" {
			t.Errorf("decision.%s is null", name)
		}
	}
}
