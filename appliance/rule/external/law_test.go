package external_test

import (
	"reflect"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/external"
	"pgregory.net/rapid"
)

// words are what may stand for an argument, the right one first; constant.
var words = map[string][]string{
	"host": {"web", "gw", "192.0.2.3", "ghost", ""}, "service": {"http", "ping", "gone", ""}, "hostgroup": {"edge", "none", "front", "x"},
	"servicegroup": {"front", "edge", "x"}, "contact": {"ada", "zed"}, "contactgroup": {"team", "x"}, "period": {"always", "x"},
	"time": {"1779963000", "1779963000.5", "1779963000123", "0", "-1", "soon"}, "flag": {"1", "0", "-1", "x"}, "sticky": {"2", "1", "x"},
	"code": {"0", "1", "2", "3", "7", "-1", "x"}, "number": {"0", "1", "x"}, "id": {"1", "99", "0", "x"}, "duration": {"600", "0", "-1", "x"},
	"minutes": {"5", "0", "0.5", "x"}, "attempts": {"5", "0", "x"}, "options": {"1", "7", "8", "x"}, "value": {"1", "0x10", "a;b", ""},
	"variable": {"PORT", "_os", "rank", "x"}, "author": {"ada", ""}, "comment": {"a;b", "x\x01y", ""}, "output": {"o|a=1", `a\nb`, ""},
	"file": {"/tmp/x", ""}, "command": {"c!a"},
}

// arguments are the names of a form's arguments.
func arguments(form string) []string {
	return strings.Split(strings.NewReplacer("[", "", "]", "").Replace(form), ";")[1:]
}

// line draws a line of a row, with right and wrong arguments.
func line(t *rapid.T) string {
	r := rapid.SampledFrom(external.Commands()).Draw(t, "row")
	all := []string{r.Name}
	for _, name := range arguments(r.Form) {
		if rapid.IntRange(0, 9).Draw(t, "right") > 0 {
			all = append(all, words[name][0])
			continue
		}
		all = append(all, rapid.SampledFrom(words[name]).Draw(t, name))
	}
	text := strings.Join(all[:rapid.IntRange(max(1, len(all)-2), len(all)).Draw(t, "arguments")], ";")
	return strings.Replace(text, "1779963000;1779963000;", "1779963000;1779963600;", 1)
}

// prepared is a site with a comment and downtimes, for what removes them.
func prepared(t rapid.TB) *world {
	w := site(t)
	for _, c := range []string{
		"ADD_HOST_COMMENT;web;1;ada;note", "SCHEDULE_AND_PROPAGATE_TRIGGERED_HOST_DOWNTIME;gw;1779962000;1779963600;1;0;0;ada;x",
		"PROCESS_SERVICE_CHECK_RESULT;web;http;2;bad", "PROCESS_HOST_CHECK_RESULT;sw;1;bad",
	} {
		if err := w.command(c); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// taken carries out a line and looks at what must hold for any.
func taken(t rapid.TB, w *world, line string) {
	c, err := external.Parse(line, w.now)
	if err != nil {
		return
	}
	before := w.picture()
	actions, err := external.Translate(w.view(), c)
	if err != nil && (actions != nil || c.Special.Kind != external.NotSpecial) {
		t.Fatalf("%q was refused with %+v and %+v: %v", line, actions, c.Special, err)
	}
	seen := map[object.ID]int{}
	for _, a := range actions {
		if (a.Command == nil) == (a.Program == nil) || a.Command != nil && w.set.Get(a.Object) == nil {
			t.Fatalf("%q means %+v", line, a)
		}
		if a.Command != nil {
			seen[a.Object]++
		}
	}
	if c.Special.Kind != external.NotSpecial && len(actions) > 0 {
		t.Fatalf("%q is special and means %+v", line, actions)
	}
	if err = w.command(line); err != nil && !reflect.DeepEqual(before, w.picture()) {
		t.Fatalf("%q was refused and changed something: %v", line, err)
	}
}

func TestALineIsTakenWholeOrNotAtAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := prepared(t)
		for range rapid.IntRange(1, 4).Draw(t, "lines") {
			taken(t, w, line(t))
		}
	})
}

func TestEveryCommandWithRightArgumentsIsAccepted(t *testing.T) {
	for _, r := range external.Commands() {
		if r.Unsupported != "" {
			continue
		}
		all := []string{r.Name}
		for _, name := range arguments(r.Form) {
			word := words[name][0]
			if name == "variable" {
				word = map[bool]string{true: "OS", false: "PORT"}[strings.Contains(r.Name, "HOST")]
				if strings.Contains(r.Name, "CONTACT") {
					word = "RANK"
				}
			}
			all = append(all, word)
		}
		text := strings.Join(all, ";")
		switch {
		case strings.Contains(r.Name, "DOWNTIME") && !strings.HasPrefix(r.Name, "DEL"):
			text = strings.Replace(text, "1779963000;1779963000;1;0", "1779963000;1779963600;1;0", 1)
		case r.Name == "DEL_SVC_DOWNTIME" || r.Name == "DEL_SVC_COMMENT":
			continue // in this site the numbers belong to hosts
		case strings.HasPrefix(r.Name, "DEL_DOWNTIME_BY"):
			text = strings.Split(text, ";")[0] + ";" + map[bool]string{true: "edge", false: "web"}[strings.Contains(r.Name, "GROUP")]
			if strings.Contains(r.Name, "START") {
				text = r.Name + ";1779962000"
			}
		}
		w := prepared(t)
		c, err := external.Parse(text, w.now)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if _, err := external.Translate(w.view(), c); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzTranslate(f *testing.F) {
	for _, r := range external.Commands() {
		all := []string{r.Name}
		for _, name := range arguments(r.Form) {
			all = append(all, words[name][0])
		}
		f.Add(strings.Join(all, ";"))
	}
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) > 4096 {
			return
		}
		taken(t, prepared(t), line)
	})
}
