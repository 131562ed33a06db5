package tla

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// clock is a module of two clocks; constants choose what is wrong with it.
const clock = `---- MODULE Clock ----
EXTENDS Naturals
CONSTANTS Hours, Names
VARIABLES a, b
vars == <<a, b>>
Init == a = 0 /\ b \in {0, 1}
Tick(x) == /\ x \in Names
           /\ x = "a"
           /\ a' = (a + 1) % Hours
           /\ UNCHANGED b
Tock == /\ "b" \in Names
        /\ b' = 1 - b
        /\ UNCHANGED <<a>>
Next == (\E n \in {"a", "b"} : Tick(n)) \/ Tock
Forgets == a' = 1
Spec == Init /\ [][Next]_vars
Lossy == Init /\ [][Forgets]_vars
Fair == Spec /\ WF_vars(\E n \in Names : Tick(n)) /\ WF_vars(Tock)
FairA == Spec /\ WF_vars(Tick("a"))
Early == a < 3
Never == a + b # 4
Again == []<>(a = 0)
Both == \A h \in 0..2 : []<>(a = h) /\ []<>(b = 1)
Rests == <>[](a = 0)
If == []<>(b = 1) => []<>(a = 2)
====
`

func check(t *testing.T, conf string) (Result, error) {
	t.Helper()
	return Check(t.Context(), "Clock.tla", clock, "x.cfg", conf)
}

func conf(spec, what string, hours int, names string) string {
	return fmt.Sprintf("\\* a clock\nSPECIFICATION %s\n%s\nCHECK_DEADLOCK FALSE\nCONSTANTS\n    Hours = %d\n    Names = %s\n", spec, what, hours, names)
}

func TestStatesAreCounted(t *testing.T) {
	res, err := check(t, conf("Spec", "INVARIANT Never", 3, `{"a", "b"}`))
	if err != nil || res.Violated != "" || res.Distinct != 6 || res.Depth != 3 {
		t.Fatalf("got %+v, %v; want 6 states of depth 3", res, err)
	}
}

func TestAShortestWayIsFound(t *testing.T) {
	res, err := check(t, conf("Spec", "INVARIANT Never\nINVARIANT Early", 12, `{"a", "b"}`))
	if err != nil || res.Violated != "Never" && res.Violated != "Early" || res.Steps != 3 || len(res.Trace) != 4 {
		t.Fatalf("got %+v, %v; want 3 steps", res, err)
	}
	if first, last := res.Trace[0], res.Trace[3]; first.Action != "" || len(first.Vars) != 2 || last.Action != "Tick" || last.Vars[0] != "a = 3" {
		t.Fatalf("got the trace %+v", res.Trace)
	}
}

func TestFairPathsDecideProperties(t *testing.T) {
	for _, c := range []struct {
		name, spec, property, names string
		holds                       bool
	}{
		{"without fairness it may stand still", "Spec", "Again", `{"a", "b"}`, false},
		{"fair, it comes round", "Fair", "Again", `{"a", "b"}`, true},
		{"fair, each hour comes round", "Fair", "Both", `{"a", "b"}`, true},
		{"one fair clock moves, the other need not", "FairA", "Again", `{"a", "b"}`, true},
		{"the other stands still", "FairA", "Both", `{"a", "b"}`, false},
		{"a clock that goes round does not rest", "Fair", "Rests", `{"a", "b"}`, false},
		{"a clock that cannot move rests, and fairness asks nothing of it", "Fair", "Rests", `{"b"}`, true},
		{"a premise that holds is no way out", "Fair", "If", `{"b"}`, false},
		{"a conclusion that holds", "Fair", "If", `{"a", "b"}`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := check(t, conf(c.spec, "PROPERTY "+c.property, 3, c.names))
			if err != nil || (res.Violated == "") != c.holds {
				t.Fatalf("got %+v, %v; want holds = %v", res, err, c.holds)
			}
		})
	}
}

func TestWrongConfigurationsAreSaid(t *testing.T) {
	good := conf("Spec", "INVARIANT Never", 3, `{"a"}`)
	for _, c := range []struct{ name, conf, want string }{
		{"a constant without a value", strings.Replace(good, "    Hours = 3\n", "", 1), "constant Hours has no value"},
		{"a constant that is none", good + "    Minutes = 60\n", "no constant Minutes"},
		{"a value that is none", good + "    Hours = three\n", `"three" is no number`},
		{"no value", good + "    Hours\n", "write one constant a line"},
		{"no specification", "INVARIANT Never\n", "write SPECIFICATION"},
		{"an unknown specification", strings.Replace(good, "Spec\n", "Speck\n", 1), "Speck is not defined"},
		{"an unknown invariant", strings.Replace(good, "Never", "Neva", 1), "Neva is not defined"},
		{"deadlock is not looked for", strings.Replace(good, "FALSE", "TRUE", 1), "CHECK_DEADLOCK is FALSE here"},
		{"a word before any section", "Spec\n", `"Spec" stands in no section`},
		{"a step that says too little", strings.Replace(good, "Spec\n", "Lossy\n", 1), "does not say what b becomes"},
		{"a property of another form", strings.Replace(good, "INVARIANT Never", "PROPERTY Early", 1), "a property is built of"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if res, err := check(t, c.conf); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %+v, %v; want %q", res, err, c.want)
			}
		})
	}
}

func TestConstantsAreRead(t *testing.T) {
	for text, want := range map[string]string{
		"12": "12", "TRUE": "TRUE", `"log"`: `"log"`, "{}": "{}", "{2, 1}": "{1, 2}", `{"a", FALSE}`: `{FALSE, "a"}`,
	} {
		if v, err := constantValue(text); err != nil || show(v) != want {
			t.Errorf("%s became %v, %v", text, v, err)
		}
	}
}

func TestASearchCanBeEnded(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := Check(ctx, "Clock.tla", clock, "x.cfg", conf("Spec", "INVARIANT Never", 3, `{"a"}`)); !errors.Is(err, why) {
		t.Fatalf("got %v", err)
	}
}
