package main

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

const shortChecks = `
defaults: {interval: "10s", retry: "10s", attempts: 1, timeout: "30s"}
hosts: a: zone: "dmz"
services: fast: {hosts: ["a"], check: plugin: ["%s", "fast"]}
`

// unplugged is how long a killed worker may go unnoticed: two intervals of a check
// every ten seconds, which is also how often a zone is looked at, and as much again for a
// busy machine.
const unplugged = 40 * time.Second

// A zone whose only worker is killed becomes a problem, and so do its checks; both
// are over when a worker is back.
func TestAZoneThatIsUnpluggedBecomesAProblem(t *testing.T) {
	if testing.Short() {
		t.Log("a worker that is killed is missed after 10 s; -short leaves this out")
		return
	}
	t.Parallel()
	x := newSplit(t, shortChecks)
	x.startEngine()
	x.engine.until("/readyz", "ok")
	const zone, check = "/api/v1/services/jaque/zone%20dmz", "/api/v1/services/a/fast"
	says := func(path, text string) func() bool {
		return func() bool { _, body := x.engine.get(path); return strings.Contains(body, text) }
	}
	x.await("a zone that never had a worker is a problem", says(zone, "no worker serves zone dmz since"))
	victim := x.worker("dmz")
	x.await("the zone has a worker", says(zone, "1 worker, "))
	x.await("its check is executed", says(check, "run-"))
	x.await("the API lists it", says("/api/v1/workers?zone=dmz", `"deserted_since":null`))

	began := time.Now()
	victim.signal(syscall.SIGKILL)
	x.await("the zone is a problem", says(zone, "no worker serves zone dmz since"))
	seen := time.Since(began)
	x.await("its check says so", says(check, "no worker serves zone dmz"))
	if told := time.Since(began); told > unplugged {
		t.Errorf("the zone is a problem after %s, its check after %s", seen, told)
	} else {
		t.Logf("the zone is a problem after %s, its check after %s", seen.Round(time.Millisecond), told.Round(time.Millisecond))
	}

	next := x.worker("dmz")
	x.await("the zone recovers", says(zone, "1 worker, "))
	x.await("its check recovers", says(check, `"state":"OK"`))
	left := time.Now()
	next.signal(syscall.SIGTERM)
	x.await("a polite leave is seen", says(zone, "no worker serves zone dmz since"))
	if took := time.Since(left); took > unplugged/2 {
		t.Errorf("a worker that left is missed after %s", took)
	}
}
