package fold_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// story is one object to which things happen.
type story struct {
	t   *testing.T
	env *fold.Env
	s   *fold.State
	n   int
}

func newStory(t *testing.T) *story {
	env, s := probed()
	env.Object.Rule.Attempts = 2
	env.Comment, env.Downtime = 40, 70
	return &story{t: t, env: env, s: s}
}

// at decides a command some seconds after the start and says what came of it: the
// downtimes, a running one with a plus, and the kinds of the event with the facts
// that name downtimes.
func (w *story) at(seconds float64, c fold.Command) string {
	w.t.Helper()
	now := started + object.Time(seconds*1000)
	// As after a restart: nothing is known but what a snapshot holds.
	restored := new(fold.State)
	if err := fold.DecodeState(fold.AppendState(nil, w.s), restored); err != nil {
		w.t.Fatal(err)
	}
	w.s = restored
	w.n++
	w.env.ID = fmt.Sprint("d", w.n)
	if r, ok := c.(fold.Result); ok {
		r.Start = now
		c = r
	}
	d := must(w.t, w.env, w.s, c, now)
	return w.list() + happened(&d)
}

func (w *story) list() string {
	var names []string
	running := int32(0)
	if x := w.s.Status.Extra; x != nil {
		for _, d := range x.Downtimes {
			if d.Started != 0 {
				running++
				d.ID += "+"
			}
			names = append(names, d.ID)
		}
	}
	if running != w.s.Status.DowntimeDepth {
		w.t.Errorf("depth %d with %v", w.s.Status.DowntimeDepth, names)
	}
	return strings.Join(names, " ")
}

func happened(d *fold.Decision) string {
	if !d.HasLog {
		return ""
	}
	out := " |"
	for _, k := range append([]event.Kind{d.Log.Kind}, d.Log.Also...) {
		if k != event.CheckResult {
			out += " " + string(k)
		}
	}
	for _, fact := range []string{"scheduled", "started", "ended", "cancelled", "unused"} {
		if ids := d.Log.Facts[fact]; ids != "" {
			out += " " + fact + "=" + ids
		}
	}
	return strings.ReplaceAll(out, "downtime.", "")
}

// window is a downtime from one second to another; a duration in seconds makes it
// flexible.
func window(id string, from, to, duration float64) fold.ScheduleDowntime {
	ms := func(s float64) object.Time { return object.Time(s * 1000) }
	return fold.ScheduleDowntime{Downtime: event.Downtime{
		ID: id, Start: started + ms(from), End: started + ms(to), Duration: ms(duration), Author: "ann", Text: "work " + id,
	}}
}

func triggered(id, by string, from, to, duration float64) fold.ScheduleDowntime {
	w := window(id, from, to, duration)
	w.Downtime.Trigger = by
	return w
}

type happening struct {
	at   float64
	do   fold.Command
	want string
}

// The table of downtimes of the monitoring semantics, line by line.
func TestDowntimes(t *testing.T) {
	bad, worse, fine := result(object.Warning), result(object.Critical), result(object.OK)
	for _, tt := range []struct {
		name  string
		steps []happening
	}{
		{"a fixed one runs from its start to its end whatever the state", []happening{
			{0, window("a", 10, 20, 0), "a | scheduled scheduled=a"},
			{9, fold.Tick{}, "a"},
			{10, fold.Tick{}, "a+ | started started=a"},
			{11, bad, "a+ |"},
			{19.999, fold.Tick{}, "a+"},
			{20, fold.Tick{}, " | ended ended=a"},
		}},
		{"a fixed one that should run already starts at once", []happening{
			{15, window("a", 10, 20, 0), "a+ | scheduled started scheduled=a started=a"},
			{20, fold.Tick{}, " | ended ended=a"},
		}},
		{"a fixed one that was slept through goes without having started", []happening{
			{0, window("a", 10, 20, 0), "a | scheduled scheduled=a"},
			{30, fold.Tick{}, " | ended unused=a"},
		}},
		{"overlapping ones count", []happening{
			{0, window("a", 10, 30, 0), "a | scheduled scheduled=a"},
			{0, window("b", 20, 40, 0), "a b | scheduled scheduled=b"},
			{25, fold.Tick{}, "a+ b+ | started started=a,b"},
			{30, fold.Tick{}, "b+ | ended ended=a"},
			{40, fold.Tick{}, " | ended ended=b"},
		}},
		{"one that ends hands over to one that starts", []happening{
			{0, window("a", 10, 20, 0), "a | scheduled scheduled=a"},
			{0, window("b", 20, 30, 0), "a b | scheduled scheduled=b"},
			{10, fold.Tick{}, "a+ b | started started=a"},
			{20, fold.Tick{}, "b+ | ended started started=b ended=a"},
		}},
		{"a flexible one starts with the first problem, which may be soft, and lasts its time", []happening{
			{0, window("a", 10, 60, 30), "a | scheduled scheduled=a"},
			{5, bad, "a |"},
			{6, fine, "a |"},
			{20, fine, "a"},
			{50, bad, "a+ | started started=a"},
			{51, fine, "a+ |"},
			{79.999, fold.Tick{}, "a+"},
			{80, fold.Tick{}, " | ended ended=a"},
		}},
		{"a flexible one starts at the last instant of its window, not after", []happening{
			{0, window("a", 10, 60, 30), "a | scheduled scheduled=a"},
			{0, window("b", 10, 59, 30), "a b | scheduled scheduled=b"},
			{60, bad, "a+ | ended started started=a unused=b"},
		}},
		{"a flexible one that is never needed goes silently", []happening{
			{0, window("a", 10, 60, 30), "a | scheduled scheduled=a"},
			{60, fold.Tick{}, "a"},
			{60.001, fold.Tick{}, " | ended unused=a"},
		}},
		{"a flexible one for a problem that is there starts at once inside its window", []happening{
			{0, bad, " |"},
			{15, window("a", 10, 60, 30), "a+ | scheduled started scheduled=a started=a"},
			{45, fold.Tick{}, " | ended ended=a"},
		}},
		{"a problem that was there when the window opened starts it with its next change", []happening{
			{0, bad, " |"},
			{1, bad, " |"},
			{2, window("a", 10, 60, 30), "a | scheduled scheduled=a"},
			{15, fold.Tick{}, "a"},
			{20, bad, "a"},
			{30, worse, "a+ | started started=a"},
		}},
		{"a problem that gets hard inside the window starts it", []happening{
			{0, bad, " |"},
			{2, window("a", 10, 60, 30), "a | scheduled scheduled=a"},
			{20, bad, "a+ | started started=a"},
		}},
		{"a triggered one starts and ends with its trigger", []happening{
			{0, window("a", 10, 20, 0), "a | scheduled scheduled=a"},
			{0, triggered("b", "a", 50, 60, 0), "a b | scheduled scheduled=b"},
			{10, fold.Tick{}, "a+ b+ | started started=a,b"},
			{20, fold.Tick{}, " | ended ended=a,b"},
		}},
		{"a triggered one is cancelled with its trigger", []happening{
			{0, window("a", 10, 20, 0), "a | scheduled scheduled=a"},
			{0, triggered("b", "a", 10, 60, 0), "a b | scheduled scheduled=b"},
			{5, triggered("c", "b", 10, 60, 0), "a b c | scheduled scheduled=c"},
			{6, fold.CancelDowntimes{ID: "a"}, " | cancelled cancelled=a,b,c"},
		}},
		{"a running triggered one is cancelled with its trigger", []happening{
			{0, window("a", 0, 20, 0), "a+ | scheduled started scheduled=a started=a"},
			{1, triggered("b", "a", 10, 60, 0), "a+ b+ | scheduled started scheduled=b started=b"},
			{2, fold.CancelDowntimes{Number: 70}, " | cancelled cancelled=a,b"},
		}},
		{"a triggered one with a length of its own ends after it", []happening{
			{0, window("a", 10, 100, 0), "a | scheduled scheduled=a"},
			{0, triggered("b", "a", 10, 60, 5), "a b | scheduled scheduled=b"},
			{10, fold.Tick{}, "a+ b+ | started started=a,b"},
			{15, fold.Tick{}, "a+ | ended ended=b"},
		}},
		{"a flexible one starts those that it triggers in the same decision", []happening{
			{0, window("a", 10, 60, 30), "a | scheduled scheduled=a"},
			{0, triggered("b", "a", 10, 60, 0), "a b | scheduled scheduled=b"},
			{20, worse, "a+ b+ | started started=a,b"},
			{50, fold.Tick{}, " | ended ended=a,b"},
		}},
		{"cancelled by its start, in whole seconds, and by its text", []happening{
			{0, window("a", 10.5, 20, 0), "a | scheduled scheduled=a"},
			{0, window("b", 10.5, 20, 0), "a b | scheduled scheduled=b"},
			{0, window("c", 12, 20, 0), "a b c | scheduled scheduled=c"},
			{1, fold.CancelDowntimes{Start: started + 10_000, Text: "work b"}, "a c | cancelled cancelled=b"},
			{2, fold.CancelDowntimes{Start: started + 10_000}, "c | cancelled cancelled=a"},
			{3, fold.CancelDowntimes{Text: "work z"}, "c"},
			{4, fold.CancelDowntimes{All: true}, " | cancelled cancelled=c"},
			{5, fold.CancelDowntimes{All: true}, ""},
		}},
		{"an identity that is known is left alone", []happening{
			{0, window("a", 10, 20, 0), "a | scheduled scheduled=a"},
			{1, window("a", 15, 90, 0), "a"},
			{20, fold.Tick{}, " | ended unused=a"},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newStory(t)
			for i, st := range tt.steps {
				if got := w.at(st.at, st.do); got != st.want {
					t.Fatalf("step %d, %T at %v: %q, want %q", i, st.do, st.at, got, st.want)
				}
			}
		})
	}
}

func TestWhatADowntimeIsGiven(t *testing.T) {
	w := newStory(t)
	c := window("", 10, 20, 0)
	w.at(1, c)
	w.env.Downtime = 71
	c.Downtime.Entry, c.Downtime.Rule, c.Downtime.Started = started-5, "r1", 99
	w.at(2, c)
	all := w.s.Status.Extra.Downtimes
	if len(all) != 2 {
		t.Fatalf("%+v", all)
	}
	a, b := all[0], all[1]
	if a.ID != "d1.1" || b.ID != "d2.1" || a.Number != 70 || b.Number != 71 || a.Comment != 40 || a.Entry != started+1000 {
		t.Errorf("%+v and %+v", a, b)
	}
	if b.Entry != started-5 || b.Rule != "r1" || b.Started != 0 {
		t.Errorf("%+v", b)
	}
	w.at(3, fold.CancelDowntimes{Rule: "r1"})
	if got := w.list(); got != "d1.1" {
		t.Errorf("without those of a rule: %s", got)
	}
}

// What starts a downtime may belong to another object.
func TestTriggersOfOtherObjects(t *testing.T) {
	w := newStory(t)
	trigger := fold.Trigger{Known: true}
	w.env.Trigger = func(id string) fold.Trigger {
		if id != "far" {
			return fold.Trigger{}
		}
		return trigger
	}
	for _, st := range []struct {
		happening
		trigger fold.Trigger
	}{
		{happening{0, triggered("a", "far", 10, 60, 0), "a | scheduled scheduled=a"}, fold.Trigger{Known: true}},
		{happening{20, fold.Tick{}, "a"}, fold.Trigger{Known: true}},
		{happening{30, fold.Tick{}, "a+ | started started=a"}, fold.Trigger{Known: true, Started: started + 29_000}},
		{happening{31, triggered("b", "far", 10, 60, 0), "a+ b+ | scheduled started scheduled=b started=b"}, fold.Trigger{Known: true, Started: started + 29_000}},
		{happening{90, fold.Tick{}, "a+ b+"}, fold.Trigger{Known: true, Started: started + 29_000}},
		{happening{91, fold.Tick{}, " | ended ended=a,b"}, fold.Trigger{}},
	} {
		trigger = st.trigger
		if got := w.at(st.at, st.do); got != st.want {
			t.Fatalf("at %v: %q, want %q", st.at, got, st.want)
		}
	}
	trigger = fold.Trigger{Known: true, Started: started + 92_000}
	w.at(93, triggered("d", "far", 10, 160, 0))
	w.at(94, window("e", 10, 160, 0))
	if got := w.at(95, fold.CancelDowntimes{Trigger: "far"}); got != "e+ | cancelled cancelled=d" {
		t.Errorf("cancelled with its trigger: %q", got)
	}
	w.at(96, fold.CancelDowntimes{ID: "e"})
	trigger = fold.Trigger{Known: true}
	w.at(100, triggered("c", "far", 100, 160, 0))
	trigger = fold.Trigger{}
	if work, _ := fold.Due(w.env, w.s, started+101_000); work != fold.PassTime {
		t.Errorf("the trigger has gone, and what is due is %s", work)
	}
	if got := w.at(101, fold.Tick{}); got != " | cancelled cancelled=c" {
		t.Errorf("waiting for what has gone: %q", got)
	}
}

func TestDowntimesThatAreRefused(t *testing.T) {
	long := window("a", 10, 20, 0)
	long.Downtime.Text = strings.Repeat("x", 5000)
	mute := window("a", 10, 20, 0)
	mute.Downtime.Text = ""
	for name, tt := range map[string]struct {
		give fold.Command
		text string
	}{
		"one that ends before it starts":          {window("a", 20, 10, 0), "is not after its start"},
		"one that ends when it starts":            {window("a", 20, 20, 0), "is not after its start"},
		"one that is over":                        {window("a", -20, -10, 0), "is over since"},
		"one that is over now":                    {window("a", -20, 0, 0), "is over since"},
		"a flexible one of less than nothing":     {window("a", 10, 20, -1), "cannot last -1s"},
		"an unknown trigger":                      {triggered("a", "b", 10, 20, 0), `no downtime "b" that could start this one`},
		"itself as trigger":                       {triggered("a", "a", 10, 20, 0), `no downtime "a" that could start this one`},
		"one without a text":                      {mute, "needs a text"},
		"one with a text without end":             {long, "of 5000 bytes; write at most 4096"},
		"a name without end":                      {window(strings.Repeat("x", 5000), 10, 20, 0), "of 5000 bytes; write at most 4096"},
		"the cancelling of nothing in particular": {fold.CancelDowntimes{Author: "ann"}, "nothing says which downtimes"},
		"the cancelling of an unknown identity":   {fold.CancelDowntimes{ID: "z"}, `has no downtime "z"`},
		"the cancelling of an unknown number":     {fold.CancelDowntimes{Number: 9}, `has no downtime number 9`},
	} {
		t.Run(name, func(t *testing.T) {
			env, s := probed()
			if _, err := fold.Decide(env, s, tt.give, started); err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%v, want %q", err, tt.text)
			}
		})
	}
}

func TestWhatAnObjectHoldsIsBounded(t *testing.T) {
	env, s := probed()
	full := &event.Extra{Downtimes: slices.Repeat([]event.Downtime{{ID: "x", Start: started + 1, End: started + 2}}, 1000)}
	s.Status.Extra = full
	_, err := fold.Decide(env, s, window("a", 10, 20, 0), started)
	if err == nil || !strings.Contains(err.Error(), "1000 downtimes already; remove some") {
		t.Errorf("one more downtime: %v", err)
	}
	s.Status.Extra = &event.Extra{Comments: slices.Repeat([]event.Comment{{Text: strings.Repeat("x", 4000)}}, 200)}
	if _, err = fold.Decide(env, s, fold.AddComment{Text: "x"}, started); err == nil || !strings.Contains(err.Error(), "200 comments") {
		t.Errorf("one more comment: %v", err)
	}
}

// An event of a downtime says who planned it and why, as people read it.
func TestEventsOfDowntimesSayWhy(t *testing.T) {
	env, s := probed()
	d := must(t, env, s, window("a", 10, 20, 0), started)
	if d.Log.Author != "ann" || d.Log.Text != "work a" {
		t.Errorf("scheduled by %q for %q", d.Log.Author, d.Log.Text)
	}
	d = must(t, env, s, fold.Tick{}, started+10_000)
	if d.Log.Author != "ann" || d.Log.Text != "work a" || d.Log.Transition || d.HasResult {
		t.Errorf("started by %q for %q: %+v", d.Log.Author, d.Log.Text, d)
	}
	d = must(t, env, s, fold.CancelDowntimes{ID: "a", Author: "bob"}, started+11_000)
	if d.Log.Author != "bob" || d.Log.Text != "work a" {
		t.Errorf("cancelled by %q, %q", d.Log.Author, d.Log.Text)
	}
}
