package target

import (
	"crypto/x509"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/rule/sample"
	"jaque.sh/jaque/appliance/sink"
)

// The inputs of a sink in the config.
const (
	Metrics = "metrics"
	Events  = "events"
)

// Setup is one sink as the config declares it, and what the process adds.
type Setup struct {
	Kind     string            // "influx", "file", …: see Kinds
	Input    string            // Metrics or Events
	Settings map[string]string // secrets are revealed; they come into no error

	Folder   string         // in which relative paths of files lie; "" = the present one
	Roots    *x509.CertPool // of TLS; nil = those of the system
	Hostname string         // of this machine
	Version  string         // of jaque
}

// Made is what a sink needs of its declaration; zero values are the defaults of
// sink.Options, whose fields these are.
type Made struct {
	Target       sink.Target
	Mapping      *sample.Mapping // nil for events
	Items        int
	Wait         time.Duration
	Timeout      time.Duration
	Beginning    bool
	Measurements bool
}

// Fill puts what was declared into the options of a sink.
func (m *Made) Fill(o *sink.Options) {
	o.Target, o.Mapping = m.Target, m.Mapping
	o.Items, o.Wait, o.Timeout = m.Items, m.Wait, m.Timeout
	o.Beginning, o.Measurements = m.Beginning, m.Measurements
}

// maker makes one kind of target from its own settings.
type maker struct {
	kind    string
	inputs  []string
	mapping sample.Mapping // its defaults
	make    func(u *Setup, s *settings) (sink.Target, error)
}

// The labels that a series has where labels tell series apart.
var plainLabels = map[string]string{"host": "{host}", "service": "{service}", "metric": "{metric}", "unit": "{unit}"}

// makers returns every kind of target there is.
func makers() []maker {
	labelled := func(c sample.Charset) sample.Mapping {
		return sample.Mapping{Name: "jaque_metric", Labels: plainLabels, Charset: c}
	}
	metrics, events, both := []string{Metrics}, []string{Events}, []string{Metrics, Events}
	return []maker{
		{"influx", metrics, labelled(sample.Text), newInflux},
		{"graphite", metrics, sample.Mapping{Name: "jaque.{host}.{check}.{metric}", Charset: sample.Path}, newGraphite},
		{"remote_write", metrics, labelled(sample.Prometheus), newRemoteWrite},
		{"opentsdb", metrics, labelled(sample.OpenTSDB), newOpenTSDB},
		{"elastic", events, sample.Mapping{}, newElastic},
		{"syslog", events, sample.Mapping{}, newSyslog},
		{"webhook", both, labelled(sample.Text), newWebhook},
		{"nats", both, labelled(sample.Text), newNATS},
		{"file", both, labelled(sample.Text), newFile},
	}
}

// Kinds returns the names of all kinds of target.
func Kinds() []string {
	var all []string
	for _, m := range makers() {
		all = append(all, m.kind)
	}
	return all
}

// New makes the target of a sink. Nothing is connected or opened yet. Its error is
// of type Mistakes and names every setting that is wrong.
func New(u Setup) (*Made, error) {
	all := makers()
	at := slices.IndexFunc(all, func(m maker) bool { return m.kind == u.Kind })
	if at < 0 {
		return nil, Mistakes{{Text: fmt.Sprintf("there is no target %q; write one of %s", u.Kind, strings.Join(Kinds(), ", "))}}
	}
	m := all[at]
	if !slices.Contains(m.inputs, u.Input) {
		return nil, Mistakes{{Text: fmt.Sprintf(`target %s takes input: "%s", not %q`, m.kind, strings.Join(m.inputs, `" or "`), u.Input)}}
	}
	s := &settings{all: u.Settings}
	made := &Made{Items: s.whole("items", defaultItems(m.kind), 1, 100_000), Wait: s.length("wait"), Timeout: s.length("timeout")}
	made.Beginning = s.oneOf("start", "now", "beginning") == "beginning"
	if u.Input == Metrics {
		made.Mapping = s.mapping(m.mapping)
	} else {
		made.Measurements = s.flag("measurements", false)
	}
	target, err := m.make(&u, s)
	if err != nil {
		s.bad("", "%w", err)
	}
	if err := s.done(); err != nil {
		return nil, err
	}
	made.Target = target
	return made, nil
}

// defaultItems is how much goes into a batch: what receivers recommend.
func defaultItems(kind string) int {
	if kind == "webhook" || kind == "nats" || kind == "syslog" {
		return 200
	}
	return 2000
}

// mapping reads how perfdata becomes samples, over the defaults of the target.
func (s *settings) mapping(m sample.Mapping) *sample.Mapping {
	m.Name = s.text("name", m.Name)
	m.Scale, m.Thresholds = s.flag("scale", true), s.flag("thresholds", false)
	m.Copy = s.list("labels", "")
	own := map[string]string{}
	for name, template := range m.Labels {
		own[name] = template
	}
	for name, template := range s.group("label") {
		own[name] = template // "" = no such label
	}
	m.Labels = own
	if _, err := sample.NewMapper(m); err != nil {
		s.wrongMapping(err.Error(), own)
	}
	return &m
}

// wrongMapping puts what is wrong with a mapping to the setting it came from.
func (s *settings) wrongMapping(text string, labels map[string]string) {
	places := map[string]string{"name: ": "name"}
	for name := range labels {
		places["label "+name+": "] = "label." + name
	}
	for begin, setting := range places {
		if rest, ok := strings.CutPrefix(text, begin); ok {
			s.bad(setting, "%s", rest)
			return
		}
	}
	s.bad("", "%s", text)
}

// file returns a path of the config as it is opened.
func (u *Setup) file(path string) string {
	if u.Folder == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(u.Folder, path)
}
