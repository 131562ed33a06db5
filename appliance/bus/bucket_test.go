package bus

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Whoever may write one key of a bucket must not be able to remove the others, also
// where an earlier version of the program has made the bucket.
func TestOneKeyCannotRemoveTheOthers(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	b := open(t, Options{Data: data})
	for _, bucket := range []string{b.Names().Members, b.Names().State} {
		if err := b.JetStream().DeleteStream(t.Context(), "KV_"+bucket); err != nil {
			t.Fatal(err)
		}
		kv, err := b.JetStream().CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: bucket, History: 1, LimitMarkerTTL: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := kv.PutString(t.Context(), "view", "kept"); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	b = open(t, Options{Data: data})
	for _, bucket := range []string{b.Names().Members, b.Names().State} {
		for _, how := range []string{"all", "sub"} {
			m := &nats.Msg{Subject: "$KV." + bucket + ".mine", Data: []byte("x"), Header: nats.Header{"Nats-Rollup": {how}}}
			if _, err := b.JetStream().PublishMsg(t.Context(), m); err == nil {
				t.Errorf("%s: a roll-up (%s) was taken", bucket, how)
			}
		}
		kv, err := b.JetStream().KeyValue(t.Context(), bucket)
		if err != nil {
			t.Fatal(err)
		}
		if e, err := kv.Get(t.Context(), "view"); err != nil || string(e.Value()) != "kept" {
			t.Errorf("%s: the key of before = %v, %v", bucket, e, err)
		}
		if _, err := kv.Update(t.Context(), "view", []byte("new"), 1); err != nil {
			t.Errorf("%s: a key cannot be updated: %v", bucket, err)
		}
		ttl := &nats.Msg{Subject: "$KV." + bucket + ".brief", Data: []byte("x")}
		if _, err := b.JetStream().PublishMsg(t.Context(), ttl, jetstream.WithMsgTTL(time.Minute)); err != nil {
			t.Errorf("%s: a key cannot expire: %v", bucket, err)
		}
	}
}
