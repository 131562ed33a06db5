package explain

import (
	"fmt"
	"strings"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// condition says how the object is, in one sentence.
func (a *asking) condition() string {
	st := a.in.Status
	if !st.Checked {
		return "PENDING: no check has finished yet"
	}
	parts := []string{st.State.Name(a.o.Kind())}
	if st.State != object.OK {
		parts[0] += fmt.Sprintf(" (%s, attempt %d of %d)", strings.ToLower(st.Type.String()), st.Attempt, st.MaxAttempts)
	}
	if st.LastChange != 0 {
		parts[0] += " since " + stamp(st.LastChange)
	}
	if st.Root != "" {
		parts = append(parts, "explained by "+string(st.Root)+", which is down")
	}
	if st.Ack != object.AckNone {
		text := "acknowledged" + by(st)
		if st.AckExpires != 0 {
			text += " until " + stamp(st.AckExpires)
		}
		parts = append(parts, text)
	}
	parts = append(parts, plight("", st)...)
	if h := a.host; h != nil {
		if h.State != object.Up {
			parts = append(parts, "its host is "+h.State.Name(object.Host))
		}
		parts = append(parts, plight("its host ", h)...)
	}
	return strings.Join(append(parts, a.memory(st)...), "; ")
}

// plight says what beside the state matters of a status.
func plight(whose string, st *event.Status) (parts []string) {
	if st.DowntimeDepth > 0 {
		text := whose + "is in a downtime"
		if whose == "" {
			text = "in a downtime"
		}
		parts = append(parts, text)
	}
	if st.Flapping && whose == "" {
		parts = append(parts, "flapping")
	}
	return parts
}

// memory says what people know already.
func (a *asking) memory(st *event.Status) (parts []string) {
	f := &a.in.Fields
	switch {
	case st.State != object.OK && f.Number > 0:
		if vain, why := a.vain(); vain {
			return append(parts, fmt.Sprintf("tried to tell %s, last at %s, and every message was given up: %s", count(f.Number, "time"), stamp(f.Last), why))
		}
		parts = append(parts, fmt.Sprintf("told %s, last at %s", count(f.Number, "time"), stamp(f.Last)))
	case st.State == object.OK && f.Notified != 0:
		parts = append(parts, "people were told of the problem and not yet of the recovery")
	}
	return parts
}

func count(n int32, what string) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d %ss", n, what)
}
