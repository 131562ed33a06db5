package web

import (
	"net/http"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/web/sample"
)

func TestADowntimeForWhatIsSoNowHoldsForNothingLater(t *testing.T) {
	s := bare(t, operated())
	const times = `"start":"2026-03-01T20:00:00Z","duration":7200`
	for filter, rule := range map[string]bool{
		`problem`: false, `state=CRITICAL`: false, `disk`: false, `host~0 and !in_downtime`: false, `downtimes>0`: false,
		`host~0`: true, `group=db-servers or label.role=db`: true, `*`: true,
	} {
		q, actions, err := s.planOf(`{"command":"schedule-downtime","comment":"x","filter":"` + filter + `",` + times + `}`)
		if err != nil || len(actions) == 0 {
			t.Errorf("%s: %v, %v", filter, actions, err)
			continue
		}
		_, isRule := actions[0].Program.(program.PutRule)
		_, isOwn := actions[0].Command.(fold.ScheduleDowntime)
		wish, _ := s.wish(&q)
		if isRule != rule || isOwn == rule || strings.Contains(reach(&wish), "added later") != rule || strings.Contains(reach(&wish), "the filter asks for ") == rule {
			t.Errorf("%s: rule %v, its own %v, %q", filter, isRule, isOwn, reach(&wish))
		}
	}
}

func TestARecurringDowntimeForWhatIsSoNowIsRefused(t *testing.T) {
	refuses(t, bare(t, operated()), []wrong{
		{"a problem", `{"command":"schedule-downtime","comment":"x","filter":"host=web01 and problem","kind":"service","ranges":["sunday 02:00-04:00"]}`, "filter", `column 16: "problem" changes by itself`},
		{"a text", `{"command":"schedule-downtime","comment":"x","filter":"disk","ranges":["sunday 02:00-04:00"]}`, "filter", "the output, where a text is searched for, changes by itself"},
	})
}

func TestFormsSayWhetherLaterObjectsAreMeant(t *testing.T) {
	o, d := manned(sample.Shift())
	srv := serve(t, o)
	for query, want := range map[string]string{
		"filter=unhandled&kind=service": "only those that match now, because the filter asks for unhandled",
		"filter=host~web":               "and those that are added later",
		"filter=problem&kind=host":      "only those that match now",
	} {
		_, doc := post(t, srv, with(sheet(t, srv, "/do?command=schedule-downtime&"+query), "author", "jo", "comment", "x"))
		if text := textOf(elementByID(doc, "sheet")); !strings.Contains(text, want) || d.n != 0 {
			t.Errorf("%s: %s", query, text)
		}
	}
	resp, doc := post(t, srv, with(sheet(t, srv, "/do?command=schedule-downtime&filter=problem"), "author", "jo", "comment", "x", "repeat", "weekly", "day", "monday"))
	if text := textOf(elementByID(doc, "sheet")); resp.StatusCode != http.StatusBadRequest || !strings.Contains(text, "schedule a downtime that happens once") || d.n != 0 {
		t.Errorf("recurring: %s %s", resp.Status, text)
	}
	var p struct{ Note string }
	_, body := ask(t, http.MethodPost, srv.URL+root+"/commands", `{"command":"schedule-downtime","filter":"problem","comment":"x","duration":60,"preview":true}`, "Content-Type", "application/json")
	decode(t, body, &p)
	if !strings.Contains(p.Note, "only those that match now, because the filter asks for problem") {
		t.Errorf("the API says %q", p.Note)
	}
}
