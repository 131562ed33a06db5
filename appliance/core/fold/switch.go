package fold

import (
	"strings"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// switchNames are the names in events and settings; bit n is
// object.Switches(1<<n). The tables are constant.
var switchNames = [...]string{
	event.SettingActive, event.SettingPassive, event.SettingNotifications, event.SettingFlapDetection,
	event.SettingEventHandler, event.SettingPerfdata, event.SettingObsess,
}

// switchModified are Nagios' bits of modified attributes in the same order.
var switchModified = [...]uint32{modActive, modPassive, modNotifications, modFlapDetection, modEventHandler, modPerfdata, modObsess}

const allSwitches = object.Switches(1<<len(switchNames) - 1)

// configured returns the switches that are on by the object's config.
func configured(o *object.Object) object.Switches {
	on := object.SwitchNotifications | object.SwitchEventHandler | object.SwitchPerfdata | object.SwitchObsess
	if o.Rule.Active {
		on |= object.SwitchActive
	}
	if o.Rule.Passive {
		on |= object.SwitchPassive
	}
	if o.Rule.FlapDetection {
		on |= object.SwitchFlapDetection
	}
	return on &^ o.Rule.Off
}

// Enabled tells whether every switch of w is on for an object: as an operator
// set it, else as configured. Program-wide settings are not looked at.
func Enabled(o *object.Object, st *event.Status, w object.Switches) bool {
	return (configured(o)&^st.Off | st.On).Has(w)
}

// setSwitches changes the object's switches; what is already so changes nothing.
func (d *decider) setSwitches(c Switch) (Decision, error) {
	if c.What == 0 || c.What&^allSwitches != 0 {
		return Decision{}, refuse(d.env, BadCommand, "no switches %#x; use a set of %s", uint16(c.What), namesOf(allSwitches))
	}
	if err := d.short("a switch", c.Author); err != nil {
		return Decision{}, err
	}
	config := configured(d.env.Object)
	if c.On && !checkable(d.env.Object) && !config.Has(object.SwitchActive) {
		// There is nothing to switch on, and nothing shall be left that says so.
		if c.What == object.SwitchActive && !d.next.On.Has(object.SwitchActive) {
			return Decision{}, refuse(d.env, BadCommand, "the %s has no check of its own that could be switched on; give it one in the config", d.env.Object.Kind())
		}
		if !d.next.On.Has(object.SwitchActive) {
			c.What &^= object.SwitchActive
		}
	}
	d.next.Off &^= c.What
	d.next.On &^= c.What
	to := "off"
	if c.On {
		to = "on"
		d.next.On |= c.What &^ config
	} else {
		d.next.Off |= c.What & config
	}
	if d.next.Off == d.base.Off && d.next.On == d.base.On {
		return Decision{}, nil
	}
	flipped := (config&^d.next.Off | d.next.On) ^ (config&^d.base.Off | d.base.On)
	for i, name := range switchNames {
		bit := object.Switches(1 << i)
		if flipped.Has(bit) {
			d.modify(switchModified[i])
		}
		if c.What.Has(bit) {
			d.enter(name, to, (d.next.Off | d.next.On).Has(bit), c.Author)
		}
	}
	if c.What.Has(object.SwitchFlapDetection) {
		d.flap(d.old.Measure.Ring)
	}
	m := d.sameMeasure()
	if c.What.Has(object.SwitchActive) {
		if c.On {
			d.checkSoon(c.Spread)
		}
		m = d.plan()
	}
	d.note("switch", namesOf(c.What))
	d.note("to", to)
	return d.saidWith(event.SettingChanged, m, c.Author, ""), nil
}

func namesOf(w object.Switches) string {
	var names []string
	for i, name := range switchNames {
		if w.Has(1 << i) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// programSwitches evaluates the history again under the program's settings.
func (d *decider) programSwitches() (Decision, error) {
	d.flap(d.old.Measure.Ring)
	var out Decision
	if d.started || d.stopped {
		d.log(&out, event.SettingChanged, d.sameMeasure())
		out.Log.Facts = map[string]string{"switch": "flap_detection", "of": "program"}
	}
	return out, nil
}

// clearFlapping empties the history, so that nothing flaps.
func (d *decider) clearFlapping(c ClearFlapping) (Decision, error) {
	m := d.nextMeasure()
	m.Ring, m.RingTime = 0, 0
	d.stopped = d.next.Flapping
	d.next.Flapping = false
	var out Decision
	d.log(&out, event.SettingChanged, m)
	out.Log.Author = c.Author
	out.Log.Facts = map[string]string{"cleared": "flapping"}
	return out, nil
}

// sameMeasure returns a copy of the newest measure: nothing was measured, but
// a decision is complete.
func (d *decider) sameMeasure() *event.Measure {
	m := d.old.Measure
	return &m
}
