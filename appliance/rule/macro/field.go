package macro

import (
	"strings"

	"jaque.sh/jaque/appliance/core/object"
)

// getter returns the value of a macro for an object.
type getter func(*expander, *object.Object) string

// field is a macro that belongs to hosts or to services.
type field struct {
	kind object.Kind
	get  getter
}

// objectFields is every macro of hosts and services by name.
var objectFields = makeObjectFields()

func makeObjectFields() map[string]field {
	all := map[string]field{}
	// "%" stands for HOST and for SERVICE.
	for pattern, get := range bothKinds {
		all[strings.Replace(pattern, "%", "HOST", 1)] = field{object.Host, get}
		all[strings.Replace(pattern, "%", "SERVICE", 1)] = field{object.Service, get}
	}
	for name, get := range hostOnly {
		all[name] = field{object.Host, get}
	}
	for name, get := range serviceOnly {
		all[name] = field{object.Service, get}
	}
	return all
}

var bothKinds = map[string]getter{
	"%DISPLAYNAME": func(e *expander, o *object.Object) string { return e.displayName(o) },
	"%STATE":       func(e *expander, o *object.Object) string { return e.src.state(o).Status.State.Name(o.Kind()) },
	"%STATEID":     func(e *expander, o *object.Object) string { return integer(e.src.state(o).Status.State) },
	"LAST%STATE":   func(e *expander, o *object.Object) string { return lastState(e.src.state(o)).Name(o.Kind()) },
	"LAST%STATEID": func(e *expander, o *object.Object) string { return integer(lastState(e.src.state(o))) },
	"%STATETYPE":   func(e *expander, o *object.Object) string { return stateType(e.src.state(o)) },
	"%ATTEMPT":     func(e *expander, o *object.Object) string { return integer(e.src.state(o).Status.Attempt) },
	"MAX%ATTEMPTS": func(e *expander, o *object.Object) string { return integer(e.src.state(o).Status.MaxAttempts) },

	// The change of state stands for the event, its beginning for the problem.
	"%EVENTID":       func(e *expander, o *object.Object) string { return integer(e.src.state(o).Status.LastChange) },
	"LAST%EVENTID":   func(*expander, *object.Object) string { return "0" },
	"%PROBLEMID":     func(e *expander, o *object.Object) string { return integer(e.src.state(o).Status.Problem) },
	"LAST%PROBLEMID": func(*expander, *object.Object) string { return "0" },

	"%LATENCY":         func(e *expander, o *object.Object) string { return millis(e.src.state(o).Measure.Latency) },
	"%EXECUTIONTIME":   func(e *expander, o *object.Object) string { return millis(e.src.state(o).Measure.Took) },
	"%DURATION":        func(e *expander, o *object.Object) string { return duration(e.age(o)) },
	"%DURATIONSEC":     func(e *expander, o *object.Object) string { return integer(e.age(o)) },
	"%DOWNTIME":        func(e *expander, o *object.Object) string { return integer(e.src.state(o).Status.DowntimeDepth) },
	"%PERCENTCHANGE":   func(e *expander, o *object.Object) string { return percent(e.src.state(o)) },
	"LAST%CHECK":       func(e *expander, o *object.Object) string { return epoch(e.src.state(o).Measure.LastCheck) },
	"LAST%STATECHANGE": func(e *expander, o *object.Object) string { return epoch(e.src.state(o).Status.LastChange) },

	"%OUTPUT":       func(e *expander, o *object.Object) string { return e.src.state(o).Measure.Output },
	"LONG%OUTPUT":   func(e *expander, o *object.Object) string { return escapeLines(e.src.state(o).Measure.Long) },
	"%PERFDATA":     func(e *expander, o *object.Object) string { return e.src.state(o).Measure.Perfdata },
	"%CHECKTYPE":    func(e *expander, o *object.Object) string { return checkType(e.src.state(o)) },
	"%CHECKCOMMAND": func(e *expander, o *object.Object) string { return e.src.declared(o, "check_command") },
	"%CHECKSOURCE":  func(*expander, *object.Object) string { return "" },

	"%NOTES":     func(e *expander, o *object.Object) string { return e.nest(e, o.Rule.Notes, false) },
	"%NOTESURL":  func(e *expander, o *object.Object) string { return e.nest(e, o.Rule.NotesURL, true) },
	"%ACTIONURL": func(e *expander, o *object.Object) string { return e.nest(e, o.Rule.ActionURL, true) },
	"%INFOURL":   func(*expander, *object.Object) string { return "" },

	"%IMPORTANCE":          func(e *expander, o *object.Object) string { return integer(e.importance(o)) },
	"%NOTIFICATIONENABLED": func(e *expander, o *object.Object) string { return e.notifies(o) },
	"%NOTIFICATIONPERIOD":  func(e *expander, o *object.Object) string { return e.notePeriod(o) },
	"%NOTIFICATIONNUMBER": func(e *expander, o *object.Object) string {
		return integer(e.src.state(o).Status.NotificationNumber)
	},
	"%NOTIFICATIONID": func(e *expander, o *object.Object) string {
		return integer(e.src.state(o).Status.LastNotification)
	},
	"%ACKAUTHOR":      func(e *expander, o *object.Object) string { return ackAuthor(e.src.state(o)) },
	"%ACKAUTHORNAME":  func(e *expander, o *object.Object) string { return ackAuthor(e.src.state(o)) },
	"%ACKAUTHORALIAS": func(e *expander, o *object.Object) string { return e.contactAlias(ackAuthor(e.src.state(o))) },
	"%ACKCOMMENT":     func(e *expander, o *object.Object) string { return ackText(e.src.state(o)) },
	"%GROUPNAMES":     func(_ *expander, o *object.Object) string { return strings.Join(o.Groups, ",") },
}

var hostOnly = map[string]getter{
	"HOSTNAME":                  func(_ *expander, o *object.Object) string { return o.Name },
	"HOSTALIAS":                 func(_ *expander, o *object.Object) string { return alias(o) },
	"HOSTADDRESS":               func(_ *expander, o *object.Object) string { return address(o) },
	"LASTHOSTUP":                lastIn(object.Up),
	"LASTHOSTDOWN":              lastIn(object.Down),
	"LASTHOSTUNREACHABLE":       lastIn(object.Unreachable),
	"HOSTANDSERVICESIMPORTANCE": func(e *expander, o *object.Object) string { return integer(e.importance(o, o.Services...)) },
	"TOTALHOSTSERVICES":         func(_ *expander, o *object.Object) string { return integer(len(o.Services)) },
	"TOTALHOSTSERVICESOK":       servicesIn(object.OK),
	"TOTALHOSTSERVICESWARNING":  servicesIn(object.Warning),
	"TOTALHOSTSERVICESCRITICAL": servicesIn(object.Critical),
	"TOTALHOSTSERVICESUNKNOWN":  servicesIn(object.Unknown),
}

var serviceOnly = map[string]getter{
	"SERVICEDESC":         func(_ *expander, o *object.Object) string { return o.Name },
	"SERVICEISVOLATILE":   func(_ *expander, o *object.Object) string { return flag(o.Rule.Volatile) },
	"LASTSERVICEOK":       lastIn(object.OK),
	"LASTSERVICEWARNING":  lastIn(object.Warning),
	"LASTSERVICECRITICAL": lastIn(object.Critical),
	"LASTSERVICEUNKNOWN":  lastIn(object.Unknown),
}

// lastIn returns when an object was last in a state, 0 for never.
func lastIn(s object.State) getter {
	return func(e *expander, o *object.Object) string { return epoch(e.src.state(o).Measure.LastIn[s]) }
}

// servicesIn counts the services of a host that are in a state. One that was
// never checked counts by its initial state.
func servicesIn(s object.State) getter {
	return func(e *expander, o *object.Object) string {
		n := 0
		for _, service := range o.Services {
			if e.src.state(service).Status.State == s {
				n++
			}
		}
		return integer(n)
	}
}
