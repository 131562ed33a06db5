package bus

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/access/authority"
	"jaque.sh/jaque/appliance/listen/listentest"
)

func TestTheServerReadsAndWritesWhoIsInTheClusterAsWeDo(t *testing.T) {
	t.Parallel()
	s, err := server.NewServer(&server.Options{ServerName: "engine-a.example", DontListen: true, NoSigs: true, NoLog: true, JetStream: true, StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.Shutdown()
	if got := memberID("engine-a.example"); got != s.Node() {
		t.Errorf("id = %s, the server says %s", got, s.Node())
	}
	folder := t.TempDir()
	if err := writePeers(folder, 3, "aaaaaaaa", "bbbbbbbb"); err != nil {
		t.Fatal(err)
	}
	size, ids, err := readPeers(folder)
	if err != nil || size != 3 || len(ids) != 2 || ids[1] != "bbbbbbbb" {
		t.Errorf("read %d %v, %v", size, ids, err)
	}
	path := filepath.Join(folder, peersFile)
	for _, bad := range [][]byte{nil, {1}, {1, 0, 0, 0, 9, 0, 0, 0, 'a'}} {
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := readPeers(folder); err == nil {
			t.Errorf("%v was read", bad)
		}
	}
}

// blocksIn are the blocks of the log in a folder of streams.
func blocksIn(t *testing.T, folder string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(folder, "JAQUE_LOG", "msgs", "*.blk"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestAFoundingThatWasKilledIsTakenUpAndTheServerMayHaveDeletedTheLogMeanwhile(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	alone := &node{o: Options{Data: data, ServerName: "a"}, log: &told{}}
	alone.open(t)
	last := alone.append(t, 50)
	alone.stop(t)
	streams := filepath.Join(data, storeFolder, "$G", "streams")
	before := blocksIn(t, streams)
	content, err := os.ReadFile(before[0])
	if err != nil {
		t.Fatal(err)
	}
	// A founder that is killed in front of its first declaration, and a server that
	// cleaned up what its cluster does not know.
	if err := keepBefore(data); err != nil {
		t.Fatal(err)
	}
	if err := writePeers(metaOf(data), 1, memberID("a")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(streams, "JAQUE_LOG")); err != nil {
		t.Fatal(err)
	}
	if !founding(data) {
		t.Fatal("nothing tells that a founding was begun")
	}
	if err := keepBefore(data); err != nil { // once more: killed while it was put back
		t.Fatal(err)
	}
	if got, err := os.ReadFile(before[0]); err != nil || !bytes.Equal(got, content) {
		t.Fatalf("the block is back with %d bytes, %v, want %d", len(got), err, len(content))
	}
	a := newAuthority(t, "ca").join(t, "a", data)
	a.holds(t, last)
	if founding(data) {
		t.Error("the streams from before are still kept")
	}
}

func TestADamagedCopyIsFetchedFromTheOthers(t *testing.T) {
	t.Parallel()
	a, b, c := three(t, newAuthority(t, "ca"))
	last := a.append(t, 100)
	c.whole(t, 3)
	until(t, "c has the end of the log", func() bool {
		blocks := c.Blocks("JAQUE_LOG")
		if len(blocks) == 0 {
			return false
		}
		got, _, err := blocks[len(blocks)-1].read()
		return err == nil && got.last == last
	})
	c.stop(t) // writes its marks
	data := c.o.Data
	damagedAt(t, data, "JAQUE_LOG", 20, recordHead+4)
	c.open(t)
	c.log.until(t, "is fetched again from the other members")
	until(t, "c has every position again", func() bool {
		n := 0
		for _, k := range c.Blocks("JAQUE_LOG") {
			got, _, err := k.read()
			if err != nil || got.inside > 0 {
				return false
			}
			if err := k.Scan(func(uint64, []byte, []byte) bool { n++; return true }); err != nil {
				return false
			}
		}
		return uint64(n) >= last
	})
	// A copy that is gone altogether is no loss either, and neither is an old one.
	c.stop(t)
	if err := os.RemoveAll(filepath.Join(data, storeFolder, "$G", "streams", "JAQUE_LOG")); err != nil {
		t.Fatal(err)
	}
	last = b.append(t, 50)
	c.open(t)
	c.holds(t, last)
	c.answers(t, func(s *Status) bool { return s.Quorum })
}

// answers waits for a status: what is asked of a leader that is none any more is never
// answered.
func (n *node) answers(t *testing.T, is func(*Status) bool) {
	t.Helper()
	var s Status
	var err error
	defer func() {
		if t.Failed() {
			t.Logf("status = %+v, %v", s, err)
		}
	}()
	until(t, "a status as it must be", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		s, err = n.Status(ctx)
		return err == nil && is(&s)
	})
}

func TestAMemberOfAClusterMayListenForOthersWhoseListChanges(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "ca")
	data, users := t.TempDir(), &guests{}
	own, err := authority.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	secure, err := own.Server(authority.Names("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	a := &node{log: &told{}, o: Options{
		Data: data, ServerName: "a", Listen: &Listener{Address: "127.0.0.1:0", TLS: secure, Users: users.users},
		Cluster: &Cluster{Name: "test", Listen: listentest.Address(t), TLS: ca.member(t, "a")},
	}}
	a.o.Logger = slog.New(slog.NewTextHandler(a.log, nil))
	a.open(t)
	anna, mine := guest(t, own, User{Name: "anna", Publish: []string{"a.b"}, Subscribe: []string{"_INBOX.ui.anna.>"}})
	users.set(anna)
	eventually(t, func() (*Bus, error) { return call(t, a.ListenAddress(), mine) })
	b := ca.join(t, "b", t.TempDir(), a.ClusterAddress())
	b.whole(t, 2)
	last := b.append(t, 5)
	a.holds(t, last)
	for address, secure := range map[string]*tls.Config{
		a.ListenAddress():              {InsecureSkipVerify: true},
		b.embed.server.Addr().String(): nil, // where it listens for nobody but itself
	} {
		nc, err := nats.Connect("nats://"+address, asNobody(secure)...)
		if !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("who has no key gets at %s: %v", address, err)
		}
		if nc != nil {
			nc.Close()
		}
	}
}

// asNobody connects without saying who one is.
func asNobody(secure *tls.Config) []nats.Option {
	if secure == nil {
		return nil
	}
	return []nats.Option{nats.Secure(secure)}
}
