package probe

import (
	"errors"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

func ping(c object.ICMPCheck) object.Check { return object.Check{Kind: object.CheckICMP, ICMP: &c} }

// mayPing tells whether this machine lets us open a socket for ICMP.
func mayPing(t *testing.T) bool {
	t.Helper()
	s := &session{to: netip.MustParseAddr("127.0.0.1"), count: 1}
	if err := s.open(); err != nil {
		return false
	}
	s.close()
	return true
}

func TestICMP(t *testing.T) {
	r := open(t, Options{})
	if !mayPing(t) {
		expect(t, do(t, r, ping(object.ICMPCheck{})), object.Unknown, "ping_group_range", "CAP_NET_RAW")
		return
	}
	for _, c := range []struct {
		name  string
		check object.ICMPCheck
		state object.State
		parts []string
	}{
		{"the host's own address", object.ICMPCheck{}, object.OK, []string{"OK - 127.0.0.1 answers in 0.", " ms, 0% lost", "|rta=0.", "ms;;;0 pl=0%;;;0;100"}},
		{"thresholds that hold", object.ICMPCheck{Count: 2, WarnLoss: "20", CritLoss: "60", WarnRTT: "5000", CritRTT: "9000"}, object.OK, []string{"ms;5000;9000;0 pl=0%;20;60;0;100"}},
		{"a round trip above its threshold", object.ICMPCheck{Address: "127.0.0.1", WarnRTT: "0:0"}, object.Warning, nil},
		{"a name", object.ICMPCheck{Address: "localhost", Count: 1}, object.OK, []string{"localhost answers"}},
		{"a threshold that is none", object.ICMPCheck{WarnLoss: "much"}, object.Unknown, []string{"threshold of lost packets"}},
		{"a name nobody knows", object.ICMPCheck{Address: "nonesuch.invalid"}, object.Critical, []string{"nonesuch.invalid"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, do(t, r, ping(c.check)), c.state, c.parts...)
		})
	}
	bare := &object.Object{ID: "bare", Name: "bare", Rule: &object.Rule{}}
	got := r.Do(t.Context(), Request{Object: bare, Check: ping(object.ICMPCheck{}), Timeout: time.Second})
	if got.State != object.Down || got.Output != "UNKNOWN - the host has no address to ping; set its address" {
		t.Errorf("got %+v", got)
	}
}

func TestPingSessionsAreJudged(t *testing.T) {
	limit := func(warn, crit string) *limits {
		l, err := parseLimits("it", warn, crit)
		if err != nil {
			t.Fatal(err)
		}
		return &l
	}
	for _, c := range []struct {
		name       string
		s          session
		loss, rtt  *limits
		state      object.State
		text, perf string
	}{
		{
			"all lost without thresholds",
			session{count: 3},
			limit("", ""), limit("", ""), object.Critical,
			"CRITICAL - h does not answer, 3 of 3 packets lost", "pl=100%;;;0;100",
		},
		{
			"one of three lost",
			session{count: 3, received: 2, sum: 4 * time.Millisecond},
			limit("20", "60"), limit("", ""), object.Warning,
			"WARNING - h answers in 2.000 ms, 33.3% lost", "rta=2.000ms;;;0 pl=33.3%;20;60;0;100",
		},
		{
			"the worse of both counts",
			session{count: 2, received: 1, sum: time.Millisecond},
			limit("20", ""), limit("", "0.5"), object.Critical,
			"CRITICAL - h answers in 1.000 ms, 50% lost", "rta=1.000ms;;0.5;0 pl=50%;20;;0;100",
		},
	} {
		if a := c.s.judge("h", c.loss, c.rtt); a.state != c.state || a.output != c.text || a.perfdata != c.perf {
			t.Errorf("%s: got %+v", c.name, a)
		}
	}
}

func TestLimitsOfThisMachineAreNotTheTargets(t *testing.T) {
	req := &Request{Object: testSvc, Timeout: time.Second, Settings: &object.Settings{}}
	a := failure(t.Context(), req, "ping h", errors.Join(syscall.EMFILE))
	if a.state != object.Unknown || a.outcome != failed {
		t.Errorf("got %+v", a)
	}
}
