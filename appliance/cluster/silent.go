package cluster

import (
	"fmt"
	"slices"
)

// nobodys says which objects are checked by nobody, because the engine that owns them is
// silent and may still live: that of a member which was killed a moment ago, or, after all
// members were stopped, that of one which was removed meanwhile. The others may take them
// over only after a whole -heartbeat-ttl.
func (r *Report) nobodys() []string {
	if r.Engines == nil {
		return nil
	}
	all := 0
	for _, e := range r.Engines.Members {
		all += e.Objects
	}
	var sentences []string
	for _, e := range r.Engines.Members {
		if !e.Live || e.Objects == 0 || e.Expires.IsZero() {
			continue
		}
		who := "engine " + e.ID
		if !r.Has(e.ID) {
			who += ", which is no member of the cluster,"
		}
		if !r.Quorum {
			sentences = append(sentences, fmt.Sprintf("%s is not heard: its %d of %d objects (%d %%) are nobody's, and nobody can take them over before there is a quorum",
				who, e.Objects, all, percent(e.Objects, all)))
			continue
		}
		sentences = append(sentences, fmt.Sprintf("%s is not heard: its %d of %d objects (%d %%) are nobody's until about %s, when the others take them over if it stays so",
			who, e.Objects, all, percent(e.Objects, all), e.Expires.Local().Format("15:04:05 MST")))
	}
	return sentences
}

// Has tells whether the cluster has a member of the id.
func (r *Report) Has(id string) bool {
	return slices.ContainsFunc(r.Members, func(m MemberReport) bool { return m.ID == id })
}

// percent is a part of a whole in full percent, at least 1 of what is something.
func percent(part, whole int) int { return max(part*100/max(whole, 1), min(part, 1)) }

// Outside are the engines that own objects and are no members of the cluster, by id: they
// reach its log from elsewhere, or were members and are not given up yet.
func (r *Report) Outside() []Engine {
	if r.Engines == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.Engines.Members), func(e Engine) bool { return !e.Live || r.Has(e.ID) })
}
