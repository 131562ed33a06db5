package roles

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/service"
)

type ending chan struct{}

func (b ending) Failed() <-chan struct{} { return b }

// With a connection all that uses it ends: what is told first is why the connection did.
func TestAnEndOfTheConnectionIsToldBeforeWhatEndsWithIt(t *testing.T) {
	for _, c := range []struct {
		name  string
		fails bool
		first string
	}{
		{"the credentials are revoked", true, "credentials revoked"},
		{"a subscription alone ends", false, "the subscription ended by itself"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var said strings.Builder
				conn := make(ending)
				group, err := service.New(slog.New(slog.NewTextHandler(&said, nil)), []service.Service{
					{Name: "server", Run: func(ctx context.Context, ready func()) error {
						ready()
						select {
						case <-conn:
							return errors.New("credentials revoked")
						case <-ctx.Done():
							return nil
						}
					}},
					{Name: "worker", Needs: []string{"server"}, Run: afterConnection(conn, func(ctx context.Context, ready func()) error {
						ready()
						time.Sleep(time.Second)
						return service.Fail(ctx, errors.New("the subscription ended by itself"))
					})},
				})
				if err != nil {
					t.Fatal(err)
				}
				if c.fails {
					time.AfterFunc(time.Second+50*time.Millisecond, func() { close(conn) })
				}
				err = group.Run(t.Context())
				_, first, _ := strings.Cut(said.String(), "err=")
				if err == nil || !strings.HasPrefix(strings.TrimLeft(first, "\""), c.first) {
					t.Errorf("%v, said:\n%s", err, said.String())
				}
			})
		})
	}
}

func TestAStopReachesWhatUsesAConnection(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	run := afterConnection(make(ending), func(ctx context.Context, ready func()) error {
		ready()
		<-ctx.Done()
		return nil
	})
	if err := run(ctx, stop); err != nil {
		t.Error(err)
	}
}
