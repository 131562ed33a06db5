package roles

import (
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"jaque.sh/jaque/appliance/core/event"
)

// logLines are the lines of a log since they were last taken.
type logLines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logLines) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := strings.TrimSpace(l.text.String())
	l.text.Reset()
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// That engines work by different configs is told once for each change, and not while all
// are reloaded.
func TestTheLogTellsOnceThatTheConfigsDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out logLines
		x := &engines{}
		w := &configWarner{engines: x, log: slog.New(slog.NewTextHandler(&out, nil))}
		go w.run(t.Context())
		seq := uint64(0)
		say := func(make func(seq uint64) event.Event) {
			seq++
			x.take(make(seq))
		}
		join := func(id string, members ...string) {
			say(func(seq uint64) event.Event { return joined(seq, id, "local", members...) })
		}
		load := func(id, generation string) {
			say(func(seq uint64) event.Event { return loaded(seq, id, generation) })
		}
		want := func(when string, configs float64, lines ...string) {
			t.Helper()
			synctest.Wait()
			if got := testutil.ToFloat64(configsMetric(x)); got != configs {
				t.Errorf("%s: jaque_engine_configs = %v, want %v", when, got, configs)
			}
			got := out.take()
			if len(got) != len(lines) {
				t.Fatalf("%s: the log says %q, want %q", when, got, lines)
			}
			for i, line := range lines {
				for _, part := range strings.Split(line, "…") {
					if !strings.Contains(got[i], part) {
						t.Errorf("%s: the log says %q, want %q", when, got[i], part)
					}
				}
			}
		}
		join("a")
		load("a", "1111222233")
		join("b", "a")
		load("b", "1111222233")
		time.Sleep(time.Hour)
		want("the same", 1)
		load("a", "aaaabbbbcc")
		want("a is reloaded", 2)
		time.Sleep(reloadGrace / 2)
		load("b", "aaaabbbbcc")
		time.Sleep(time.Hour)
		want("b was reloaded soon after", 1)
		load("a", "ccccdddd")
		at := time.Now().UTC().Format(time.RFC3339)
		time.Sleep(reloadGrace)
		want("b is not reloaded", 2, "level=WARN…different configs…generation aaaabbbb, read …, at b; generation ccccdddd, read "+at+", at a")
		time.Sleep(time.Hour)
		join("c", "a", "b")
		load("c", "ccccdddd")
		want("c comes with the one of a", 2)
		time.Sleep(time.Hour)
		want("that is a change", 2, "at b; generation ccccdddd…at a, c")
		load("b", "ccccdddd")
		want("b is reloaded at last", 1, "level=INFO…the same config again…generation=ccccdddd engines=\"a, b, c\"")
		time.Sleep(time.Hour)
		want("and nothing more", 1)
	})
}

// A process that does not read its config again says so when the engines do, once a reload
// of all has had its time.
func TestAProcessThatDoesNotReloadSaysThatItIsOutdated(t *testing.T) {
	x := &engines{}
	x.take(joined(1, "a", "local"), loaded(2, "a", "1111222233"))
	now := time.Now()
	for _, c := range []struct {
		mine  string
		after time.Duration
		want  string
	}{
		{"1111222233", time.Hour, ""},
		{"aaaabbbbcc", 0, ""},
		{"aaaabbbbcc", time.Hour, "This process was started with generation aaaabbbb of the config, and the engines work by 11112222, read at "},
	} {
		got := strings.Join(x.outdates(c.mine, now.Add(c.after)), "")
		if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s after %s: %q, want %q", c.mine, c.after, got, c.want)
		}
	}
	x.take(joined(3, "b", "local", "a"), loaded(4, "b", "aaaabbbbcc"))
	if got := x.outdates("aaaabbbbcc", now.Add(time.Hour)); got != nil {
		t.Errorf("one engine has the same config: %q", got)
	}
}
