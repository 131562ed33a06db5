package message

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// The kinds of item, as package notify names them.
const (
	problem         = string(notify.Problem)
	recovery        = string(notify.Recovery)
	acknowledgement = string(notify.Acknowledgement)
	flapStart       = string(notify.FlappingStart)
	flapStop        = string(notify.FlappingStop)
	flapDisabled    = string(notify.FlappingDisabled)
	downStart       = string(notify.DowntimeStart)
	downEnd         = string(notify.DowntimeEnd)
	downCancelled   = string(notify.DowntimeCancelled)
	custom          = string(notify.Custom)
	heartbeat       = string(notify.Heartbeat)
)

// entries makes one entry of all that happened to an object: the newest says how
// it is, an earlier problem that is over since is told with it.
func (m *Message) entries() []Entry {
	last := map[object.ID]int{} // index of the newest item
	hit := map[object.ID]*Item{}
	for i := range m.Items {
		it := &m.Items[i]
		if j, ok := last[it.ID]; !ok || it.Time >= m.Items[j].Time {
			last[it.ID] = i
		}
		if h := hit[it.ID]; it.Kind == problem && (h == nil || worse(it, h)) {
			hit[it.ID] = it
		}
	}
	base := m.base()
	all := make([]Entry, 0, len(last))
	for id, i := range last {
		it := &m.Items[i]
		e := m.entry(it)
		if h := hit[id]; h != nil && it.Kind == recovery {
			e.Brief = true
			e.Was = stateOf(h)
		}
		e.words(m)
		e.links(m, base)
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(first(b.id == m.Root, a.id == m.Root), cmp.Compare(b.rank, a.rank), a.oldest().Compare(b.oldest()), cmp.Compare(a.id, b.id))
	})
	return all
}

// first sorts what is true before what is not.
func first(b, a bool) int {
	switch {
	case a && !b:
		return -1
	case b && !a:
		return 1
	}
	return 0
}

// worse tells whether a problem is worse than another one of the same object.
func worse(a, b *Item) bool {
	return a.Status != nil && (b.Status == nil || severity(a.ID.Kind(), a.Status.State) >= severity(b.ID.Kind(), b.Status.State))
}

// severity sorts states of both kinds.
func severity(k object.Kind, s object.State) int {
	if k == object.Host {
		return [...]int{0, 3, 2, 2}[s&3]
	}
	return [...]int{0, 1, 3, 2}[s&3]
}

func (e *Entry) oldest() time.Time {
	if e.Since.IsZero() {
		return e.Time
	}
	return e.Since
}

// at brings a time into the zone of the message.
func (m *Message) at(t object.Time) time.Time {
	if t <= 0 {
		return time.Time{}
	}
	if m.Zone == nil {
		return t.Std()
	}
	return t.Std().In(m.Zone)
}

func stateOf(it *Item) string {
	if it.Status == nil || !it.Status.Checked && it.Status.State == object.OK {
		return "PENDING"
	}
	return it.Status.State.Name(it.ID.Kind())
}

// entry takes over the facts of an item.
func (m *Message) entry(it *Item) Entry {
	e := Entry{
		Kind: line(it.Kind, nameLimit), Object: line(string(it.ID), 2*nameLimit), id: it.ID,
		Host: line(it.ID.Host(), nameLimit), Service: line(it.ID.Service(), nameLimit),
		State: stateOf(it), Number: int(it.Number), Time: m.at(it.Time), Since: m.at(it.Since),
		Author: line(it.Author, nameLimit), Text: line(it.Text, commentSize),
		Policy: line(it.Policy, nameLimit), Steps: lines(it.Steps), Why: line(it.Why, nameLimit), Others: lines(it.Others),
	}
	e.Title = e.Host
	if e.Service != "" {
		e.Title = e.Service + " on " + e.Host
	}
	if it.Was != nil && it.Was.Checked && it.Status != nil && it.Was.State != it.Status.State {
		e.Was = it.Was.State.Name(it.ID.Kind())
	}
	if it.Kind == recovery && it.Since > 0 && it.Time > it.Since {
		e.Lasted = it.Time.Sub(it.Since)
	}
	if it.Measure != nil {
		e.Output = line(it.Measure.Output, lineLimit)
		e.Long, e.Omitted = block(it.Measure.Long, longLines, lineLimit)
	}
	e.described(it.Object)
	e.status(m, it.Status)
	if stateTone(e.State) == "ok" && it.Kind != recovery {
		e.Since = time.Time{} // of a problem that nobody asks for
	}
	return e
}

func lines(all []string) []string {
	clean := make([]string, 0, len(all))
	for _, s := range all {
		clean = append(clean, line(s, nameLimit))
	}
	return clean
}

// described takes over what the config says about the object.
func (e *Entry) described(o *object.Object) {
	if o == nil {
		return
	}
	if o.Alias != o.Name {
		e.Alias = line(o.Alias, nameLimit)
	}
	e.Address = line(o.HostObject().Address, nameLimit)
	e.Groups = lines(o.Groups)
	if o.Rule == nil {
		return
	}
	e.Notes = line(o.Rule.Notes, commentSize)
	labels := o.AllLabels()
	e.Labels = make(map[string]string, len(labels))
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		e.Labels[line(k, nameLimit)] = line(labels[k], nameLimit)
	}
}

// status takes over what is known beside the state.
func (e *Entry) status(m *Message, st *event.Status) {
	if st == nil {
		return
	}
	if st.Checked && st.MaxAttempts > 1 {
		e.Attempt = strconv.Itoa(int(st.Attempt)) + " of " + strconv.Itoa(int(st.MaxAttempts))
	}
	if st.Extra == nil {
		return
	}
	if st.Ack != 0 {
		e.AckBy, e.AckText = line(st.Extra.AckAuthor, nameLimit), line(st.Extra.AckText, commentSize)
		e.AckTime = m.at(st.Extra.AckTime)
	}
	for i := range st.Extra.Downtimes {
		d := &st.Extra.Downtimes[i]
		if until := m.at(d.Until()); d.Started != 0 && until.After(e.Downtime) {
			e.Downtime = until
		}
	}
}

// says names the state in a list.
func (e *Entry) says() string {
	if e.Kind == recovery {
		return e.State + " again"
	}
	return e.State
}

// counts counts entries by what they say of the state, the worst first.
func counts(all []Entry) []Count {
	var out []Count
	for i := range all {
		e := &all[i]
		state := e.says()
		at := slices.IndexFunc(out, func(c Count) bool { return c.State == state })
		if at < 0 {
			at = len(out)
			out = append(out, Count{State: state, Tone: stateTone(e.State)})
		}
		out[at].N++
	}
	slices.SortStableFunc(out, func(a, b Count) int {
		return cmp.Or(cmp.Compare(toneRank(b.Tone), toneRank(a.Tone)), strings.Compare(a.State, b.State))
	})
	return out
}
