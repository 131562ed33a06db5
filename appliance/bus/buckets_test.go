package bus

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"jaque.sh/jaque/appliance/bucket"
)

// members returns the bucket of members.
func members(t *testing.T, b *Bus) *bucket.Bucket {
	t.Helper()
	k, err := bucket.New(b.Conn(), b.Names().Members)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// stored waits until a bucket holds so many messages. Each is synced to the disk before
// the next: how long that takes altogether says nothing, but it always gets on.
func stored(t *testing.T, b *Bus, name string, want uint64) {
	t.Helper()
	got := uint64(0)
	for moved := time.Now(); time.Since(moved) < 30*time.Second; time.Sleep(10 * time.Millisecond) {
		s, err := b.JetStream().Stream(t.Context(), "KV_"+name)
		if err != nil {
			t.Fatal(err)
		}
		now := s.CachedInfo().State.Msgs
		if now == want {
			return
		}
		if now != got {
			got, moved = now, time.Now()
		}
	}
	t.Fatalf("bucket %s holds %d messages, want %d", name, got, want)
}

// answer has the server store an empty answer under a subject.
func answer(t *testing.T, b *Bus, subject string) {
	t.Helper()
	if err := b.Conn().PublishRequest("$JS.API.DIRECT.GET.JAQUE_LOG", subject, []byte(`{"seq":1000000}`)); err != nil {
		t.Fatal(err)
	}
}

func TestBucketsAreBounded(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	b := open(t, Options{Data: data})
	// As an earlier version of the program made them.
	for _, name := range []string{"KV_" + b.Names().Members, "KV_" + b.Names().State} {
		s, err := b.JetStream().Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		c := s.CachedInfo().Config
		c.MaxMsgs, c.MaxBytes, c.MaxMsgSize, c.MaxMsgsPerSubject = -1, -1, -1, 1
		if _, err := b.JetStream().UpdateStream(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	b = open(t, Options{Data: data})
	for subject, most := range map[string]int{
		"$KV.JAQUE_MEMBERS.membership/view": 16 << 10, "$KV.JAQUE_STATE.sink.x": 512, "$O.JAQUE_SNAPSHOTS.C.x": 256 << 10,
	} {
		if _, err := b.JetStream().Publish(t.Context(), subject, make([]byte, most+1)); err == nil || !strings.Contains(err.Error(), "maximum") {
			t.Errorf("%s takes more than %d bytes: %v", subject, most, err)
		}
		if _, err := b.JetStream().Publish(t.Context(), subject, make([]byte, most/2)); err != nil {
			t.Errorf("%s takes no %d bytes: %v", subject, most/2, err)
		}
	}
	for _, name := range []string{"KV_" + b.Names().Members, "KV_" + b.Names().State} {
		s, err := b.JetStream().Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		c := s.CachedInfo().Config
		longest := int64(4096) // of a subject
		if c.MaxBytes <= 0 || c.MaxMsgs <= 0 || c.MaxMsgs*(int64(c.MaxMsgSize)+longest) > c.MaxBytes {
			t.Errorf("%s is full of bytes before it is full of keys: %+v", name, c)
		}
	}
}

// A full bucket takes the next value of a key that is there, and is cleaned for those
// who are new.
func TestAFullBucketLocksNobodyOut(t *testing.T) {
	t.Parallel()
	b := open(t, Options{Data: t.TempDir()})
	k := members(t, b)
	beat, err := k.Put(t.Context(), "membership/member.a", []byte("1"), 0, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	c := &cleaner{b: b, grace: time.Hour, known: map[string]bool{}}
	c.round(t.Context())
	answer(t, b, k.Subject("membership/member.a"))
	for n := range memberKeys {
		answer(t, b, fmt.Sprintf("$KV.%s.x.%d", b.Names().Members, n))
	}
	stored(t, b, b.Names().Members, memberKeys)
	if _, err := k.Put(t.Context(), "membership/member.b", []byte("1"), 0, time.Minute); err == nil {
		t.Fatal("the bucket is not full")
	}
	e, err := k.Get(t.Context(), "membership/member.a")
	if err != nil || !e.Foreign || e.Revision <= beat {
		t.Fatalf("%+v, %v", e, err)
	}
	c.round(t.Context())
	stored(t, b, b.Names().Members, 1) // what stands over a member's key is the member's affair
	if _, err := k.Put(t.Context(), "membership/member.a", []byte("longer"), e.Revision, time.Minute); err != nil {
		t.Errorf("a member falls out of a bucket that was full: %v", err)
	}
	if _, err := k.Put(t.Context(), "membership/member.b", []byte("1"), 0, time.Minute); err != nil {
		t.Errorf("nobody new gets in: %v", err)
	}
}

func TestAMemberGoesOnWhileItsBucketIsFull(t *testing.T) {
	t.Parallel()
	b := open(t, Options{Data: t.TempDir()})
	k := members(t, b)
	at, err := k.Put(t.Context(), "membership/member.a", []byte("1"), 0, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for n := range memberKeys {
		answer(t, b, fmt.Sprintf("$KV.%s.x.%d", b.Names().Members, n))
	}
	stored(t, b, b.Names().Members, memberKeys)
	for range 3 {
		if at, err = k.Put(t.Context(), "membership/member.a", []byte(strings.Repeat("x", 1000)), at, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOldForeignEntriesAreRemovedAndNothingElse(t *testing.T) {
	t.Parallel()
	b := open(t, Options{Data: t.TempDir()})
	state, err := bucket.New(b.Conn(), b.Names().State)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := state.Put(t.Context(), "sink.x", []byte("{}"), 0, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := members(t, b).Put(t.Context(), "membership/view", []byte("{}"), 0, 0); err != nil {
		t.Fatal(err)
	}
	for _, subject := range []string{state.Subject("sink.x"), state.Subject("sink.y"), state.Subject("sink.y"), "$KV.JAQUE_MEMBERS.a.b"} {
		answer(t, b, subject)
	}
	stored(t, b, b.Names().State, 4)
	stored(t, b, b.Names().Members, 2)
	c := &cleaner{b: b, grace: time.Hour, known: map[string]bool{}}
	c.round(t.Context())
	stored(t, b, b.Names().State, 4)
	c.grace = 0
	c.round(t.Context())
	stored(t, b, b.Names().State, 2) // what is below a foreign entry is kept with it
	stored(t, b, b.Names().Members, 1)
	if s, err := b.JetStream().Stream(t.Context(), "KV_"+b.Names().State); err != nil || s.CachedInfo().Config.Discard != jetstream.DiscardNew {
		t.Errorf("%v", err)
	}
}

// On a coordination server of its own whoever declares the members' bucket keeps it
// clean, and nobody else touches it.
func TestTheBucketOnACoordinationServerIsCleaned(t *testing.T) {
	t.Parallel()
	_, url := external(t, t.TempDir(), -1)
	other := open(t, Options{URL: url, Bare: true})
	b := open(t, Options{URL: url, Bare: true})
	if err := b.DeclareMembers(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := members(t, b).Put(t.Context(), "membership/view", []byte("{}"), 0, 0); err != nil {
		t.Fatal(err)
	}
	if err := b.Conn().PublishRequest("$JS.API.INFO", "$KV.JAQUE_MEMBERS.a.b", nil); err != nil {
		t.Fatal(err)
	}
	stored(t, b, b.Names().Members, 2)
	(&cleaner{b: other, known: map[string]bool{}}).round(t.Context())
	stored(t, b, b.Names().Members, 2)
	c := &cleaner{b: b, grace: time.Hour, known: map[string]bool{}}
	c.round(t.Context())
	stored(t, b, b.Names().Members, 2)
	c.grace = 0
	c.round(t.Context())
	stored(t, b, b.Names().Members, 1)
	if e, err := members(t, b).Get(t.Context(), "membership/view"); err != nil || e.Foreign || e.Gone {
		t.Errorf("the view is %+v, %v", e, err)
	}
}
