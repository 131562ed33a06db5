package coordination

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/rule/membership"
)

// A bucket that somebody removed is no lack of heartbeats, and one that was never made is
// not waited for without end.
func TestABucketThatIsNotThereIsSaid(t *testing.T) {
	fleet(t, func(t *testing.T, b *bus.Bus, _ keys) {
		made := func() *JetStream {
			s, err := OpenJetStream(b.Conn(), Options{Bucket: b.Names().Members, Path: Engines, TTL: testTTL, Registerer: prometheus.NewRegistry()})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		me := membership.Member{ID: "a", Instance: "1"}
		s := made()
		if _, err := s.Register(t.Context(), me, 0); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { ended <- s.Run(ctx, func() {}) }()
		time.Sleep(time.Second)
		if err := b.JetStream().DeleteStream(t.Context(), "KV_"+b.Names().Members); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			if !errors.Is(err, ErrStoreLost) || !strings.Contains(err.Error(), "is not on the server any more") {
				t.Errorf("it ends with %v", err)
			}
		case <-time.After(3 * testTTL):
			t.Error("it lives on without a bucket")
		}
		began := time.Now()
		_, err := made().Register(t.Context(), me, 0)
		if took := time.Since(began); err == nil || !strings.Contains(err.Error(), "see whether the coordination server answers") || took > 2*time.Minute {
			t.Errorf("registered after %s with %v", took, err)
		}
	})
}
