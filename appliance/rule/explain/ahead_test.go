package explain_test

import (
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/rule/explain"
)

func TestOftenRepeatedNotificationsAreForetoldToTheTimeAsked(t *testing.T) {
	for every, cut := range map[time.Duration]bool{3 * time.Minute: true, time.Hour: false} {
		w := world(failed())
		w.Set.Get("web01!http").Notify.Interval = every
		a, err := explain.Ask(explain.Question{Object: "web01!http"}, w)
		if err != nil {
			t.Fatal(err)
		}
		last, caveat := a.Ahead[len(a.Ahead)-1], strings.Contains(strings.Join(a.Caveats, "\n"), "what follows may be different")
		if caveat != cut || last.More == cut {
			t.Errorf("every %s: says that it was cut off %v, that it goes on %v", every, caveat, last.More)
		}
		q := explain.Question{Object: "web01!http", At: noon + 20*60*minute + minute/2}
		b, err := explain.Ask(q, w)
		if err != nil {
			t.Fatal(err)
		}
		if want := int32(20*time.Hour/every) - 2; b.Decision.Number < want || strings.Contains(strings.Join(b.Caveats, "\n"), "the answer may be different") {
			t.Errorf("every %s: number %d in 20 hours, want about %d; %q", every, b.Decision.Number, want, b.Caveats)
		}
	}
}
