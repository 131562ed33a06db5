package page

import (
	"testing"

	"jaque.sh/jaque/web/sample"
	"jaque.sh/jaque/web/view"
)

func TestTheNotificationLogSaysWhoAndWhy(t *testing.T) {
	g := view.NewGallery(view.Chrome{})
	v := view.Notes{Rows: g.Notes, Strip: g.Strips[2], Form: (&view.NoteAsk{Object: `a"b`}).Fields([]string{"<alice>"}, nil), Older: view.Link{Label: "Older", URL: "/notifications?before=7"}}
	expect(t, "rows", html(t, Notes(v)), `value="a&#34;b"`, `<option value="&lt;alice&gt;">`, "13 messages wait to be delivered", "FAILS", "connection refused",
		"delivered</b>", "(attempt 3, marked as a possible repetition)", "&lt;b&gt;503&lt;/b&gt;", "Nobody was told:", "acknowledged by alice", "200 objects", "and 198 more here",
		`class="gate passed"`, `class="gate blocked"`, `class="gate not-reached"`, "has no channel", "3 others are not told", `rel="next" href="/notifications?before=7"`, `href="/metrics"`)
	expect(t, "nothing", html(t, Notes(view.Notes{Empty: "Nothing of this.", Error: "kind is <x>"})), "Nothing of this.", "kind is &lt;x&gt;", `!class="notes"`, `!rel="next"`)
}

func TestAnExplanationShowsEveryGate(t *testing.T) {
	g := view.NewGallery(view.Chrome{})
	v := view.Explain{
		Object: view.Link{Label: "web01!http", URL: "/services/web01/http"}, Tense: "As it is now", Tone: "pending", Verdict: "It would not be sent <now>.", If: "It would be sent if it were so.",
		Gates: g.Notes[1].Gates, Reached: "stopped at gate 2 of 3", People: g.Verdicts, Rest: "and 9 more", Changes: []view.Change{{Gate: "acknowledgement", Text: "the acknowledgement were removed"}},
		Ahead: []view.Ahead{*g.Who.Ahead}, Recorded: g.Notes[:1], Caveats: []string{"Some of it is not known."},
	}
	expect(t, "a decision", html(t, Explain(v)), "It would not be sent &lt;now&gt;.", "It would be sent if it were so.", "stopped at gate 2 of 3", "time may lift it at", "and 9 more",
		"the acknowledgement were removed", "in 30 min", "boss", "Some of it is not known.", "As long as nothing happens")
	expect(t, "nothing was asked", html(t, Explain(view.Explain{})), "Write the name of a host", "!The decision")
	expect(t, "what is unknown", html(t, Explain(view.Explain{Error: `no host is called "<x>"`})), "&lt;x&gt;", `role="alert"`, "!Write the name of a host")
}

func TestContactsShowNoAddresses(t *testing.T) {
	s := sample.Told()
	v := view.NewContactPage(view.Chrome{}, "this process only reads", view.ContactSources{Set: s.Set(), Program: s.Program(), Waiting: map[string]int{"maria": 2}}, sample.Now)
	expect(t, "contacts", html(t, Contacts(v)), "Maria, shop", "telegram", "everybody", "On call now", "until", "2 messages wait", "this process only reads", "!@example.com", "!Turn off")
	v.List[0].Channels = nil
	expect(t, "without a channel", html(t, Contacts(v)), "no channel")
}

func TestWhoWasToldStandsOnTheObjectsPage(t *testing.T) {
	g := view.NewGallery(view.Chrome{})
	expect(t, "an incident", html(t, Detail(view.Detail{Who: g.Who})), "Who was told, who was not, and why", "given up", "410 Gone", "not told", "acknowledged by alice", "Next:", "no. 2 to", "boss", "and 3 more")
	w := view.Who{Show: true, None: "nobody is named", Next: view.Next{Text: "Nothing by itself."}, Last: g.Notes[:1]}
	expect(t, "nobody", html(t, Detail(view.Detail{Who: w})), "Nothing is wrong.", "nobody is named", "Nothing by itself.", "The last decision")
	expect(t, "without notifications", html(t, Detail(view.Detail{})), "!Who was told")
}
