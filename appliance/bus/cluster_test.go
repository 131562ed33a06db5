package bus

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/listen/listentest"
)

// peerAuthority makes certificates of one cluster.
type peerAuthority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, name string) *peerAuthority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return &peerAuthority{c, key}
}

// member returns the settings of one who trusts this authority and has its certificate.
func (a *peerAuthority) member(t *testing.T, name string) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, RootCAs: pool}
}

// node is a member of a cluster in a test.
type node struct {
	*Bus
	o   Options
	log *told
	reg *prometheus.Registry
}

// join opens a member; it stays at its address over restarts.
func (a *peerAuthority) join(t *testing.T, name, data string, peers ...string) *node {
	t.Helper()
	n := &node{log: &told{}}
	n.o = Options{
		Data: data, ServerName: name, Logger: slog.New(slog.NewTextHandler(n.log, nil)),
		Cluster: &Cluster{Name: "test", Listen: listentest.Address(t), Peers: peers, TLS: a.member(t, name)},
	}
	n.open(t)
	n.o.Cluster.Listen = n.ClusterAddress()
	return n
}

func (n *node) open(t *testing.T) {
	t.Helper()
	n.reg = prometheus.NewRegistry()
	n.o.Registerer = n.reg
	var err error
	if n.Bus, err = Open(t.Context(), n.o); err != nil {
		t.Fatalf("open %s: %v\n%s", n.o.ServerName, err, n.log)
	}
	b := n.Bus
	t.Cleanup(func() {
		if err := b.Close(context.Background()); err != nil {
			t.Errorf("close %s: %v", n.o.ServerName, err)
		}
		if t.Failed() {
			t.Logf("log of %s:\n%s", n.o.ServerName, n.log)
		}
	})
}

func (n *node) stop(t *testing.T) {
	t.Helper()
	if err := n.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// until waits for something that other servers decide.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(90 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

// whole waits until every stream has so many replicas, seen from a member.
func (n *node) whole(t *testing.T, replicas int) {
	t.Helper()
	var s Status
	var err error
	defer func() {
		if t.Failed() {
			t.Logf("the streams are %+v, %v", s.Streams, err)
		}
	}()
	until(t, fmt.Sprintf("%d replicas of every stream", replicas), func() bool {
		s, err = n.Status(t.Context())
		if err != nil || s.Wanted != replicas || len(s.Streams) != 5 {
			return false
		}
		return !slices.ContainsFunc(s.Streams, func(x StreamStatus) bool { return !x.Whole(replicas) })
	})
}

// append writes events and returns the last position. A leader that steps down answers
// nothing to what it has taken and not stored yet: that is sent again, under its id, as the
// journal does.
func (n *node) append(t *testing.T, count int) uint64 {
	t.Helper()
	last := uint64(0)
	for i := range count {
		id := nuid.Next()
		for end := time.Now().Add(time.Minute); ; {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			a, err := n.JetStream().Publish(ctx, fmt.Sprintf("jaque.log.o%d", i%7), fmt.Appendf(nil, "event %d", i), jetstream.WithRetryAttempts(50), jetstream.WithMsgID(id))
			cancel()
			if err == nil {
				last = a.Sequence
				break
			}
			if !errors.Is(err, context.DeadlineExceeded) || time.Now().After(end) {
				t.Fatalf("append at %s: %v\n%s", n.o.ServerName, err, n.log)
			}
		}
		n.Stored(last)
	}
	return last
}

// holds fails unless the log has every position up to one.
func (n *node) holds(t *testing.T, last uint64) {
	t.Helper()
	info, err := streamInfo(t.Context(), n.JetStream(), "JAQUE_LOG")
	if err != nil || info.State.FirstSeq != 1 || info.State.LastSeq < last || info.State.Msgs != info.State.LastSeq {
		t.Fatalf("the log is %+v, %v, want every position up to %d", info, err, last)
	}
}

func TestAStandaloneLogBecomesThatOfAClusterOfOneTwoAndThreeAndGoesBack(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	alone := &node{o: Options{Data: data, ServerName: "a"}, log: &told{}}
	alone.open(t)
	last := alone.append(t, 300)
	if _, err := alone.JetStream().Publish(t.Context(), "jaque.result.z.o", []byte("m")); err != nil {
		t.Fatal(err)
	}
	alone.stop(t)

	ca := newAuthority(t, "ca")
	a := ca.join(t, "a", data)
	a.holds(t, last)
	if founding(data) {
		t.Error("the log is still kept from before the cluster")
	}
	a.append(t, 10)
	b := ca.join(t, "b", t.TempDir(), a.ClusterAddress())
	a.whole(t, 2)
	b.append(t, 10)
	c := ca.join(t, "c", t.TempDir(), a.ClusterAddress())
	c.whole(t, 3)
	last = c.append(t, 10)
	c.holds(t, last)
	a.holds(t, last)
	s, err := c.Status(t.Context())
	if err != nil || !s.Quorum || s.Leader == "" || len(s.Members) != 3 || s.Self != "c" || s.Cluster != "test" {
		t.Fatalf("status = %+v, %v", s, err)
	}
	if r, err := c.JetStream().Publish(t.Context(), "jaque.result.z.o", []byte("m")); err != nil || r.Sequence < 2 {
		t.Errorf("a measurement after the change is at %+v, %v, want behind the first", r, err)
	}

	if err := a.Remove(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	<-c.Failed()
	if !strings.Contains(c.Err().Error(), ErrRemoved.Error()) {
		t.Errorf("the removed member ended with %v", c.Err())
	}
	a.whole(t, 2)
	a.append(t, 10)
	a.barred(t, ca, "c")
	if err := a.Remove(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	a.whole(t, 1)
	last = a.append(t, 10)
	a.holds(t, last)
	if err := a.Remove(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "last member") {
		t.Errorf("the last member: %v", err)
	}
	a.stop(t)
	a.open(t)
	a.holds(t, last)
	a.stop(t)
	alone.open(t) // and out of the cluster again
	alone.holds(t, last)
}
