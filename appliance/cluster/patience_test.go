package cluster

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/listen/listentest"
)

// A machine that wants to join while the cluster takes in another one waits, says for
// what, and joins with the same token.
func TestWhoJoinsWaitsForTheCluster(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	must(t, Found(data, Member{Cluster: "site", ID: "a", Listen: "10.0.0.1:4248"}))
	var asked atomic.Int32
	d := &Door{Data: data, Logger: slog.New(slog.DiscardHandler), Members: func(context.Context) ([]string, error) {
		if asked.Add(1) < 3 {
			return nil, errors.New("there is no quorum")
		}
		return []string{"a"}, nil
	}}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx, func() {}) }()
	t.Cleanup(func() { stop(); must(t, <-done) })
	token, err := NewToken(data, listentest.Address(t), false, time.Now())
	must(t, err)
	var told []string
	empty := t.TempDir()
	soon(t, "the door is open", func() bool {
		c, err := net.Dial("tcp", token.Address)
		return err == nil && c.Close() == nil
	})
	if _, err := Join(t.Context(), empty, token, Member{ID: "b", Listen: "10.0.0.2:4248"}, Patience{}); !errors.Is(err, errLater) {
		t.Errorf("without patience: %v", err)
	}
	m, err := Join(t.Context(), empty, token, Member{ID: "b", Listen: "10.0.0.2:4248"}, Patience{Most: 30 * time.Second, Tell: func(what string) { told = append(told, what) }})
	if err != nil || m.ID != "b" {
		t.Fatalf("%+v, %v", m, err)
	}
	if len(told) != 1 || !strings.Contains(told[0], "the members are not known at present: there is no quorum") {
		t.Errorf("told %q", told)
	}
}

func TestWhatDoesNotPassIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	_, give := founded(t, "a", "b")
	for name, c := range map[string]struct {
		change func(*Token)
		id     string
		want   string
	}{
		"another secret":     {func(k *Token) { k.Secret = "guessed" }, "c", "was never given out"},
		"the id of a member": {func(*Token) {}, "b", "there is a member b already"},
		"another authority":  {func(k *Token) { k.Fingerprint = "00" }, "c", "none of the cluster that gave out the token"},
	} {
		token := give(false)
		c.change(token)
		began := time.Now()
		_, err := Join(t.Context(), t.TempDir(), token, Member{ID: c.id, Listen: "10.0.0.3:4248"}, Patience{Most: time.Minute})
		if err == nil || !strings.Contains(err.Error(), c.want) || time.Since(began) > 30*time.Second {
			t.Errorf("%s after %v: %v", name, time.Since(began), err)
		}
	}
}

// Nobody listens at the address of a token that was used.
func TestNobodyWaitsLongForADoorThatStaysShut(t *testing.T) {
	t.Parallel()
	_, give := founded(t, "a")
	token := give(false)
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	gone := *token
	gone.Address = listentest.Address(t)
	if _, err := Join(ctx, t.TempDir(), &gone, Member{ID: "b", Listen: "10.0.0.2:4248"}, Patience{Most: time.Second}); err == nil || !strings.Contains(err.Error(), "may have been used already") {
		t.Errorf("nobody listens: %v", err)
	}
}
