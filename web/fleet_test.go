package web

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"jaque.sh/jaque/web/sample"
)

// staffed is a site whose checks workers execute, not all of them well.
func staffed() Options {
	o := options(sample.Office())
	at := func(ago time.Duration) time.Time { return sample.Now.Add(-ago) }
	version := o.Status().Version
	o.Fleet = func() *Fleet {
		return &Fleet{
			Workers: []FleetWorker{
				{ID: "berlin-4xk2p", Version: version, Zones: []string{"default", "lab"}, Capacity: 256, Busy: 31, Seen: at(time.Second)},
				{ID: "munich-<1>", Version: "0.0.9", Zones: []string{"default"}, Capacity: 256, Busy: 256, Seen: at(2 * time.Second), TooOld: true},
			},
			Zones: []FleetZone{
				{Name: "default", Workers: 2, Capacity: 512, Busy: 287, Waiting: 3, Oldest: at(12 * time.Second)},
				{Name: "dmz <b>", Deserted: at(4 * time.Minute), Waiting: 40, Oldest: at(50 * time.Second)},
				{Name: "lab", Workers: 1, Capacity: 256, Busy: 31},
			},
		}
	}
	return o
}

func TestWorkersAreListed(t *testing.T) {
	srv := serve(t, staffed())
	resp, body := ask(t, http.MethodGet, srv.URL+"/api/v1/workers", "")
	var got struct {
		Items []map[string]any `json:"items"`
		Zones []map[string]any `json:"zones"`
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v: %s", resp.Status, err, body)
	}
	if len(got.Items) != 2 || len(got.Zones) != 3 {
		t.Fatalf("got %s", body)
	}
	w, z := got.Items[1], got.Zones[1]
	if w["id"] != "munich-<1>" || w["other_version"] != true || w["too_old"] != true || w["capacity"] != 256.0 || w["last_seen"] != "2026-03-01T11:59:58.000Z" {
		t.Errorf("worker %v", w)
	}
	if z["zone"] != "dmz <b>" || z["workers"] != 0.0 || z["waiting"] != 40.0 || z["deserted_since"] != "2026-03-01T11:56:00.000Z" || z["oldest_waiting"] != "2026-03-01T11:59:10.000Z" {
		t.Errorf("zone %v", z)
	}
	if first := got.Items[0]; first["other_version"] != false || got.Zones[0]["deserted_since"] != nil {
		t.Errorf("the first worker %v, zone %v", first, got.Zones[0])
	}
}

func TestWorkersOfOneZone(t *testing.T) {
	srv := serve(t, staffed())
	for _, tt := range []struct {
		name, path string
		status     int
		has, not   string
	}{
		{"its workers", "/api/v1/workers?zone=lab", 200, "berlin-4xk2p", "munich"},
		{"a zone nobody serves", "/api/v1/workers?zone=dmz+%3Cb%3E", 200, `"items":[]`, "berlin"},
		{"a zone that does not exist", "/api/v1/workers?zone=la", 404, `"known":["default"`, "berlin"},
		{"a parameter that does not exist", "/api/v1/workers?zones=lab", 400, "zones", "berlin"},
		{"the page of a zone", "/workers?zone=lab", 200, "<bdi>lab</bdi>", "munich"},
		{"the page of a zone that does not exist", "/workers?zone=x", 404, "there is no zone", "munich"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp, body := ask(t, http.MethodGet, srv.URL+tt.path, "")
			if resp.StatusCode != tt.status || !strings.Contains(body, tt.has) || strings.Contains(body, tt.not) {
				t.Errorf("%s: %s", resp.Status, body)
			}
		})
	}
}

func TestThePageOfWorkers(t *testing.T) {
	srv := serve(t, staffed())
	structure(t, "workers", srv.URL+"/workers")
	_, home := ask(t, http.MethodGet, srv.URL+"/", "")
	if !strings.Contains(home, `href="/workers"`) {
		t.Error("the navigation does not lead there")
	}
}

func TestWithoutWorkersThereIsNoPageOfThem(t *testing.T) {
	empty := options(sample.Office())
	empty.Fleet = func() *Fleet { return nil }
	for name, o := range map[string]Options{"a process that hears none": options(sample.Office()), "while there are none": empty} {
		t.Run(name, func(t *testing.T) {
			srv := serve(t, o)
			for _, path := range []string{"/workers", "/api/v1/workers"} {
				if resp, body := ask(t, http.MethodGet, srv.URL+path, ""); resp.StatusCode != http.StatusNotFound || !strings.Contains(body, "-target engine") {
					t.Errorf("%s: %s %s", path, resp.Status, body)
				}
			}
			if _, home := ask(t, http.MethodGet, srv.URL+"/", ""); strings.Contains(home, `href="/workers"`) {
				t.Error("the navigation leads there")
			}
		})
	}
}

func TestWorkersOnEveryScreen(t *testing.T) {
	if testing.Short() {
		t.Log("a browser takes its time; -short leaves it out")
		return
	}
	ctx := browser(t)
	if ctx == nil {
		return
	}
	o := staffed()
	few := o.Fleet()
	for n := range 3 {
		name := strings.Repeat("very-long-name-", 8) + strconv.Itoa(n)
		few.Zones = append(few.Zones, FleetZone{Name: name, Workers: 1, Capacity: 8, Deserted: few.Zones[1].Deserted})
		few.Workers = append(few.Workers, FleetWorker{ID: name, Zones: []string{name, "default"}, Version: "1.0.0-pre+" + name[:30], Capacity: 8})
	}
	long := staffed()
	long.Fleet = func() *Fleet { return few }
	for name, one := range map[string]Options{"workers": o, "workers-long": long} {
		srv := serve(t, one)
		for _, size := range [][2]int64{{360, 740}, {1280, 900}} {
			for _, theme := range []string{"light", "dark"} {
				if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
					Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}},
				}); err != nil {
					t.Fatal(err)
				}
				err := chromedp.Do(ctx, chromedp.EmulateViewport(size[0], size[1]), chromedp.Navigate(srv.URL+"/workers"), chromedp.WaitReady(chromedp.CSS("#main")))
				if err != nil {
					t.Fatal(err)
				}
				if wide := run(t, ctx, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); wide > size[0] {
					t.Errorf("%s at %d: %d pixels wide", name, size[0], wide)
				}
				if shots := os.Getenv("JAQUE_SHOTS"); shots != "" {
					file := filepath.Join(shots, name+"-"+strconv.FormatInt(size[0], 10)+"-"+theme+".png")
					if err := os.WriteFile(file, run(t, ctx, chromedp.FullScreenshot(100)), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}
