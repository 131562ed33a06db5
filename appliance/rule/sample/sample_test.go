package sample_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/sample"
)

// world returns a host with labels and a service on it.
func world() (host, service *object.Object) {
	host = &object.Object{ID: "web 01.example", Name: "web 01.example", Rule: &object.Rule{}, Labels: map[string]string{"env": "prod", "0day": "x"}, Zone: "dmz"}
	service = &object.Object{ID: "web 01.example!GET /", Name: "GET /", Host: host, Rule: &object.Rule{Labels: map[string]string{"env": "test"}}, Zone: "dmz"}
	return host, service
}

func result(o *object.Object, perfdata string) *event.Event {
	return &event.Event{Kind: event.CheckResult, Object: o.ID, Time: 2000, Measure: &event.Measure{LastCheck: 1000, Perfdata: perfdata}}
}

// show writes a sample in one line.
func show(s sample.Sample) string {
	var b strings.Builder
	b.WriteString(s.Name)
	if len(s.Labels) > 0 {
		var parts []string
		for _, l := range s.Labels {
			parts = append(parts, fmt.Sprintf("%s=%q", l.Name, l.Value))
		}
		b.WriteString("{" + strings.Join(parts, ",") + "}")
	}
	fmt.Fprintf(&b, " %g @%d", s.Value, s.Time)
	if s.Unit != "" {
		b.WriteString(" " + s.Unit)
	}
	if s.Counter {
		b.WriteString(" counter")
	}
	return b.String()
}

func mapped(t *testing.T, m sample.Mapping, e *event.Event, o *object.Object) (lines, left []string) {
	t.Helper()
	r, err := sample.NewMapper(m)
	if err != nil {
		t.Fatal(err)
	}
	samples, not := r.Map(nil, nil, e, o)
	for _, s := range samples {
		lines = append(lines, show(s))
	}
	for _, l := range not {
		left = append(left, l.Reason+" "+l.Text)
	}
	return lines, left
}

func TestMapping(t *testing.T) {
	host, service := world()
	labelled := map[string]string{"host": "{host}", "service": "{service}", "metric": "{metric}", "unit": "{unit}"}
	for _, c := range []struct {
		name     string
		m        sample.Mapping
		of       *object.Object
		perfdata string
		want     []string
		left     []string
	}{
		{
			"a path for Graphite has nodes without dots and blanks",
			sample.Mapping{Name: "jaque.{host}.{check}.{metric}", Charset: sample.Path},
			service, "'/var log.x'=3",
			[]string{"jaque.web_01_example.GET__._var_log_x 3 @1000"},
			nil,
		},
		{
			"a host's own check is called host where a name is needed",
			sample.Mapping{Name: "{check}.{service}.{metric}", Charset: sample.Path},
			host, "rta=1",
			[]string{"host._.rta 1 @1000"},
			nil,
		},
		{
			"labels tell series apart, and one without a value is none",
			sample.Mapping{Name: "jaque_metric", Labels: labelled},
			host, "rta=1ms",
			[]string{`jaque_metric{host="web 01.example",metric="rta",unit="ms"} 1 @1000 ms`},
			nil,
		},
		{
			"labels of the object are copied, a service's in front of its host's",
			sample.Mapping{Name: "m_{metric}", Copy: []string{"env", "0day", "none"}, Charset: sample.Prometheus},
			service, "a-b=1",
			[]string{`m_a_b{_0day="x",env="test"} 1 @1000`},
			nil,
		},
		{
			"labels may be templates and fixed texts",
			sample.Mapping{Name: "{metric}", Labels: map[string]string{"dc": "fra1", "where": "{zone}/{label.env}", "empty": "{label.no}"}},
			service, "a=1",
			[]string{`a{dc="fra1",where="dmz/test"} 1 @1000`},
			nil,
		},
		{
			"units are scaled to base units, and unknown ones stay",
			sample.Mapping{Name: "{metric}", Scale: true},
			host, "a=250ms b=2KB c=1Mb d=50% e=3c f=7quux g=5us h=4",
			[]string{
				"a 0.25 @1000 seconds", "b 2048 @1000 bytes", "c 1e+06 @1000 bits", "d 50 @1000 percent", "e 3 @1000 counter", "f 7 @1000 quux",
				"g 5e-06 @1000 seconds", "h 4 @1000",
			},
			nil,
		},
		{
			"units are left alone",
			sample.Mapping{Name: "{metric}"},
			host, "a=250ms e=3c",
			[]string{"a 250 @1000 ms", "e 3 @1000 counter"},
			nil,
		},
		{
			"thresholds and limits are series of their own, scaled like the value",
			sample.Mapping{Name: "{metric}", Thresholds: true, Scale: true},
			host, "t=5ms;10;10:20;0;100 c=1c;2",
			[]string{
				"t 0.005 @1000 seconds", "t_warn 0.01 @1000 seconds", "t_crit 0.02 @1000 seconds", "t_crit_low 0.01 @1000 seconds",
				"t_min 0 @1000 seconds", "t_max 0.1 @1000 seconds", "c 1 @1000 counter", "c_warn 2 @1000",
			},
			nil,
		},
		{
			"bounds without end are no series",
			sample.Mapping{Name: "{metric}", Thresholds: true},
			host, "t=5;10:;~:20",
			[]string{"t 5 @1000", "t_warn_low 10 @1000", "t_crit 20 @1000"},
			nil,
		},
		{
			"what is no number is left out with its reason",
			sample.Mapping{Name: "{metric}", Scale: true},
			host, "a=U b=1,5 c=2 c=3 d=1e300EB x",
			[]string{"c 2 @1000"},
			[]string{"unreadable b=1,5", "unreadable x", "unknown a", "repeated c", "unreadable d"},
		},
		{
			"names that become one in the target are told apart no more",
			sample.Mapping{Name: "{metric}", Charset: sample.Prometheus},
			host, "a-b=1 a_b=2 '//'=3",
			[]string{"a_b 1 @1000"},
			[]string{"repeated a_b", "nameless //"},
		},
		{
			"a name for Prometheus does not begin with a digit",
			sample.Mapping{Name: "{metric}", Charset: sample.Prometheus},
			host, "5min=1",
			[]string{"_5min 1 @1000"},
			nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, left := mapped(t, c.m, result(c.of, c.perfdata), c.of)
			if !slices.Equal(got, c.want) || !slices.Equal(left, c.left) {
				t.Errorf("got  %q %q\nwant %q %q", got, left, c.want, c.left)
			}
		})
	}
}

func TestWhichEventsMeasure(t *testing.T) {
	host, _ := world()
	m := sample.Mapping{Name: "{host} {zone} {label.env} {metric}"}
	e := result(host, "a=1")
	if got, _ := mapped(t, m, e, nil); !slices.Equal(got, []string{"web 01.example   a 1 @1000"}) {
		t.Errorf("an object that has gone from the config gives %q", got)
	}
	e.Measure.LastCheck = 0
	if got, _ := mapped(t, m, e, host); !slices.Equal(got, []string{"web 01.example dmz prod a 1 @2000"}) {
		t.Errorf("without a time of the check: %q", got)
	}
	e.Kind = event.AckSet
	if got, left := mapped(t, m, e, host); got != nil || left != nil {
		t.Errorf("a decision that only repeats what was measured gives %q %q", got, left)
	}
}

func TestWhatIsWrongWithAMapping(t *testing.T) {
	for _, c := range []struct {
		m    sample.Mapping
		says string
	}{
		{sample.Mapping{}, "name: it is empty"},
		{sample.Mapping{Name: "{hots}"}, "did you mean {host}?"},
		{sample.Mapping{Name: "{host"}, "is not closed"},
		{sample.Mapping{Name: "host}"}, "closes nothing"},
		{sample.Mapping{Name: "jaque.{metric}", Charset: sample.Prometheus}, "does not take"},
		{sample.Mapping{Name: "jaque {metric}", Charset: sample.Path}, "does not take"},
		{sample.Mapping{Name: "{label.}"}, "there is no {label.}"},
		{sample.Mapping{Name: "a", Labels: map[string]string{"x": "{nothing}"}}, "label x: template"},
		{sample.Mapping{Name: "a", Labels: map[string]string{"a-b": "1", "a_b": "2"}, Charset: sample.Prometheus}, "write another name"},
	} {
		if _, err := sample.NewMapper(c.m); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q in it", c.m, err, c.says)
		}
	}
}

// TestEverySampleIsOneThatTheTargetTakes is the law that encoders rely on.
func TestEverySampleIsOneThatTheTargetTakes(t *testing.T) {
	host, service := world()
	rapid.Check(t, func(t *rapid.T) {
		charset := rapid.SampledFrom([]sample.Charset{sample.Text, sample.Path, sample.Prometheus, sample.OpenTSDB}).Draw(t, "charset")
		o := rapid.SampledFrom([]*object.Object{host, service}).Draw(t, "object")
		name := "a.{host}.{metric}.{unit}"
		if charset == sample.Prometheus {
			name = "a:{host}{metric}{unit}"
		}
		r, err := sample.NewMapper(sample.Mapping{
			Name: name, Labels: map[string]string{"metric": "{metric}", "service": "{service}"},
			Scale: rapid.Bool().Draw(t, "scale"), Thresholds: rapid.Bool().Draw(t, "thresholds"), Charset: charset,
		})
		if err != nil {
			t.Fatal(err)
		}
		var words []string
		for range rapid.IntRange(0, 80).Draw(t, "values") {
			label := strings.ReplaceAll(rapid.StringOfN(rapid.SampledFrom([]rune("ab.;= ~\\\x01é€'/-")), 1, 4, -1).Draw(t, "label"), "'", "''")
			words = append(words, fmt.Sprintf("'%s'=%d;1:5;~:7;0;9", label, rapid.Int().Draw(t, "value")))
		}
		samples, left := r.Map(nil, nil, result(o, strings.Join(words, " ")), o)
		if len(samples)+len(left) < len(words) {
			t.Fatalf("%d values, %d samples and %d left out", len(words), len(samples), len(left))
		}
		seen := map[string]bool{}
		for _, s := range samples {
			if math.IsNaN(s.Value) || math.IsInf(s.Value, 0) || s.Name == "" || !utf8.ValidString(s.Name) {
				t.Fatalf("%+v", s)
			}
			if !slices.IsSortedFunc(s.Labels, func(a, b sample.Label) int { return strings.Compare(a.Name, b.Name) }) {
				t.Fatalf("labels are not sorted: %+v", s)
			}
			for _, l := range s.Labels {
				if l.Value == "" || !utf8.ValidString(l.Value) || strings.ContainsAny(l.Value, "\x01\n") || charset == sample.Path && strings.ContainsAny(l.Value, "; ") {
					t.Fatalf("label %+v", l)
				}
			}
			if charset != sample.Text && strings.ContainsAny(s.Name, " ;\\é\x01") || charset == sample.Path && strings.Contains(s.Name, "..") {
				t.Fatalf("name %q", s.Name)
			}
			if line := s.Name + fmt.Sprint(s.Labels); seen[line] {
				t.Fatalf("twice: %s", line)
			} else {
				seen[line] = true
			}
		}
	})
}

func FuzzParseTemplate(f *testing.F) {
	for _, text := range []string{"jaque.{host}.{check}.{metric}", "{label.env}", "{", "}", "{}", "a{b}c", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := sample.ParseTemplate(text)
		if err == nil && strings.Count(text, "{") != strings.Count(text, "}") {
			t.Errorf("%q is a template", text)
		}
	})
}
