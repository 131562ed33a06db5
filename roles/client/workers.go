package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fleet is who executes checks, and for which zones.
type fleet struct {
	Items   []worker `json:"items"`
	Zones   []zone   `json:"zones"`
	Trouble string   `json:"trouble"`
}

type worker struct {
	ID           string   `json:"id"`
	Zones        []string `json:"zones"`
	Version      string   `json:"version"`
	OtherVersion bool     `json:"other_version"`
	TooOld       bool     `json:"too_old"`
	Capacity     int      `json:"capacity"`
	Busy         int      `json:"busy"`
	LastSeen     string   `json:"last_seen"`
}

type zone struct {
	Zone     string `json:"zone"`
	Workers  int    `json:"workers"`
	Capacity int    `json:"capacity"`
	Busy     int    `json:"busy"`
	Waiting  int    `json:"waiting"`
	Oldest   string `json:"oldest_waiting"`
	Deserted string `json:"deserted_since"`
	Old      bool   `json:"old"` // it is what an engine last saw
}

func workerCommands() []command {
	return []command{{
		name: "workers", usage: "[-zone ZONE]",
		summary: "list the zones and the workers that serve them",
		text: `Lists the zones of workers, those that nobody serves first, and the workers that
live: what each may run at once, what it runs, and when it last said so. An engine
and a ui know them. The exit status is 1 while a zone has no worker.
`,
		options: []option{{name: "zone", arg: "ZONE", help: "only this zone and its workers"}},
		run:     runWorkers,
	}}
}

func runWorkers(ctx context.Context, c *call) error {
	if len(c.words) > 0 {
		return usagef("%q is too much; name a zone with -zone", c.words[0])
	}
	path := "/workers"
	if c.has("zone") {
		path += "?" + url.Values{"zone": {c.text("zone")}}.Encode()
	}
	a, err := c.api.ask(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	if a.status != http.StatusOK {
		return c.problem(a)
	}
	var f fleet
	if err := json.Unmarshal(a.body, &f); err != nil {
		return fmt.Errorf("read the workers: %w", err)
	}
	if c.text("o") == "json" {
		if _, err := c.Stdout.Write(a.body); err != nil {
			return err
		}
	} else if err := c.showFleet(&f); err != nil {
		return err
	}
	if f.Trouble != "" {
		return &fault{Failed, f.Trouble}
	}
	if n := deserted(&f); len(n) > 0 {
		return &fault{Failed, "no worker serves " + strings.Join(n, ", ")}
	}
	return nil
}

// deserted returns the zones that nobody serves.
func deserted(f *fleet) (names []string) {
	for _, z := range f.Zones {
		if z.Deserted != "" && !z.Old {
			names = append(names, z.Zone)
		}
	}
	return names
}

// showFleet shows the zones, those with trouble first, and below them the workers.
func (c *call) showFleet(f *fleet) error {
	slices.SortStableFunc(f.Zones, func(a, b zone) int { return strings.Compare(served(a), served(b)) })
	zones := table{head: []string{"ZONE", "STATE", "WORKERS", "BUSY", "WAITING", "OLDEST", "DESERTED SINCE"}}
	for _, z := range f.Zones {
		zones.add(z.Zone, served(z), strconv.Itoa(z.Workers), share(z.Busy, z.Capacity), strconv.Itoa(z.Waiting), c.age(z.Oldest), c.clock().at(z.Deserted))
	}
	if err := zones.write(c.Stdout); err != nil {
		return err
	}
	if len(f.Zones) > 0 && len(f.Items) > 0 {
		fmt.Fprintln(c.Stdout)
	}
	workers := table{head: []string{"WORKER", "ZONES", "BUSY", "VERSION", "SEEN BEFORE", "REMARK"}}
	for _, w := range f.Items {
		remark := ""
		switch {
		case w.TooOld:
			remark = "too old: does not understand the checks of this version"
		case w.OtherVersion:
			remark = "other version"
		}
		workers.add(w.ID, strings.Join(w.Zones, ","), share(w.Busy, w.Capacity), w.Version, c.age(w.LastSeen), remark)
	}
	return workers.write(c.Stdout)
}

// served says whether a zone has a worker.
func served(z zone) string {
	switch {
	case z.Old:
		return "not known"
	case z.Deserted != "":
		return "no worker"
	}
	return "served"
}

func share(busy, capacity int) string { return fmt.Sprintf("%d of %d", busy, capacity) }

// age is how long ago a time of the API was, to the second; "" for never.
func (c *call) age(at string) string {
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return ""
	}
	return max(c.Now().Sub(t), 0).Truncate(time.Second).String()
}
