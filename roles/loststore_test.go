package roles

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// S131, S134: an engine whose heartbeats fail for a whole TTL ends with an error, and no
// health check is answered with 200 any more once it is too late for its heartbeat.
func TestAnEngineWithoutHeartbeatsEnds(t *testing.T) {
	const ttl = 2 * time.Second
	log, store := freshServer(t), freshServer(t)
	w := newWire(t, store.ClientURL())
	s := exitSettings(t, fmt.Sprintf("-config %s -listen 127.0.0.1:0 -eventlog %s -coordination %s -heartbeat-ttl %s -engine-id a",
		folder(t, shop), log.ClientURL(), w.url(), ttl))
	address, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- Run(t.Context(), s, Process{Logger: quiet(), Stdout: io.Discard, Version: "test", Started: func(a string) { address <- a }})
	}()
	x := &started{t: t}
	select {
	case a := <-address:
		x.url = "http://" + a
	case err := <-done:
		t.Fatalf("it did not start: %v", err)
	}
	x.until("/readyz", "ok")
	w.hang(true)
	cut := time.Now()
	for {
		select {
		case err := <-done:
			took := time.Since(cut)
			if err == nil || !strings.Contains(err.Error(), "membership") {
				t.Errorf("it ended with %v", err)
			}
			if ExitCode(err) == 0 || took > ttl+10*time.Second {
				t.Errorf("it ended with status %d after %s", ExitCode(err), took)
			}
			t.Logf("it ended after %s: %v", took.Round(time.Millisecond), err)
			return
		case <-time.After(20 * time.Millisecond):
		}
		if time.Since(cut) < ttl+500*time.Millisecond {
			continue
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, x.url+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := http.DefaultClient.Do(req); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				t.Errorf("%s answers 200 %s after the store was cut off", "/healthz", time.Since(cut).Round(time.Millisecond))
			}
		}
		stop()
	}
}
