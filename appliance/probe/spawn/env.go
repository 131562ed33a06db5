package spawn

import "strings"

// mergeEnv puts extra on top of base; a name in extra replaces the one in base.
func mergeEnv(base, extra []string) []string {
	if len(extra) == 0 {
		return base
	}
	names := make(map[string]bool, len(extra))
	for _, kv := range extra {
		names[envName(kv)] = true
	}
	merged := make([]string, 0, len(base)+len(extra))
	for _, kv := range base {
		if !names[envName(kv)] {
			merged = append(merged, kv)
		}
	}
	return append(merged, extra...)
}

func envName(kv string) string {
	name, _, _ := strings.Cut(kv, "=")
	return name
}
