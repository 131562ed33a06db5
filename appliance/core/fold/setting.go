package fold

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Nagios' bits of modified attributes, as far as operators can modify something.
const (
	modNotifications uint32 = 1 << iota
	modActive
	modPassive
	modEventHandler
	modFlapDetection
	_ // failure prediction, which Nagios has no more
	modPerfdata
	modObsess
	_ // the command of the event handler
	_ // the command of the check
	modInterval
	modRetry
	modAttempts
	_ // freshness
	modCheckPeriod
	modVar
	modNotePeriod
	modHandlerPeriod
)

// The bounds of what operators may set.
const (
	maxInterval = 366 * 24 * time.Hour
	maxAttempts = 1_000_000
)

// modify sets a bit of modified attributes. It stays when what was modified is
// set back, as in Nagios.
func (d *decider) modify(bit uint32) {
	if x := d.next.Extra; x != nil && x.Modified&bit == bit {
		return
	}
	d.extra().Modified |= bit
}

// enter notes what an operator set against the config, by whom and when; what is as
// configured again has no entry. Who set a value first stays its author.
func (d *decider) enter(name, value string, differs bool, author string) {
	config, _ := configOf(d.env.Object, name)
	var all []event.Setting
	if d.next.Extra != nil {
		all = d.next.Extra.Settings
	}
	at, has := slices.BinarySearchFunc(all, name, func(s event.Setting, name string) int { return strings.Compare(s.Name, name) })
	entry := event.Setting{Name: name, Value: value, Config: config, Author: author, Time: d.now}
	switch {
	case has && !differs:
		d.extra().Settings = slices.Delete(slices.Clone(all), at, at+1)
	case has && (all[at].Value != value || all[at].Config != config):
		all = slices.Clone(all)
		all[at] = entry
		d.extra().Settings = all
	case !has && differs:
		d.extra().Settings = slices.Insert(slices.Clone(all), at, entry)
	}
}

// tune sets a setting of the object, or sets it back to what the config says.
func (d *decider) tune(c Tune) (Decision, error) {
	t, err := d.read(&c)
	if err != nil {
		return Decision{}, err
	}
	if err := d.short(t.name, c.Value, c.Author); err != nil {
		return Decision{}, err
	}
	_, has := d.base.Setting(t.name)
	if c.Value == "" && !has {
		return Decision{}, nil
	}
	idle := intervalOf(d.env, &d.base) <= 0
	config, _ := configOf(d.env.Object, t.name)
	d.enter(t.name, t.value, c.Value != "" && t.value != config, c.Author)
	d.modify(t.bit)
	if d.next.Extra == d.base.Extra {
		return Decision{}, nil
	}
	m := d.sameMeasure()
	switch t.name {
	case event.SettingAttempts:
		d.limitAttempts()
	case event.SettingInterval, event.SettingRetry, event.SettingCheckPeriod:
		if idle && intervalOf(d.env, &d.next) > 0 {
			d.checkSoon(c.Spread)
		}
		if m.NextCheck != 0 || d.next.Extra.CheckAt != 0 {
			m = d.plan()
		}
	}
	d.note("setting", t.name)
	d.note("to", c.Value)
	return d.saidWith(event.SettingChanged, m, c.Author, ""), nil
}

// limitAttempts takes over a new limit. A hard problem that has used up its
// attempts stays at the last one; what is soft is judged by the next result.
func (d *decider) limitAttempts() {
	st := &d.next
	st.MaxAttempts = attemptsOf(d.env, st)
	if st.Type == object.Hard && st.State != object.OK && st.Attempt > 1 {
		st.Attempt = st.MaxAttempts
	}
}

// reading is a setting as it is kept.
type reading struct {
	name, value string
	bit         uint32
}

// read checks what an operator wants to set. An empty value is as configured.
func (d *decider) read(c *Tune) (t reading, err error) {
	t = reading{name: c.Name, value: c.Value}
	switch c.Name {
	case event.SettingInterval:
		t.bit = modInterval
		t.value, err = d.readDuration(c)
	case event.SettingRetry:
		t.bit = modRetry
		t.value, err = d.readDuration(c)
	case event.SettingAttempts:
		t.bit = modAttempts
		t.value, err = d.readAttempts(c)
	case event.SettingCheckPeriod:
		t.bit, err = modCheckPeriod, d.readPeriod(c)
	case event.SettingNotePeriod:
		t.bit, err = modNotePeriod, d.readPeriod(c)
	case event.SettingHandlerPeriod:
		t.bit, err = modHandlerPeriod, d.readPeriod(c)
	default:
		name, ok := strings.CutPrefix(c.Name, event.SettingVar)
		if !ok {
			return t, refuse(d.env, BadCommand, "no setting %q; use interval, retry, attempts, check_period, notification_period, event_handler_period or var.NAME", c.Name)
		}
		return d.readVar(name, c.Value)
	}
	return t, err
}

func (d *decider) readDuration(c *Tune) (string, error) {
	if c.Value == "" {
		return "", nil
	}
	v, err := time.ParseDuration(c.Value)
	if err != nil || v < 0 || v > maxInterval {
		return "", refuse(d.env, BadCommand, "%q is no %s; write a duration from 0s to %s, as in 90s or 5m", c.Value, c.Name, maxInterval)
	}
	return v.String(), nil
}

func (d *decider) readAttempts(c *Tune) (string, error) {
	if c.Value == "" {
		return "", nil
	}
	n, err := strconv.Atoi(c.Value)
	if err != nil || n < 1 || n > maxAttempts {
		return "", refuse(d.env, BadCommand, "%q is no number of attempts; write a number from 1 to %d", c.Value, maxAttempts)
	}
	return strconv.Itoa(n), nil
}

func (d *decider) readPeriod(c *Tune) error {
	if _, known := d.env.Periods[c.Value]; known || c.Value == "" {
		return nil
	}
	return refuse(d.env, BadCommand, "no period %q in the config%s", c.Value, Choice(slices.Sorted(maps.Keys(d.env.Periods))))
}

// readVar reads a custom variable. Only those can be set that the config has:
// names are written as there, with or without the underscore.
func (d *decider) readVar(name, value string) (reading, error) {
	name = strings.ToUpper(strings.TrimPrefix(name, "_"))
	if _, known := d.env.Object.Vars[name]; !known {
		return reading{}, refuse(d.env, BadCommand, "the %s has no custom variable %q%s",
			d.env.Object.Kind(), name, Choice(slices.Sorted(maps.Keys(d.env.Object.Vars))))
	}
	return reading{name: event.SettingVar + name, value: value, bit: modVar}, nil
}

// Choice says what would be right behind an error ("; use a, b"), as far as it
// fits into a line; "" if there is nothing to choose from.
func Choice(names []string) string {
	const most = 12
	switch {
	case len(names) == 0:
		return ""
	case len(names) > most:
		return "; use one of " + strings.Join(names[:most], ", ") + ", …"
	}
	return "; use " + strings.Join(names, ", ")
}

// dropSettings forgets what was set against a config that says something else
// now, or has the period no more, as after a reload: the config is newer. A switch stays as it is then,
// because it has only two values.
func (d *decider) dropSettings() {
	if d.next.Extra == nil {
		return
	}
	left, gone := without(d.next.Extra.Settings, func(s *event.Setting) bool { return outdated(d.env, s) })
	if gone == nil {
		return
	}
	d.extra().Settings = left
	dropped := func(name string) bool {
		return slices.ContainsFunc(gone, func(s event.Setting) bool { return s.Name == name })
	}
	for i, name := range switchNames {
		if dropped(name) {
			d.next.Off &^= 1 << i
			d.next.On &^= 1 << i
		}
	}
	if dropped(event.SettingAttempts) {
		d.limitAttempts()
	}
	d.note("dropped", list(gone, func(s *event.Setting) string { return s.Name }))
	d.also = append(d.also, event.SettingChanged)
}

// setModified sets Nagios' bits of modified attributes and nothing else.
func (d *decider) setModified(c SetModified) (Decision, error) {
	var now uint32
	if d.base.Extra != nil {
		now = d.base.Extra.Modified
	}
	if c.Bits == now {
		return Decision{}, nil
	}
	d.extra().Modified = c.Bits
	d.note("setting", "modified_attributes")
	d.note("to", strconv.FormatUint(uint64(c.Bits), 10))
	return d.said(event.SettingChanged, c.Author, ""), nil
}
