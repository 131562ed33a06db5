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
	"output": func(_ *object.Object, s *fold.State, yield func(string) bool) bool {
		return yield(s.Measure.Output) || (s.Measure.Long != "" && yield(s.Measure.Long))
	},
}

// flags are the words that are conditions by themselves, in lower case;
// constant.
var flags = map[string]flag{
	"problem": {problem: true, test: func(_ *object.Object, s *fold.State) bool { return problem(s) }},
	"unhandled": {problem: true, test: func(_ *object.Object, s *fold.State) bool {
		return problem(s) && s.Status.Type == object.Hard && s.Status.Ack == object.AckNone && s.Status.DowntimeDepth == 0
	}},
	"pending":      {test: func(_ *object.Object, s *fold.State) bool { return !s.Status.Checked }},
	"acknowledged": {test: func(_ *object.Object, s *fold.State) bool { return s.Status.Ack != object.AckNone }},
	"downtime":     {test: func(_ *object.Object, s *fold.State) bool { return s.Status.DowntimeDepth > 0 }},
	"flapping":     {test: func(_ *object.Object, s *fold.State) bool { return s.Status.Flapping }},
	"soft":         {test: func(_ *object.Object, s *fold.State) bool { return s.Status.Type == object.Soft }},
	"hard":         {test: func(_ *object.Object, s *fold.State) bool { return s.Status.Type == object.Hard }},
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
