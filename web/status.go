package web

import (
	"math"
	"net/http"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/web/wire"
)

// Canary is how the dead man's switch stands: a check whose every round goes the
// whole way from the schedule to the delivery.
type Canary struct {
	Enabled bool
	Every   time.Duration
	Last    time.Time // the last completed round; zero = none yet
	Hop     string    // at which the present round stopped; "" = nothing is overdue
	Reason  string    // why it stopped, "" if that is not known
}

// Delivery is how the delivery of notifications goes in this process.
type Delivery struct {
	Open     int       // requests without an outcome
	Due      int       // of them, those that wait for nothing but a sender
	InFlight int       // messages that are being sent
	Oldest   time.Time // event of the oldest open request; zero = none is open
	Channels []ChannelState
}

// ChannelState is how one kind of channel does.
type ChannelState struct {
	Name    string    // email, telegram, …
	Sent    time.Time // last success; zero = none known
	Failing time.Time // since when nothing but failures; zero = it works
	Reason  string    // of the last failure
	Open    int       // requests that wait for it
}

// statusAnswer is the answer of /api/v1/status.
type statusAnswer struct {
	Version  string      `json:"version"`
	Role     string      `json:"role"`
	EngineID string      `json:"engine_id"`
	Epoch    uint64      `json:"epoch"`
	Members  []string    `json:"members"`
	Engines  []engineOf  `json:"engines"`
	Started  wire.Time   `json:"started"`
	Log      logAnswer   `json:"log"`
	Counts   countAnswer `json:"counts"`
	Latency  Latency     `json:"check_latency"`
	Config   reload      `json:"config"`
	Trouble  []string    `json:"trouble"` // sentences on what is wrong with this process
	// Switches are those of the whole program that operators set against the
	// configuration.
	Switches []wire.ProgramSwitch `json:"switches"`
}

// engineOf is an engine in the answer. Its share is the part of all objects that it owns,
// from 0 to 1.
type engineOf struct {
	ID         string    `json:"id"`
	Live       bool      `json:"live"`
	Joined     wire.Time `json:"joined"`
	Gone       wire.Time `json:"gone"`
	Objects    int       `json:"objects"`
	Share      float64   `json:"share"`
	Generation string    `json:"generation"`
	Delivery   string    `json:"delivery"`
}

// enginesOf writes the engines for an answer.
func enginesOf(all []Engine, objects int) []engineOf {
	out := make([]engineOf, len(all))
	for i, e := range all {
		out[i] = engineOf{
			ID: e.ID, Live: e.Live, Joined: wire.Stamp(e.Joined), Gone: wire.Stamp(e.Gone),
			Objects: e.Objects, Generation: e.Generation, Delivery: e.Delivery,
		}
		if objects > 0 {
			out[i].Share = math.Round(1000*float64(e.Objects)/float64(objects)) / 1000
		}
	}
	return out
}

// logAnswer says how far the log was read. Age is in seconds since the newest
// event, null before the first.
type logAnswer struct {
	Seq     uint64    `json:"seq"`
	Results uint64    `json:"results_seq"`
	Newest  wire.Time `json:"newest"`
	Age     *float64  `json:"age"`
}

type countAnswer struct {
	Hosts        map[string]int `json:"hosts"`
	Services     map[string]int `json:"services"`
	Unhandled    unhandled      `json:"unhandled"`
	Flapping     int            `json:"flapping"`
	Acknowledged int            `json:"acknowledged"`
	InDowntime   int            `json:"in_downtime"`
}

type unhandled struct {
	Hosts    int `json:"hosts"`
	Services int `json:"services"`
}

type reload struct {
	Generation string    `json:"generation"`
	LastReload wire.Time `json:"last_reload"`
	Successful bool      `json:"last_reload_successful"`
	Problems   []string  `json:"problems"`
	Hosts      int       `json:"hosts"`
	Services   int       `json:"services"`
}

func (s *site) status(w http.ResponseWriter, r *http.Request) error {
	if err := parameters(r); err != nil {
		return err
	}
	st, set, at := s.Status(), s.Projection.Set(), s.Projection.Position()
	answer := statusAnswer{
		Version: st.Version, Role: st.Role, EngineID: st.EngineID, Epoch: max(st.Epoch, s.Projection.Epoch()),
		Members: append([]string{}, st.Members...), Engines: enginesOf(st.Engines, len(set.Objects)), Started: wire.Stamp(st.Started),
		Log:      logAnswer{Seq: at.Log, Results: at.Results, Newest: wire.Time(s.Projection.Newest())},
		Counts:   counts(s.Projection.Counts()),
		Switches: programSwitches(set, s.Projection.Program(), true),
		Latency:  st.Latency, Trouble: append([]string{}, s.Trouble()...),
		Config: reload{
			Generation: set.Generation, LastReload: wire.Stamp(st.Reload.At), Successful: st.Reload.OK,
			Problems: append([]string{}, st.Reload.Problems...), Hosts: len(set.Hosts), Services: len(set.Objects) - len(set.Hosts),
		},
	}
	if newest := s.Projection.Newest(); newest != 0 {
		age := s.Now().Sub(newest.Std()).Seconds()
		answer.Log.Age = &age
	}
	return s.json(w, r, answer)
}

func counts(c projection.Counts) countAnswer {
	a := countAnswer{
		Hosts:     map[string]int{"PENDING": c.PendingHosts},
		Services:  map[string]int{"PENDING": c.PendingServices},
		Unhandled: unhandled{Hosts: c.UnhandledHosts, Services: c.UnhandledServices},
		Flapping:  c.Flapping, Acknowledged: c.Acknowledged, InDowntime: c.InDowntime,
	}
	for state, n := range c.Hosts {
		a.Hosts[object.State(state).Name(object.Host)] = n
	}
	for state, n := range c.Services {
		a.Services[object.State(state).Name(object.Service)] = n
	}
	return a
}
