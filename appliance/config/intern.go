package config

import (
	"sort"
	"strings"
)

// interner keeps one copy of every text and label map of a generation, cut
// loose from the file it came from. It lives as long as one Load.
type interner struct {
	texts map[string]string
	maps  map[string]map[string]string
	lists map[string][]string
}

// newInterner starts without any text.
func newInterner() interner {
	return interner{texts: map[string]string{}, maps: map[string]map[string]string{}, lists: map[string][]string{}}
}

// get returns the one copy of a text. The copy shares no memory with the text given.
func (in *interner) get(s string) string {
	if s == "" {
		return ""
	}
	if known, ok := in.texts[s]; ok {
		return known
	}
	s = strings.Clone(s)
	in.texts[s] = s
	return s
}

// table returns the one map with these contents. Nobody may change it.
func (in *interner) table(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	var b strings.Builder
	for _, k := range keys {
		b.WriteString(k)
		b.WriteByte(0)
		b.WriteString(m[k])
		b.WriteByte(0)
	}
	if known, ok := in.maps[b.String()]; ok {
		return known
	}
	in.maps[b.String()] = m
	return m
}

// list returns the one sorted list with these names, each once.
func (in *interner) list(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	sort.Strings(names)
	key := strings.Join(names, "\x00")
	if known, ok := in.lists[key]; ok {
		return known
	}
	out := names[:0:0]
	for i, n := range names {
		if i == 0 || n != names[i-1] {
			out = append(out, n)
		}
	}
	in.lists[key] = out
	return out
}
