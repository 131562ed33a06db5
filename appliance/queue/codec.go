package queue

import (
	"encoding/json"
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// Version is the newest form of items and results that this program writes and
// reads.
const Version = 1

// head is what every version of an item has, so that even an item from the
// future can be answered.
type head struct {
	Version int `json:"v"`
	// Need is the oldest version whose reader executes the item correctly: what
	// a newer writer adds without raising it may be left out.
	Need   int       `json:"need,omitempty"`
	ID     string    `json:"id"`
	Engine string    `json:"engine"`
	Object object.ID `json:"object"`
	Zone   string    `json:"zone"`
	Life   int64     `json:"life_ms"`
}

// wireItem is an item on the queue.
type wireItem struct {
	head
	Address    string       `json:"address,omitempty"`
	Check      wireCheck    `json:"check"`
	Timeout    int64        `json:"timeout_ms"`
	Env        []string     `json:"env,omitempty"`
	Due        object.Time  `json:"due,omitempty"`
	Sent       object.Time  `json:"sent"`
	Aggressive bool         `json:"aggressive,omitempty"`
	OnTimeout  object.State `json:"on_timeout"`
}

type wireCheck struct {
	Kind      object.CheckKind       `json:"kind"`
	Plugin    []string               `json:"plugin,omitempty"`
	Shell     string                 `json:"shell,omitempty"`
	HTTP      *object.HTTPCheck      `json:"http,omitempty"`
	TCP       *object.TCPCheck       `json:"tcp,omitempty"`
	ICMP      *object.ICMPCheck      `json:"icmp,omitempty"`
	DNS       *object.DNSCheck       `json:"dns,omitempty"`
	TLS       *object.TLSCheck       `json:"tls,omitempty"`
	Dummy     *object.DummyCheck     `json:"dummy,omitempty"`
	Aggregate *object.AggregateCheck `json:"aggregate,omitempty"`
}

// TooNew is the error of an item that a newer engine made and this program
// cannot execute.
type TooNew struct {
	Need int
}

// Error says which side to upgrade.
func (e *TooNew) Error() string {
	return fmt.Sprintf("work items of version %d are needed, this program understands up to %d; upgrade the worker", e.Need, Version)
}

func encodeItem(it *Item) ([]byte, error) {
	c := &it.Check
	data, err := json.Marshal(&wireItem{
		head: head{
			Version: Version, Need: Version, ID: it.ID, Engine: it.Engine, Object: it.Object, Zone: it.Zone, Life: it.Life.Milliseconds(),
		},
		Address: it.Address, Timeout: it.Timeout.Milliseconds(), Env: it.Env, Due: it.Due, Sent: it.Sent,
		Aggressive: it.AggressiveHostChecking, OnTimeout: it.TimeoutState,
		Check: wireCheck{
			Kind: c.Kind, Plugin: c.Plugin, Shell: c.Shell, HTTP: c.HTTP, TCP: c.TCP, ICMP: c.ICMP,
			DNS: c.DNS, TLS: c.TLS, Dummy: c.Dummy, Aggregate: c.Aggregate,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("encode work item of %s: %w", it.Object, err)
	}
	return data, nil
}

// decodeItem reads an item. With a *TooNew error the item holds what is needed
// to answer it; with any other it is nil.
func decodeItem(data []byte) (*Item, error) {
	var w wireItem
	failure := json.Unmarshal(data, &w)
	if failure != nil || w.Need > Version {
		// What is not understood may still have a head that is.
		w = wireItem{}
		if err := json.Unmarshal(data, &w.head); err != nil {
			return nil, fmt.Errorf("decode work item: %w", err)
		}
	}
	life, ok := duration(w.Life)
	if w.Version < 1 || w.ID == "" || w.Engine == "" || w.Object == "" || w.Zone == "" || !ok || life == 0 {
		return nil, fmt.Errorf("decode work item: version %d lacks an id, engine, object, zone or life", w.Version)
	}
	it := &Item{ID: w.ID, Engine: w.Engine, Object: w.Object, Zone: w.Zone, Life: life}
	switch {
	case w.Need > Version:
		return it, &TooNew{Need: w.Need}
	case failure != nil:
		return nil, fmt.Errorf("decode work item %s of %s: %w", w.ID, w.Object, failure)
	}
	if it.Timeout, ok = duration(w.Timeout); !ok {
		return nil, fmt.Errorf("decode work item %s of %s: a timeout of %d ms", w.ID, w.Object, w.Timeout)
	}
	c := &w.Check
	it.Address, it.Env, it.Due, it.Sent = w.Address, w.Env, w.Due, w.Sent
	it.AggressiveHostChecking, it.TimeoutState = w.Aggressive, w.OnTimeout
	it.Check = object.Check{
		Kind: c.Kind, Plugin: c.Plugin, Shell: c.Shell, HTTP: c.HTTP, TCP: c.TCP, ICMP: c.ICMP,
		DNS: c.DNS, TLS: c.TLS, Dummy: c.Dummy, Aggregate: c.Aggregate,
	}
	return it, nil
}

// longest is the longest duration that a message may name.
const longest = 30 * 24 * time.Hour

func duration(ms int64) (time.Duration, bool) {
	if ms < 0 || ms > longest.Milliseconds() {
		return 0, false
	}
	return time.Duration(ms) * time.Millisecond, true
}

// wireResult is what workers send to an engine: a result, or the news that a
// worker has begun an item that takes long.
type wireResult struct {
	Version  int          `json:"v"`
	ID       string       `json:"id"`
	Worker   string       `json:"worker"`
	Begun    bool         `json:"begun,omitempty"`
	State    object.State `json:"state,omitempty"`
	Output   string       `json:"output,omitempty"`
	Long     string       `json:"long,omitempty"`
	Perfdata string       `json:"perfdata,omitempty"`
	Start    object.Time  `json:"start,omitempty"`
	Latency  int64        `json:"latency_us,omitempty"`
	Took     int64        `json:"took_us,omitempty"`
}

// encodeResult encodes a result into at most limit bytes: of one that is longer
// the long output is cut, then the rest.
func encodeResult(r *Result, limit int) ([]byte, error) {
	w := wireResult{
		Version: Version, ID: r.ID, Worker: r.Worker, State: r.State, Output: r.Output, Long: r.Long,
		Perfdata: r.Perfdata, Start: r.Start, Latency: r.Latency, Took: r.Took,
	}
	for {
		data, err := json.Marshal(&w)
		if err != nil {
			return nil, fmt.Errorf("encode result of work %s: %w", r.ID, err)
		}
		if limit <= 0 || len(data) <= limit {
			return data, nil
		}
		switch {
		case w.Long != "":
			w.Long = cut(w.Long)
		case w.Perfdata != "":
			w.Perfdata = "" // half a list of values would be a wrong one
		case w.Output != "":
			w.Output = cut(w.Output)
		default:
			return nil, fmt.Errorf("encode result of work %s: it is %d bytes without any output, the log server takes %d", r.ID, len(data), limit)
		}
	}
}

// cut returns the first half of a text, without half a character.
func cut(s string) string {
	n := len(s) / 2
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// decodeResult reads what a worker sent. Fields of newer versions are ignored.
func decodeResult(data []byte) (r *Result, begun bool, err error) {
	var w wireResult
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, false, fmt.Errorf("decode result: %w", err)
	}
	if w.Version < 1 || w.ID == "" || w.State > object.Unknown || w.Took < 0 || w.Latency < 0 {
		return nil, false, fmt.Errorf("decode result of work %q: version %d with state %d, latency %d, took %d is none", w.ID, w.Version, w.State, w.Latency, w.Took)
	}
	return &Result{ID: w.ID, Worker: w.Worker, Result: fold.Result{
		State: w.State, Output: w.Output, Long: w.Long, Perfdata: w.Perfdata, Start: w.Start, Latency: w.Latency, Took: w.Took,
	}}, w.Begun, nil
}
