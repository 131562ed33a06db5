package delivery

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/channel"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/probe"
	"jaque.sh/jaque/appliance/rule/macro"
	"jaque.sh/jaque/appliance/rule/message"
)

// receiver notes how each message was marked; the first ends as the test wants.
type receiver struct {
	first string // "lost", "hangs", "refused" or "away"

	mu    sync.Mutex
	marks []string
}

// note keeps a mark and tells whether it is the first.
func (r *receiver) note(mark string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.marks = append(r.marks, mark)
	return len(r.marks) == 1
}

func (r *receiver) got() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.marks)
}

// webhook returns the real channel to the receiver.
func (r *receiver) webhook(t *testing.T) channel.Channel {
	dial := func(context.Context, string, string) (net.Conn, error) {
		if r.first == "away" && len(r.got()) == 0 {
			r.note("")
			return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
		}
		here, there := net.Pipe()
		go func() {
			defer there.Close()
			req, err := http.ReadRequest(bufio.NewReader(there))
			if err != nil {
				return
			}
			first, answer := r.note(req.Header.Get(channel.HeaderRepeat)), "204 No Content"
			switch {
			case first && r.first == "lost":
				return
			case first && r.first == "hangs":
				_, _ = io.Copy(io.Discard, there) // until the client goes
				return
			case first && r.first == "refused":
				answer = "503 Service Unavailable"
			}
			_, _ = there.Write([]byte("HTTP/1.1 " + answer + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
		}()
		return here, nil
	}
	w, err := channel.NewWebhook(channel.WebhookOptions{
		URL: "http://hooks.example.com/in", Client: &http.Client{Transport: &http.Transport{DialContext: dial}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// command returns the real channel over a command that ends as a runner says.
func (r *receiver) command(t *testing.T) channel.Channel {
	c, err := channel.NewCommand(channel.CommandOptions{
		Handler: &object.Handler{Plugin: []string{"notify"}},
		Source:  func(*message.Message, *message.Item) *macro.Source { return &macro.Source{} },
		Run: func(ctx context.Context, c *probe.Command) probe.Ran {
			first := r.note(strings.TrimPrefix(c.Env[1], "JAQUE_REPEAT="))
			switch {
			case first && r.first == "lost":
				return probe.Ran{Exit: -1, TimedOut: true, Problem: "killed after 30s"}
			case first && r.first == "hangs":
				<-ctx.Done()
				return probe.Ran{Exit: -1, NotRun: true, Problem: "killed: jaque is stopping"}
			case first && r.first == "away":
				return probe.Ran{Exit: -1, NotRun: true, Problem: "there is no notify"}
			case first && r.first == "refused":
				return probe.Ran{Exit: 2, Output: "no route"}
			}
			return probe.Ran{}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestWhatMayHaveArrivedIsMarkedTheNextTime loses answers of the real channels.
func TestWhatMayHaveArrivedIsMarkedTheNextTime(t *testing.T) {
	for first, want := range map[string]string{"lost": "true", "hangs": "true", "refused": "false", "away": "false"} {
		for name, make := range map[string]func(*receiver, *testing.T) channel.Channel{"webhook": (*receiver).webhook, "command": (*receiver).command} {
			t.Run(name+" "+first, func(t *testing.T) {
				in(t, func(t *testing.T, w *world) {
					r := &receiver{first: first}
					way := make(r, t)
					p := w.start(t, func(_ *process, o *Options) {
						o.Resolve = func(string, string) (channel.Channel, error) { return way, nil }
					})
					w.ask("web01", "PROBLEM", none, "email", "alice")
					pass(10 * time.Minute)
					if got := r.got(); len(got) != 2 || got[1] != want || got[0] == "true" {
						t.Errorf("marks %q, want the second to be %s", got, want)
					}
					done, failed := w.of(event.NotificationDelivered), w.of(event.NotificationFailed)
					if len(done) != 1 || len(failed) != 1 || done[0].Facts[event.FactRepeat] != map[string]string{"true": "true"}[want] {
						t.Errorf("failed %+v, delivered %+v", failed, done)
					}
					p.stop()
				})
			})
		}
	}
}
