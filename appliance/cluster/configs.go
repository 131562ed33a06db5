package cluster

import (
	"fmt"
	"strings"
)

// differing says which engines work by which config, if they differ; "" = they do not.
func (e *Engines) differing() string {
	if e == nil {
		return ""
	}
	by := map[string][]string{} // ids by generation
	var order []string
	for _, m := range e.Members {
		if !m.Live || m.Generation == "" {
			continue
		}
		if len(by[m.Generation]) == 0 {
			order = append(order, m.Generation)
		}
		by[m.Generation] = append(by[m.Generation], m.ID)
	}
	if len(order) < 2 {
		return ""
	}
	var parts []string
	for _, g := range order {
		parts = append(parts, fmt.Sprintf("%s of %s", g[:min(len(g), 8)], strings.Join(by[g], ", ")))
	}
	return "the engines work by different configs: " + strings.Join(parts, "; ") +
		"; an object is not checked while the engine that owns it does not have it; bring the same config to each and reload it (SIGHUP)"
}
