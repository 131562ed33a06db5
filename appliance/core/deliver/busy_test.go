package deliver_test

import (
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/object"
)

// What another process may be sending is left alone, with all that must not go before
// it; what that process cannot have begun with goes its way.
func TestWhatAnotherMayBeSendingIsLeftAlone(t *testing.T) {
	byHost := object.Grouping{By: object.GroupHost, Wait: 10 * time.Second, Interval: time.Minute}
	for _, c := range []struct {
		name  string
		taken []ask // by this process 20 s after the start
		later []ask
		then  func(p *deliver.Planner, taken []*deliver.Pending)
		want  []string
	}{
		{
			name: "what was due waits", taken: []ask{{id: "a!x", second: 5}},
			want: []string{"1:00 ada/email repeat []: a!x"},
		},
		{
			name: "what was not due goes out at its time", taken: []ask{{id: "a!x", second: 15, group: byHost}},
			want: []string{"0:25 ada/email [host=a]: a!x"},
		},
		{
			name: "a group waits as a whole, also what was asked for later", taken: []ask{{id: "a!x", second: 5, group: byHost}, {id: "a!y", second: 14, group: byHost}},
			later: []ask{{id: "a!z", second: 21, group: byHost}},
			want:  []string{"1:00 ada/email repeat [host=a]: a!x, a!y, a!z"},
		},
		{
			name: "the recovery does not go before the problem", taken: []ask{{id: "a!x", second: 5}},
			later: []ask{{id: "a!x", second: 21, kind: "RECOVERY"}, {id: "b!x", second: 22}},
			want:  []string{"0:22 ada/email []: b!x", "1:00 ada/email repeat []: a!x", "1:00 ada/email []: a!x RECOVERY"},
		},
		{
			name: "its outcome ends the wait of the others", taken: []ask{{id: "a!x", second: 5}},
			later: []ask{{id: "a!x", second: 21, kind: "RECOVERY"}},
			then:  func(p *deliver.Planner, taken []*deliver.Pending) { p.End(taken[0].ID) },
			want:  []string{"0:21 ada/email []: a!x RECOVERY"},
		},
		{
			name: "an answer that a person has given waits as well", taken: []ask{{id: "a!x", second: 5, kind: "ACKNOWLEDGEMENT", group: byHost}},
			want: []string{"1:00 ada/email repeat [host=a]: a!x ACKNOWLEDGEMENT"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, w := &log{}, &world{}
			p := deliver.NewPlanner(deliver.Limits{})
			var taken []*deliver.Pending
			for _, a := range c.taken {
				for _, r := range l.ask(a) {
					p.AddBusy(r, at(60))
					p.AddBusy(r, at(90)) // again is nothing
					taken = append(taken, r)
				}
			}
			if out, _ := run(p, w, 20, 20); len(out) > 0 {
				t.Fatalf("sent at once: %q", out)
			}
			add(l, p, false, c.later...)
			if c.then != nil {
				c.then(p, taken)
			}
			out, _ := run(p, w, 20, 7200)
			wantOut(t, out, c.want...)
		})
	}
}
