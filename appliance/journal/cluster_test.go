package journal

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/listen/listentest"
)

// memberFolder, in the environment, makes the test binary a member of a cluster that
// runs until it is killed.
const memberFolder = "JAQUE_TEST_MEMBER_IN"

// runMember founds a cluster with the certificates in a folder and says where it is.
func runMember(folder string) error {
	secure, err := peerFiles(folder)
	if err != nil {
		return err
	}
	b, err := bus.Open(context.Background(), bus.Options{
		Data: filepath.Join(folder, "data"), ServerName: "a",
		Cluster: &bus.Cluster{Name: "test", Listen: "127.0.0.1:0", TLS: secure},
	})
	if err != nil {
		return err
	}
	fmt.Println("at", b.ClusterAddress())
	<-b.Failed()
	return b.Err()
}

// makePeerFiles writes an authority and a certificate of it, which all members share.
func makePeerFiles(t *testing.T, folder string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "member"}, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*pem.Block{"key.pem": {Type: "EC PRIVATE KEY", Bytes: private}}
	for name, c := range map[string]*x509.Certificate{"ca.pem": ca, "cert.pem": leaf} {
		der, err := x509.CreateCertificate(rand.Reader, c, ca, &key.PublicKey, key)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &pem.Block{Type: "CERTIFICATE", Bytes: der}
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func peerFiles(folder string) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem"))
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(folder, "ca.pem"))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: pool}, nil
}

// founder starts the first member as a process of its own.
func founder(t *testing.T, folder string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), memberFolder+"="+folder)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // mostly dead already
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "at ") {
		t.Fatalf("the first member says %q, %v", lines.Text(), lines.Err())
	}
	return cmd, strings.TrimPrefix(lines.Text(), "at ")
}

func openMember(t *testing.T, folder, name, peer string) (*bus.Bus, Journal) {
	t.Helper()
	secure, err := peerFiles(folder)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bus.Open(t.Context(), bus.Options{
		Data: t.TempDir(), ServerName: name,
		Cluster: &bus.Cluster{Name: "test", Listen: listentest.Address(t), Peers: []string{peer}, TLS: secure},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	j, err := OpenJetStream(t.Context(), b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close(context.Background()) })
	return b, j
}

// promises are the positions that were acknowledged, and what stands there.
type promises struct {
	mu      sync.Mutex
	ids     map[uint64]string
	unknown int
	longest time.Duration // between two acknowledgements
	last    time.Time
}

func (p *promises) add(seq uint64, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ids[seq] = id
	if !p.last.IsZero() {
		p.longest = max(p.longest, time.Since(p.last))
	}
	p.last = time.Now()
}

func (p *promises) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.ids)
}

// write appends to one object until ctx ends. After an outcome that is not known it asks
// where the object stands, for as long as nobody answers.
func (p *promises) write(ctx context.Context, j Journal, id object.ID) {
	at := uint64(0)
	for n := 0; ctx.Err() == nil; n++ {
		e := decision(id, n, at)
		got := make(chan error, 1)
		j.Append(e, at, func(seq uint64, err error) {
			if err == nil {
				p.add(seq, e.ID)
				at = seq
			}
			got <- err
		})
		if <-got == nil {
			continue
		}
		p.mu.Lock()
		p.unknown++
		p.mu.Unlock()
		for ctx.Err() == nil {
			one, cancel := context.WithTimeout(ctx, 2*time.Second)
			_, compared, err := j.LastOf(one, id)
			cancel()
			if err == nil {
				at = compared
				break
			}
		}
	}
}

func TestNoAcknowledgedAppendIsLostWhenTheLeaderIsKilled(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	makePeerFiles(t, folder)
	first, address := founder(t, folder)
	b, j := openMember(t, folder, "b", address)
	_, other := openMember(t, folder, "c", address)
	wait(t, "three replicas of the log", func() bool {
		s, err := b.Status(t.Context())
		i := slices.IndexFunc(s.Streams, func(x bus.StreamStatus) bool { return x.Name == "JAQUE_LOG" })
		return err == nil && i >= 0 && s.Streams[i].Whole(3) && s.Streams[i].Leader == "a"
	})
	var read atomic.Uint64
	followed, end := context.WithCancel(t.Context())
	defer end()
	var follower, writers sync.WaitGroup
	follower.Go(func() {
		err := other.Follow(followed, Position{}, func(events []event.Event) error {
			for _, e := range events {
				if e.Stream == event.Log {
					read.Store(e.Seq)
				}
			}
			return nil
		}, nil)
		if err != nil {
			t.Errorf("the other member's follower ended: %v", err)
		}
	})
	p := &promises{ids: map[uint64]string{}}
	ctx, stop := context.WithCancel(t.Context())
	for n := range 12 {
		writers.Go(func() { p.write(ctx, j, object.HostID(fmt.Sprintf("h%d", n))) })
	}
	wait(t, "appends", func() bool { return p.count() > 300 })
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // it was killed
	before := p.count()
	wait(t, "appends after the leader is dead", func() bool { return p.count() > before+300 })
	stop()
	writers.Wait()
	log, err := b.JetStream().Stream(t.Context(), "JAQUE_LOG")
	if err != nil {
		t.Fatal(err)
	}
	last := uint64(0)
	for seq, id := range p.ids {
		m, err := log.GetMsg(t.Context(), seq)
		if err != nil || m.Header.Get("Nats-Msg-Id") != id {
			t.Errorf("position %d was acknowledged for %s and holds %v, %v", seq, id, m, err)
		}
		last = max(last, seq)
	}
	wait(t, "the other member has read all of it", func() bool { return read.Load() >= last })
	end()
	follower.Wait()
	t.Logf("%d appends acknowledged, %d without an outcome, the longest pause was %s", len(p.ids), p.unknown, p.longest.Round(time.Millisecond))
}

// wait waits for something that other servers decide.
func wait(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(90 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in time: %s", what)
		}
	}
}
