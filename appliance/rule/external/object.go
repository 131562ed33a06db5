package external

import (
	"strconv"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/operate"
)

// hostRows are the commands about one host and what hangs on it.
func hostRows() []row {
	h := []kind{aHost}
	sw := func(on, off, text string, of scope, what object.Switches) []row {
		return pair(on, off, h, true, text, switching(of, what))
	}
	return join(
		sw("ENABLE_HOST_CHECK", "DISABLE_HOST_CHECK", "active checks of a host", theHost, object.SwitchActive),
		sw("ENABLE_PASSIVE_HOST_CHECKS", "DISABLE_PASSIVE_HOST_CHECKS", "submitted results of a host", theHost, object.SwitchPassive),
		sw("ENABLE_HOST_NOTIFICATIONS", "DISABLE_HOST_NOTIFICATIONS", "notifications of a host", theHost, object.SwitchNotifications),
		sw("ENABLE_HOST_EVENT_HANDLER", "DISABLE_HOST_EVENT_HANDLER", "the event handler of a host", theHost, object.SwitchEventHandler),
		sw("ENABLE_HOST_FLAP_DETECTION", "DISABLE_HOST_FLAP_DETECTION", "flap detection of a host", theHost, object.SwitchFlapDetection),
		sw("START_OBSESSING_OVER_HOST", "STOP_OBSESSING_OVER_HOST", "obsessing over a host (kept and shown, nothing runs)", theHost, object.SwitchObsess),
		sw("ENABLE_HOST_SVC_CHECKS", "DISABLE_HOST_SVC_CHECKS", "active checks of the services of a host", servicesOfHost, object.SwitchActive),
		sw("ENABLE_HOST_SVC_NOTIFICATIONS", "DISABLE_HOST_SVC_NOTIFICATIONS", "notifications of the services of a host", servicesOfHost, object.SwitchNotifications),
		sw("ENABLE_ALL_NOTIFICATIONS_BEYOND_HOST", "DISABLE_ALL_NOTIFICATIONS_BEYOND_HOST", "notifications of every host behind a host and their services", beyondHost, object.SwitchNotifications),
		sw("ENABLE_HOST_AND_CHILD_NOTIFICATIONS", "DISABLE_HOST_AND_CHILD_NOTIFICATIONS", "notifications of a host and every host behind it", hostAndChildren, object.SwitchNotifications),
		[]row{
			{name: "SCHEDULE_HOST_SVC_CHECKS", args: []kind{aHost, aTime}, noted: true, text: "Plans the next check of every service of a host.", do: each(servicesOfHost, reschedule(false))},
			{name: "SCHEDULE_FORCED_HOST_SVC_CHECKS", args: []kind{aHost, aTime}, noted: true, text: "Plans a check of every service of a host, whatever switches and periods say.", do: each(servicesOfHost, reschedule(true))},
			{
				name: "ACKNOWLEDGE_HOST_SVC_PROBLEM", args: []kind{aHost, aSticky, aFlag, aFlag, anAuthor, aComment}, only: "Icinga 1",
				text: "Acknowledges the problems of a host and of its services: sticky, notify, persistent.", do: each(problemsOf(hostAndServices), acknowledge(false)),
			},
		},
		objectRows(object.Host),
		hostDowntimeRows(),
	)
}

// serviceRows are the commands about one service.
func serviceRows() []row {
	s := []kind{aHost, aService}
	sw := func(on, off, text string, what object.Switches) []row {
		return pair(on, off, s, true, text+" of a service", switching(theService, what))
	}
	return join(
		sw("ENABLE_SVC_CHECK", "DISABLE_SVC_CHECK", "active checks", object.SwitchActive),
		sw("ENABLE_PASSIVE_SVC_CHECKS", "DISABLE_PASSIVE_SVC_CHECKS", "submitted results", object.SwitchPassive),
		sw("ENABLE_SVC_NOTIFICATIONS", "DISABLE_SVC_NOTIFICATIONS", "notifications", object.SwitchNotifications),
		sw("ENABLE_SVC_EVENT_HANDLER", "DISABLE_SVC_EVENT_HANDLER", "the event handler", object.SwitchEventHandler),
		sw("ENABLE_SVC_FLAP_DETECTION", "DISABLE_SVC_FLAP_DETECTION", "flap detection", object.SwitchFlapDetection),
		sw("START_OBSESSING_OVER_SVC", "STOP_OBSESSING_OVER_SVC", "obsessing (kept and shown, nothing runs)", object.SwitchObsess),
		objectRows(object.Service),
		[]row{
			{name: "SCHEDULE_SVC_DOWNTIME", args: downtimeArgs(aHost, aService), text: "Schedules a downtime for a service.", do: downtimes(theService)},
			{name: "DEL_SVC_DOWNTIME", args: []kind{anID}, text: "Cancels a downtime of a service, and what it triggers.", do: cancelOne(object.Service)},
		},
	)
}

// objectRows are the commands that hosts and services have alike.
func objectRows(k object.Kind) []row {
	word, of, named := "HOST", scope(theHost), []kind{aHost}
	result := row{
		name: "PROCESS_HOST_CHECK_RESULT", args: []kind{anAddress, aCode, anOutput}, optional: 1,
		text: "Submits a result of a host.", do: submit(object.Host, addressedHost),
	}
	if k == object.Service {
		word, of, named = "SVC", theService, []kind{aHost, aService}
		result = row{
			name: "PROCESS_SERVICE_CHECK_RESULT", args: []kind{anAddress, aService, aCode, anOutput}, optional: 1,
			text: "Submits a result of a service; a code outside 0 to 3 is UNKNOWN.", do: submit(object.Service, addressedService),
		}
	}
	with := func(more ...kind) []kind { return append(append([]kind{}, named...), more...) }
	a := "a " + k.String()
	return join(
		[]row{
			{name: "SCHEDULE_" + word + "_CHECK", args: with(aTime), noted: true, text: "Plans the next check of " + a + ".", do: each(of, reschedule(false))},
			{name: "SCHEDULE_FORCED_" + word + "_CHECK", args: with(aTime), noted: true, text: "Plans a check of " + a + ", whatever switches and periods say.", do: each(of, reschedule(true))},
			{
				name: "DELAY_" + word + "_NOTIFICATION", args: with(aTime), noted: true, text: "Tells nobody about the problem of " + a + " before a time.",
				do: each(of, plain(func(t *translation) fold.Command {
					return fold.DelayNotification{Until: t.time(), Author: t.author()}
				})),
			},
			{name: "ACKNOWLEDGE_" + word + "_PROBLEM", args: with(aSticky, aFlag, aFlag, anAuthor, aComment), text: "Acknowledges the problem of " + a + ": sticky, notify, persistent.", do: each(of, acknowledge(false))},
			{name: "ACKNOWLEDGE_" + word + "_PROBLEM_EXPIRE", args: with(aSticky, aFlag, aFlag, aTime, anAuthor, aComment), only: "Naemon, Icinga", text: "The same until a time: sticky, notify, persistent, end.", do: each(of, acknowledge(true))},
			{
				name: "REMOVE_" + word + "_ACKNOWLEDGEMENT", args: with(), noted: true, text: "Takes the acknowledgement of " + a + " back.",
				do: each(of, plain(func(t *translation) fold.Command { return fold.RemoveAcknowledgement{Author: t.author()} })),
			},
			{
				name: "ADD_" + word + "_COMMENT", args: with(aFlag, anAuthor, aComment), text: "Adds a comment to " + a + "; the flag makes it persistent.",
				do: each(of, plain(func(t *translation) fold.Command {
					return fold.AddComment{Persistent: t.flag(), Author: t.next(), Text: t.next(), Entry: t.entry()}
				})),
			},
			{name: "DEL_" + word + "_COMMENT", args: []kind{anID}, text: "Removes a comment of " + a + ".", do: removeComment(k)},
			{
				name: "DEL_ALL_" + word + "_COMMENTS", args: with(), text: "Removes all comments of " + a + ".",
				do: each(of, plain(func(*translation) fold.Command { return fold.RemoveComments{} })),
			},
			{name: "SEND_CUSTOM_" + word + "_NOTIFICATION", args: with(theOptions, anAuthor, aComment), text: "Tells the contacts of " + a + " something.", do: each(of, plain(notify))},
			{
				name: "SET_" + word + "_NOTIFICATION_NUMBER", args: with(aNumber), noted: true, text: "Says how many notifications the problem of " + a + " had.",
				do: each(of, plain(func(t *translation) fold.Command {
					return fold.SetNotificationNumber{Number: int32(t.number()), Author: t.author()}
				})),
			},
			result,
			{
				name: "CLEAR_" + word + "_FLAPPING_STATE", args: with(), noted: true, only: "Nagios", text: "Empties the flap history of " + a + ".",
				do: each(of, plain(func(t *translation) fold.Command { return fold.ClearFlapping{Author: t.author()} })),
			},
		},
		changeRows(word, a, of, with),
	)
}

// changeRows are the commands that set something against the config.
func changeRows(word, a string, of scope, with func(...kind) []kind) []row {
	const set = "the config alone says which commands run; change it there and reload"
	return []row{
		{name: "CHANGE_NORMAL_" + word + "_CHECK_INTERVAL", args: with(aMinutes), text: "Changes the check interval of " + a + ".", do: each(of, tuneInterval(event.SettingInterval))},
		{name: "CHANGE_RETRY_" + word + "_CHECK_INTERVAL", args: with(aMinutes), text: "Changes the retry interval of " + a + ".", do: each(of, tuneInterval(event.SettingRetry))},
		{
			name: "CHANGE_MAX_" + word + "_CHECK_ATTEMPTS", args: with(theAttempts), text: "Changes how many results make a problem of " + a + " hard.",
			do: each(of, plain(func(t *translation) fold.Command {
				return fold.Tune{Name: event.SettingAttempts, Value: strconv.FormatInt(t.number(), 10)}
			})),
		},
		{name: "CHANGE_" + word + "_CHECK_TIMEPERIOD", args: with(aPeriod), text: "Changes the check period of " + a + ".", do: each(of, tunePeriod(event.SettingCheckPeriod))},
		{name: "CHANGE_" + word + "_NOTIFICATION_TIMEPERIOD", args: with(aPeriod), text: "Changes the notification period of " + a + ".", do: each(of, tunePeriod(event.SettingNotePeriod))},
		{name: "CHANGE_" + word + "_EVENT_HANDLER_TIMEPERIOD", args: with(aPeriod), only: "Nagios", text: "Changes the event handler period of " + a + ".", do: each(of, tunePeriod(event.SettingHandlerPeriod))},
		{name: "CHANGE_" + word + "_CHECK_COMMAND", args: with(aCommand), text: "Changes the check command of " + a + ".", why: set},
		{name: "CHANGE_" + word + "_EVENT_HANDLER", args: with(aCommand), text: "Changes the event handler of " + a + ".", why: set},
		{
			name: "CHANGE_" + word + "_MODATTR", args: with(theBits), text: "Sets the modified attributes of " + a + "; what was changed stays so.",
			do: each(of, func(t *translation) (fold.Command, error) {
				bits, err := readBits(t.next())
				return fold.SetModified{Bits: bits}, err
			}),
		},
		{name: "CHANGE_CUSTOM_" + word + "_VAR", args: with(aVariable, aValue), optional: 1, text: "Changes a custom variable of " + a + ".", do: tuneVariable(of)},
	}
}

func reschedule(forced bool) func(*translation) (fold.Command, error) {
	return plain(func(t *translation) fold.Command {
		return fold.Reschedule{At: t.time(), Forced: forced, Author: t.author()}
	})
}

// acknowledge reads sticky, notify, persistent, with expiry the end, author and
// comment.
func acknowledge(expiry bool) func(*translation) (fold.Command, error) {
	return func(t *translation) (fold.Command, error) {
		a := fold.Acknowledge{Kind: object.AckNormal, Entry: t.entry()}
		if t.number() == int64(object.AckSticky) {
			a.Kind = object.AckSticky
		}
		a.Notify, a.Persistent = t.flag(), t.flag()
		if expiry {
			a.Expires = t.time()
			if a.Expires != 0 && a.Expires <= t.w.Now {
				return nil, refusal(Argument, t.c.Name, "the end %d lies in the past; write a later time, or 0 for none", a.Expires/1000)
			}
		}
		a.Author, a.Text = t.next(), t.next()
		return a, nil
	}
}

// problemsOf keeps the objects of a scope that have a problem.
func problemsOf(of scope) scope {
	return func(t *translation) ([]*object.Object, error) {
		all, err := of(t)
		var some []*object.Object
		for _, o := range all {
			if s := t.state(o.ID); s != nil && s.Status.Checked && s.Status.State != object.OK {
				some = append(some, o)
			}
		}
		if err == nil && len(some) == 0 {
			err = refusal(Target, t.c.Name, "neither the host nor one of its services has a problem")
		}
		return some, err
	}
}

// state returns what is known of an object, nil if that is nothing.
func (t *translation) state(id object.ID) *fold.State {
	if t.w.State == nil {
		return nil
	}
	return t.w.State(id)
}

func notify(t *translation) fold.Command {
	bits := t.number()
	return fold.Notify{Broadcast: bits&1 != 0, Forced: bits&2 != 0, Increment: bits&4 != 0, Author: t.next(), Text: t.next()}
}

func tuneInterval(setting string) func(*translation) (fold.Command, error) {
	return func(t *translation) (fold.Command, error) {
		n, err := readUnits(t.next())
		return fold.Tune{Name: setting, Value: (time.Duration(n) * time.Minute).String()}, err
	}
}

func tunePeriod(setting string) func(*translation) (fold.Command, error) {
	return func(t *translation) (fold.Command, error) {
		p, err := operate.Period(t.w.Set, t.next())
		if err != nil {
			return nil, err
		}
		return fold.Tune{Name: setting, Value: p.Name()}, nil
	}
}

func tuneVariable(of scope) func(*translation) error {
	return func(t *translation) error {
		objects, err := of(t)
		if err != nil {
			return err
		}
		name, err := t.variable(objects[0].Vars)
		if err != nil {
			return err
		}
		t.about(objects[0], fold.Tune{Name: event.SettingVar + name, Value: t.next()})
		return nil
	}
}

// removeComment checks the kind too: numbers of hosts and services are one row.
func removeComment(k object.Kind) func(*translation) error {
	return func(t *translation) error {
		ref := t.next()
		actions, err := t.w.ByComment(number(ref), "")
		if err != nil {
			return err
		}
		if actions[0].Object.Kind() != k {
			return refusal(Target, t.c.Name, "comment %s is one of %s; use the command for a %s", ref, actions[0].Object, actions[0].Object.Kind())
		}
		t.actions = actions
		return nil
	}
}

// number writes a number as it is kept, without blanks and zeros in front.
func number(s string) string {
	n, _ := readInt(s)
	return strconv.FormatInt(n, 10)
}
