package roles

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// workedBy is one config and the engines that live and work by it.
type workedBy struct {
	generation string
	ids        []string
	loaded     time.Time // when the last of them said so
}

// configs returns by which configs the engines that live work, the one that was loaded last
// behind the others, and when any of them was loaded last.
func (x *engines) configs() (all []workedBy, changed time.Time) {
	for _, n := range x.live() {
		if n.Generation == "" {
			continue
		}
		i := slices.IndexFunc(all, func(w workedBy) bool { return w.generation == n.Generation })
		if i < 0 {
			i = len(all)
			all = append(all, workedBy{generation: n.Generation})
		}
		all[i].ids = append(all[i].ids, n.ID)
		if n.loaded.After(all[i].loaded) {
			all[i].loaded = n.loaded
		}
		if n.loaded.After(changed) {
			changed = n.loaded
		}
	}
	slices.SortStableFunc(all, func(a, b workedBy) int { return a.loaded.Compare(b.loaded) })
	return all, changed
}

// outdates says that a process that reads its config at the start alone, and works by a
// generation of it, shows other objects than those that the engines check.
func (x *engines) outdates(mine string, now time.Time) []string {
	all, changed := x.configs()
	if len(all) == 0 || now.Sub(changed) < reloadGrace || slices.ContainsFunc(all, func(w workedBy) bool { return w.generation == mine }) {
		return nil
	}
	newest := all[len(all)-1]
	return []string{fmt.Sprintf("This process was started with generation %s of the config, and the engines work by %s, read at %s: what was added since is not shown here, and what was removed still is. Start it again with the engines' config.",
		abbreviated(mine), abbreviated(newest.generation), clock(newest.loaded, now))}
}

// configWarner tells the log when engines work by different configs, once for each change:
// who has which, and since when.
type configWarner struct {
	engines *engines
	log     *slog.Logger
	told    string // which configs it told of; "" = that they are the same
}

// look tells what is new, and returns when to look again although nothing changes; zero =
// never. A reload of all engines takes a while, in which they differ and nothing is said.
func (w *configWarner) look(now time.Time) (again time.Time) {
	all, changed := w.engines.configs()
	if len(all) < 2 {
		if w.told != "" && len(all) == 1 {
			w.log.Info("the engines work by the same config again", "generation", abbreviated(all[0].generation), "engines", strings.Join(all[0].ids, ", "))
			w.told = ""
		}
		return time.Time{}
	}
	var parts []string
	for _, c := range all {
		parts = append(parts, fmt.Sprintf("generation %s, read %s, at %s", abbreviated(c.generation), c.loaded.UTC().Format(time.RFC3339), strings.Join(c.ids, ", ")))
	}
	switch text := strings.Join(parts, "; "); {
	case text == w.told:
		return time.Time{}
	case now.Sub(changed) < reloadGrace:
		return changed.Add(reloadGrace)
	default:
		w.told = text
		w.log.Warn("the engines work by different configs: an object is not checked while the engine that owns it does not have it; "+
			"bring the same config to each and reload it (SIGHUP)", "configs", text)
	}
	return time.Time{}
}

// run looks whenever an engine says something, until ctx ends.
func (w *configWarner) run(ctx context.Context) {
	changed := make(chan struct{}, 1)
	w.engines.watch(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	for {
		var late <-chan time.Time
		if again := w.look(time.Now()); !again.IsZero() {
			late = time.After(time.Until(again))
		}
		select {
		case <-changed:
		case <-late:
		case <-ctx.Done():
			return
		}
	}
}

// configsMetric shows by how many configs the engines work.
func configsMetric(x *engines) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "jaque_engine_configs",
		Help: "Different configs by which the engines that live work, as the log tells; above 1 they differ, which a reload of all takes a moment to end.",
	}, func() float64 {
		all, _ := x.configs()
		return float64(len(all))
	})
}
