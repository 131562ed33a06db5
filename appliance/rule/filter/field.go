package filter

import (
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// fields are the names that may be compared, in lower case; constant.
var fields = map[string]getter{
	"state": func(o *object.Object, s *fold.State, yield func(string) bool) bool {
		if !s.Status.Checked {
			return yield("PENDING")
		}
		return yield(s.Status.State.Name(o.Kind()))
	},
	"state_type": func(_ *object.Object, s *fold.State, yield func(string) bool) bool {
		return yield(s.Status.Type.String())
	},
	"host": func(o *object.Object, _ *fold.State, yield func(string) bool) bool {
		return yield(o.HostObject().Name)
	},
	"service": func(o *object.Object, _ *fold.State, yield func(string) bool) bool {
		return o.Kind() == object.Service && yield(o.Name)
	},
	"address": func(o *object.Object, _ *fold.State, yield func(string) bool) bool {
		return yield(o.HostObject().Address)
	},
	"group": func(o *object.Object, _ *fold.State, yield func(string) bool) bool {
		return each(o.Groups, yield) || (o.Host != nil && each(o.Host.Groups, yield))
	},
	"parent": func(o *object.Object, _ *fold.State, yield func(string) bool) bool {
		for _, p := range o.HostObject().Parents {
			if yield(p.Name) {
				return true
			}
		}
		return false
	},
	"zone": func(o *object.Object, _ *fold.State, yield func(string) bool) bool { return yield(o.Zone) },
	"check_kind": func(o *object.Object, _ *fold.State, yield func(string) bool) bool {
		return yield(string(o.Rule.Check.Kind))
	},
	"id": func(o *object.Object, _ *fold.State, yield func(string) bool) bool { return yield(string(o.ID)) },
	"kind": func(o *object.Object, _ *fold.State, yield func(string) bool) bool {
		return yield(o.Kind().String())
	},
	"root": func(_ *object.Object, s *fold.State, yield func(string) bool) bool {
		return s.Status.Root != "" && yield(string(s.Status.Root))
	},
	"disabled": func(o *object.Object, s *fold.State, yield func(string) bool) bool {
		for _, w := range switches {
			if !fold.Enabled(o, &s.Status, w.which) && yield(w.name) {
				return true
			}
		}
		return false
	},
	"setting": settings,
	"comment": comments,
	"comments": func(_ *object.Object, s *fold.State, yield func(string) bool) bool {
		return yield(count(s.Status.Extra, false))
	},
	"downtimes": func(_ *object.Object, s *fold.State, yield func(string) bool) bool {
		return yield(count(s.Status.Extra, true))
	},
	"output": func(_ *object.Object, s *fold.State, yield func(string) bool) bool {
		return yield(s.Measure.Output) || (s.Measure.Long != "" && yield(s.Measure.Long))
	},
}

// flags are the words that are conditions by themselves, in lower case;
// constant.
var flags = map[string]flag{
	"problem": {problem: true, test: func(_ *object.Object, s *fold.State, _ Look) bool { return problem(s) }},
	"unhandled": {problem: true, test: func(_ *object.Object, s *fold.State, _ Look) bool {
		return problem(s) && s.Status.Type == object.Hard && s.Status.Ack == object.AckNone && s.Status.DowntimeDepth == 0
	}},
	"pending":      {test: func(_ *object.Object, s *fold.State, _ Look) bool { return !s.Status.Checked }},
	"acknowledged": {test: func(_ *object.Object, s *fold.State, _ Look) bool { return s.Status.Ack != object.AckNone }},
	"downtime":     {test: func(_ *object.Object, s *fold.State, _ Look) bool { return s.Status.DowntimeDepth > 0 }},
	"in_downtime":  {test: inDowntime},
	"caused":       {problem: true, test: func(_ *object.Object, s *fold.State, _ Look) bool { return problem(s) && s.Status.Root != "" }},
	"overridden": {test: func(_ *object.Object, s *fold.State, _ Look) bool {
		return s.Status.Extra != nil && len(s.Status.Extra.Settings) > 0
	}},
	"flapping": {test: func(_ *object.Object, s *fold.State, _ Look) bool { return s.Status.Flapping }},
	"soft":     {test: func(_ *object.Object, s *fold.State, _ Look) bool { return s.Status.Type == object.Soft }},
	"hard":     {test: func(_ *object.Object, s *fold.State, _ Look) bool { return s.Status.Type == object.Hard }},
}

// inDowntime holds for an object in a downtime of its own or of its host.
func inDowntime(o *object.Object, s *fold.State, look Look) bool {
	if s.Status.DowntimeDepth > 0 || o.Host == nil || look == nil {
		return s.Status.DowntimeDepth > 0
	}
	host := look(o.Host.ID)
	return host != nil && host.Status.DowntimeDepth > 0
}

func problem(s *fold.State) bool { return s.Status.Checked && s.Status.State != object.OK }

func each(values []string, yield func(string) bool) bool {
	for _, v := range values {
		if yield(v) {
			return true
		}
	}
	return false
}

// labelOf yields the value of one label; an object without it has none, so
// that label.x!=y holds for it.
func labelOf(key string) getter {
	return func(o *object.Object, _ *fold.State, yield func(string) bool) bool {
		v, ok := o.Label(key)
		return ok && yield(v)
	}
}
