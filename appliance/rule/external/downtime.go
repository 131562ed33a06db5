package external

import (
	"strings"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/operate"
)

// downtimeArgs returns the arguments of a downtime behind those that name what
// it is for: start, end, fixed, trigger, duration, author and comment.
func downtimeArgs(named ...kind) []kind {
	return append(named, aTime, aTime, aFlag, aNumber, aDuration, anAuthor, aComment)
}

func hostDowntimeRows() []row {
	h := downtimeArgs(aHost)
	return []row{
		{name: "SCHEDULE_HOST_DOWNTIME", args: h, text: "Schedules a downtime for a host: start, end, fixed, trigger, duration.", do: downtimes(theHost)},
		{name: "SCHEDULE_HOST_SVC_DOWNTIME", args: h, text: "Schedules a downtime for each service of a host, not for the host.", do: downtimes(servicesOfHost)},
		{name: "SCHEDULE_AND_PROPAGATE_HOST_DOWNTIME", args: h, text: "Schedules a downtime for a host and another for every host behind it.", do: propagate(false)},
		{name: "SCHEDULE_AND_PROPAGATE_TRIGGERED_HOST_DOWNTIME", args: h, text: "Schedules a downtime for a host that triggers one for every host behind it.", do: propagate(true)},
		{name: "DEL_HOST_DOWNTIME", args: []kind{anID}, text: "Cancels a downtime of a host, and what it triggers.", do: cancelOne(object.Host)},
		{
			name: "DEL_DOWNTIME_BY_HOST_NAME", args: []kind{aHost, aService, aTime, aComment}, optional: 3,
			text: "Cancels the downtimes of a host and of its services that fit everything given.", do: cancelByHost,
		},
		{
			name: "DEL_DOWNTIME_BY_HOSTGROUP_NAME", args: []kind{aHostGroup, aHost, aService, aTime, aComment}, optional: 4,
			text: "Cancels the downtimes of the hosts of a hostgroup and of their services that fit everything given.", do: cancelByGroup,
		},
		{
			name: "DEL_DOWNTIME_BY_START_TIME_COMMENT", args: []kind{aTime, aComment}, optional: 2,
			text: "Cancels all downtimes with this start and this comment; one of them must be given.", do: cancelByStart,
		},
	}
}

// downtime reads a downtime. What could never begin is refused here, so that a
// command for many objects is taken whole or not at all.
func (t *translation) downtime() (event.Downtime, error) {
	d := event.Downtime{Entry: t.entry(), Start: t.time(), End: t.time()}
	fixed, trigger, seconds := t.flag(), t.next(), t.number()
	d.Author, d.Text = t.next(), t.next()
	if !fixed {
		d.Duration = object.Time(seconds * 1000)
	}
	wrong := func(text string) error { return refusal(Argument, t.c.Name, "%s", text) }
	switch {
	case d.Start >= d.End:
		return d, wrong("the downtime ends before it starts; write a later end")
	case d.End <= t.w.Now:
		return d, wrong("the downtime is over already; write an end that lies ahead")
	case !fixed && d.Duration == 0:
		return d, wrong("a flexible downtime needs a duration above 0; write its seconds, or 1 for fixed")
	}
	if trigger = number(trigger); trigger == "0" {
		return d, nil
	}
	var err error
	d.Trigger, err = t.trigger(trigger)
	return d, err
}

// trigger returns the identity of the downtime with a number.
func (t *translation) trigger(ref string) (string, error) {
	found, err := t.w.ByDowntime(ref, "")
	if err != nil {
		return "", err
	}
	// The one that was asked for stands last, see Cancel.
	c, ok := found[len(found)-1].Command.(fold.CancelDowntimes)
	if !ok {
		return "", refusal(Target, t.c.Name, "downtime %s is for many objects and cannot trigger another one; write 0", ref)
	}
	return c.ID, nil
}

// downtimes makes the doer of a command that schedules one for each object.
func downtimes(of scope) func(*translation) error {
	return func(t *translation) error {
		objects, err := of(t)
		if err != nil {
			return err
		}
		d, err := t.downtime()
		if err != nil {
			return err
		}
		for _, o := range objects {
			t.about(o, fold.ScheduleDowntime{Downtime: d})
		}
		return nil
	}
}

// propagate makes the doer of a command for a host and those behind it. Only the
// first one may have the trigger of the line.
func propagate(triggered bool) func(*translation) error {
	return func(t *translation) error {
		hosts, err := theHost(t)
		if err != nil {
			return err
		}
		d, err := t.downtime()
		if err != nil {
			return err
		}
		behind := operate.Behind(hosts[0])
		if triggered {
			d.ID = t.id(0)
		}
		t.about(hosts[0], fold.ScheduleDowntime{Downtime: d})
		d.Trigger = d.ID
		for i, o := range behind {
			if triggered {
				d.ID = t.id(i + 1)
			}
			t.about(o, fold.ScheduleDowntime{Downtime: d})
			// The trigger must be there when it is named.
			t.actions[len(t.actions)-1].Wait = triggered && i == 0
		}
		return nil
	}
}

// cancelOne checks the kind too: numbers of hosts and services are one row.
func cancelOne(k object.Kind) func(*translation) error {
	return func(t *translation) error {
		ref := number(t.next())
		actions, err := t.w.ByDowntime(ref, "")
		if err != nil {
			return err
		}
		if last := actions[len(actions)-1]; last.Program == nil && last.Object.Kind() != k {
			return refusal(Target, t.c.Name, "downtime %s is one of %s; use the command for a %s", ref, last.Object, last.Object.Kind())
		}
		t.actions = actions
		return nil
	}
}

// wanted reads the start and the comment that a downtime must have.
func (t *translation) wanted() func(*event.Downtime) bool {
	start, text := t.time(), t.next()
	return func(d *event.Downtime) bool {
		return (start == 0 || d.Start/1000 == start/1000) && (text == "" || d.Text == text)
	}
}

// cancel cancels the downtimes of some objects that are wanted.
func (t *translation) cancel(among func(object.ID) bool, wanted func(*event.Downtime) bool) error {
	found := t.w.Downtimes(func(id object.ID, d *event.Downtime) bool { return among(id) && wanted(d) })
	if len(found) == 0 {
		return refusal(Target, t.c.Name, "no downtime fits; leave out what is not known, or look at the list of downtimes")
	}
	t.actions = t.w.Cancel(found, "")
	return nil
}

func cancelByHost(t *translation) error {
	hosts, err := theHost(t)
	if err != nil {
		return err
	}
	among, err := t.ofHosts(hosts)
	if err != nil {
		return err
	}
	return t.cancel(among, t.wanted())
}

func cancelByGroup(t *translation) error {
	hosts, err := hostsOfHostGroup(t)
	if err != nil {
		return err
	}
	if name := t.next(); name != "" {
		h, err := t.host(name)
		if err != nil {
			return err
		}
		hosts = within(hosts, h)
	}
	among, err := t.ofHosts(hosts)
	if err != nil {
		return err
	}
	return t.cancel(among, t.wanted())
}

func within(hosts []*object.Object, h *object.Object) []*object.Object {
	for _, o := range hosts {
		if o == h {
			return []*object.Object{h}
		}
	}
	return nil
}

// ofHosts reads the name of a service, which may be empty: hosts and all of their
// services then.
func (t *translation) ofHosts(hosts []*object.Object) (func(object.ID) bool, error) {
	names := make(map[string]bool, len(hosts))
	service := t.next()
	for _, h := range hosts {
		names[h.Name] = true
	}
	if len(hosts) == 1 && service != "" {
		if _, err := operate.Object(t.w.Set, object.ServiceID(hosts[0].Name, service)); err != nil {
			return nil, err
		}
	}
	return func(id object.ID) bool {
		host, s, _ := strings.Cut(string(id), "!")
		return names[host] && (service == "" || s == service)
	}, nil
}

func cancelByStart(t *translation) error {
	if strings.Join(t.c.Args, "") == "" || len(t.c.Args) == 1 && t.c.Args[0] == "0" {
		return refusal(Argument, t.c.Name, "start and comment are both missing; write at least one of them")
	}
	return t.cancel(func(object.ID) bool { return true }, t.wanted())
}
