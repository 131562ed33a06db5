package wire

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
)

// Column is one field of a list item.
type Column struct {
	Name string
	Kind string // of its value: string, integer, number, boolean, time, map, list, acknowledgement, settings
	Help string
	add  func(b []byte, i *projection.Item, c *Context) []byte
}

// Context is what items need beside their own object and state. It remembers
// what items share, so one goroutine uses it, for the items of one answer.
type Context struct {
	Owner func(object.ID) string // nil = nobody is known to own anything
	// Next tells when the next check is planned, 0 for never; nil = as the last
	// measurement says.
	Next func(i *projection.Item) object.Time
	// State tells about other objects; nil = nothing is known of them.
	State func(object.ID) *fold.State
	Set   *object.Set // the running configuration; nil = the objects alone are known
	Old   bool        // nothing arrives from the log: what is known of every object may be old

	labels labels
	host   *object.Object // whose downtime is in down
	down   bool
	env    *fold.Env // of the item that is written
}

// Columns returns the fields of an item of a kind in their order.
func Columns(k object.Kind) []Column {
	all := slices.Concat(columns, handled)
	if k == object.Host {
		return slices.DeleteFunc(all, func(c Column) bool { return c.Name == "service" })
	}
	return all
}

// Pick returns the columns that a comma-separated list names, all for "".
func Pick(k object.Kind, list string) ([]Column, error) {
	known := Columns(k)
	if list == "" {
		return known, nil
	}
	var out []Column
	for name := range strings.SplitSeq(list, ",") {
		at := slices.IndexFunc(known, func(c Column) bool { return c.Name == name })
		if at < 0 {
			names := make([]string, len(known))
			for i, c := range known {
				names[i] = c.Name
			}
			return nil, fmt.Errorf("no field is called %q; write some of %s", name, strings.Join(names, ","))
		}
		out = append(out, known[at])
	}
	return out, nil
}

// AppendItem appends one item with the given columns as a JSON object.
func AppendItem(b []byte, i *projection.Item, cols []Column, c *Context) []byte {
	b = append(b, '{')
	for n := range cols {
		if n > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), cols[n].Name...), '"', ':')
		b = cols[n].add(b, i, c)
	}
	return append(b, '}')
}

// StateName returns the state for people and the API, PENDING for an object
// that was never checked.
func StateName(i *projection.Item) string {
	if !i.State.Status.Checked {
		return "PENDING"
	}
	return i.State.Status.State.Name(i.Object.Kind())
}

var columns = []Column{
	{"host", "string", "name of the host", func(b []byte, i *projection.Item, _ *Context) []byte {
		return AppendString(b, i.Object.HostObject().Name)
	}},
	{"service", "string", "name of the service", func(b []byte, i *projection.Item, _ *Context) []byte {
		return AppendString(b, i.Object.Name)
	}},
	{"state", "string", "OK, WARNING, CRITICAL, UNKNOWN, for hosts UP, DOWN, UNREACHABLE; PENDING before the first check", func(b []byte, i *projection.Item, _ *Context) []byte {
		return append(append(append(b, '"'), StateName(i)...), '"')
	}},
	{"state_type", "string", "soft while the problem is being retried, else hard", func(b []byte, i *projection.Item, _ *Context) []byte {
		return append(append(append(b, '"'), i.State.Status.Type.String()...), '"')
	}},
	{"attempt", "integer", "checks that saw the present problem, at most max_attempts; 0 before the first check", func(b []byte, i *projection.Item, _ *Context) []byte {
		if !i.State.Status.Checked {
			return append(b, '0')
		}
		return strconv.AppendInt(b, int64(i.State.Status.Attempt), 10)
	}},
	{"max_attempts", "integer", "checks until a problem is hard", func(b []byte, i *projection.Item, _ *Context) []byte {
		return strconv.AppendInt(b, int64(i.State.Status.MaxAttempts), 10)
	}},
	{"output", "string", "first line of the last output", func(b []byte, i *projection.Item, _ *Context) []byte {
		return AppendString(b, i.State.Measure.Output)
	}},
	{"long_output", "string", "further lines", func(b []byte, i *projection.Item, _ *Context) []byte {
		return AppendString(b, i.State.Measure.Long)
	}},
	{"perfdata", "string", "performance data as the check wrote it", func(b []byte, i *projection.Item, _ *Context) []byte {
		return AppendString(b, i.State.Measure.Perfdata)
	}},
	{"last_check", "time", "start of the last check", func(b []byte, i *projection.Item, _ *Context) []byte {
		return AppendTime(b, i.State.Measure.LastCheck)
	}},
	{"next_check", "time", "planned start of the next check", func(b []byte, i *projection.Item, c *Context) []byte {
		if c.Next != nil {
			return AppendTime(b, c.Next(i))
		}
		return AppendTime(b, i.State.Measure.NextCheck)
	}},
	{"last_state_change", "time", "last change of the state", func(b []byte, i *projection.Item, _ *Context) []byte {
		return AppendTime(b, i.State.Status.LastChange)
	}},
	{"last_hard_state_change", "time", "last change of the hard state", func(b []byte, i *projection.Item, _ *Context) []byte {
		return AppendTime(b, i.State.Status.LastHardChange)
	}},
	{"latency", "number", "seconds from due to started", func(b []byte, i *projection.Item, _ *Context) []byte {
		return AppendMicros(b, i.State.Measure.Latency)
	}},
	{"execution_time", "number", "seconds the last check took", func(b []byte, i *projection.Item, _ *Context) []byte {
		return AppendMicros(b, i.State.Measure.Took)
	}},
	{"acknowledged", "boolean", "somebody took care of the problem", func(b []byte, i *projection.Item, _ *Context) []byte {
		return strconv.AppendBool(b, i.State.Status.Ack != object.AckNone)
	}},
	{"downtime_depth", "integer", "running downtimes", func(b []byte, i *projection.Item, _ *Context) []byte {
		return strconv.AppendInt(b, int64(i.State.Status.DowntimeDepth), 10)
	}},
	{"flapping", "boolean", "the state changes too often", func(b []byte, i *projection.Item, _ *Context) []byte {
		return strconv.AppendBool(b, i.State.Status.Flapping)
	}},
	{"percent_state_change", "number", "weighted share of changes among the last 21 results, percent", func(b []byte, i *projection.Item, _ *Context) []byte {
		return appendFixed(b, int64(math.Round(fold.Percent(i.State.Measure.Ring)*100)), 2)
	}},
	{"labels", "map", "every label the object answers to", func(b []byte, i *projection.Item, c *Context) []byte {
		return c.labels.append(b, i.Object)
	}},
	{"groups", "list", "groups the object is in", func(b []byte, i *projection.Item, _ *Context) []byte {
		return appendList(b, i.Object.Groups)
	}},
	{"zone", "string", "where its checks run", func(b []byte, i *projection.Item, _ *Context) []byte {
		return AppendString(b, i.Object.Zone)
	}},
	{"owner", "string", "engine that may write the object; null if not known", func(b []byte, i *projection.Item, c *Context) []byte {
		if c.Owner == nil {
			return append(b, "null"...)
		}
		return AppendString(b, c.Owner(i.Object.ID))
	}},
	{"epoch", "integer", "newest epoch seen for the object", func(b []byte, i *projection.Item, _ *Context) []byte {
		return strconv.AppendUint(b, max(i.State.Fence, i.State.Measure.Epoch), 10)
	}},
	{"check_kind", "string", "how it is checked", func(b []byte, i *projection.Item, _ *Context) []byte {
		return AppendString(b, string(i.Object.Rule.Check.Kind))
	}},
}

func appendList(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendString(b, s)
	}
	return append(b, ']')
}
