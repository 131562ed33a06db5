package channel_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/message"
)

// start is when everything in these tests begins.
var start = object.At(time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC))

// problem is a message about a service whose output holds everything that means
// something in some format.
func problem() *message.Message {
	web := &object.Object{ID: "web1", Name: "web1", Alias: "Shop", Address: "192.0.2.10", Rule: &object.Rule{}}
	http := &object.Object{
		ID: "web1!http", Name: "http", Host: web, Rule: &object.Rule{Labels: map[string]string{"env": "prod"}},
	}
	return &message.Message{
		ID: "m-1", Thread: "t-1", Contact: &object.Contact{Name: "ann", Alias: "Ann", Email: "ann@example.com"}, Channel: "webhook",
		Items: []message.Item{{
			ID: http.ID, Object: http, Kind: "PROBLEM", Number: 2, Time: start, Since: start.Add(-time.Hour),
			Status:  &event.Status{State: object.Critical, Type: object.Hard, Checked: true, Attempt: 3, MaxAttempts: 3, NotificationNumber: 2},
			Measure: &event.Measure{State: object.Critical, Output: `"x" <b> & 'y' $(id) \ end`, Long: "second\nthird", Perfdata: "time=1s"},
			Was:     &event.Was{State: object.OK, Type: object.Hard, Attempt: 1, Checked: true}, Policy: "shop", Steps: []string{"second line"}, Others: []string{"bob"},
		}},
		URL: "https://jaque.example", Version: "1.2.3", Now: start,
	}
}

// test is a message that somebody sends to try a channel.
func test() *message.Message {
	return &message.Message{ID: "m-2", Thread: "t-2", Contact: &object.Contact{Name: "ann"}, Channel: "webhook", Test: true, Now: start}
}

// serve starts a server that answers with h and counts what it was asked.
func serve(t *testing.T, h http.HandlerFunc) (address string, asked func() int) {
	t.Helper()
	calls := make(chan struct{}, 1000)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls <- struct{}{}
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() int { return len(calls) }
}

// say answers every request in the same way.
func say(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body)) // a client that has seen enough hangs up
	}
}
