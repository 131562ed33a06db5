package view

import (
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// telling fills what is about who is told.
func (g *Gallery) telling(now time.Time) {
	ago := func(d time.Duration) object.Time { return object.At(now.Add(-d)) }
	works := ChannelState{Name: "telegram", Sent: ago(time.Minute)}
	fails := ChannelState{Name: "email", Sent: ago(time.Hour), Failing: ago(20 * time.Minute), Reason: "dial tcp: connection refused", Open: 12}
	g.Strips = []Strip{
		NewStrip(Delivery{}, now),
		NewStrip(Delivery{Known: true, Channels: []ChannelState{works, {Name: "webhook"}}}, now),
		NewStrip(Delivery{Known: true, Open: 13, InFlight: 1, Oldest: ago(21 * time.Minute), Channels: []ChannelState{fails, works}}, now),
	}
	g.Canaries = []Canary{
		{},
		NewCanary(time.Minute, now.Add(-20*time.Second), now, "", "", now),
		NewCanary(time.Minute, now.Add(-9*time.Minute), now, "delivery", "dial tcp: connection refused", now),
	}
	link := func(name string) Link { return Link{Label: name, URL: "#"} }
	gates := []GateLine{
		{Name: "program", Verdict: "passed", Text: "notifications are on for the whole program"},
		{Name: "acknowledgement", Verdict: "blocked", Text: "the problem is acknowledged by alice", Until: NewWhen(ago(-time.Hour), now)},
		{Name: "interval", Verdict: "not reached", Text: "enough time has passed since the last notification"},
	}
	long := strings.Repeat("a-very-long-name-", 8)
	ways := []Way{
		{Channel: "email", State: OutcomeDelivered, Tone: "ok", After: "2 s", At: NewWhen(ago(time.Minute), now), Tries: "attempt 3", Repeat: true},
		{Channel: "telegram", State: OutcomeWaiting, Tone: "warn", After: "4 min", Tries: "attempt 5", Reason: "<b>503</b> " + long},
		{Channel: "webhook", State: OutcomeAbandoned, Tone: "crit", After: "1 d", At: NewWhen(ago(time.Minute), now), Reason: "410 Gone"},
		{Channel: "chat", State: OutcomeLost, Tone: "unknown"},
	}
	g.Verdicts = []Verdict{{Contact: link("alice"), Told: true, Gates: gates[:1]}, {Contact: link(long), Alias: long, Why: gates[1].Text, If: "It would be sent if the acknowledgement by alice were removed.", Gates: gates}}
	g.Notes = []NoteRow{
		{ID: "g-1", When: NewWhen(ago(time.Minute), now), Badge: g.Badges[2], Object: link("web01!http"), Kind: "PROBLEM", Number: "no. 2", Root: link("sw1"), People: []Told{{Contact: link("alice"), Ways: ways}, {Contact: link("bob")}}, Others: "3 others are not told", Policy: "policy shop", Gates: gates[:1], Each: g.Verdicts, Explain: "#"},
		{ID: "g-2", When: NewWhen(ago(time.Hour), now), Badge: g.Badges[2], Object: link(long), Kind: "PROBLEM", Count: "200 objects", Members: []Link{link("web01!http"), link(long)}, Rest: "and 198 more here", Nobody: gates[1].Text, Gates: gates, Explain: "#"},
	}
	g.Who = Who{
		Show: true, Since: NewWhen(ago(time.Hour), now), Explain: "#", Log: "#", Rest: Link{Label: "and 3 more", URL: "#"},
		Ahead: &Ahead{When: NewWhen(ago(-30*time.Minute), now), Number: "no. 2", Told: []Link{link("boss"), link("night")}, Steps: "after 30 minutes"},
		People: []WhoPerson{
			{Contact: link("alice"), Told: true, Word: "told", Tone: "ok", Kind: "PROBLEM", When: NewWhen(ago(time.Hour), now), Times: "2 times, last", Before: "ACKNOWLEDGEMENT", Ways: ways[:1]},
			{Contact: link("bob"), Told: true, Word: NotReached, Tone: "crit", Kind: "PROBLEM", When: NewWhen(ago(time.Hour), now), Ways: ways[2:3]},
			{Contact: link(long), Word: "not told", Tone: "pending", Why: gates[1].Text},
		},
	}
}
