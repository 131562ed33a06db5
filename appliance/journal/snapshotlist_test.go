package journal

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Whatever the server has stored among the snapshots, they are read and written.
func TestForeignMessagesAmongTheSnapshotsChangeNothing(t *testing.T) {
	b := openBus(t, t.TempDir())
	j := openJournal(t, b)
	mustPut(t, j, decision("web01", 1, 0), 0)
	save := func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := j.SaveSnapshot(ctx, Position{Log: 1}, []byte("state")); err != nil {
			t.Fatal(err)
		}
	}
	load := func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, data, err := j.LoadSnapshot(ctx); err != nil || string(data) != "state" {
			t.Fatalf("load: %q, %v", data, err)
		}
	}
	subjects := func() map[string]uint64 {
		t.Helper()
		s, err := b.JetStream().Stream(t.Context(), "OBJ_"+b.Names().Snapshots)
		if err != nil {
			t.Fatal(err)
		}
		i, err := s.Info(t.Context(), jetstream.WithSubjectFilter("$O.>"))
		if err != nil {
			t.Fatal(err)
		}
		return i.State.Subjects
	}
	save()
	before := len(subjects())
	for _, name := range []string{"M.c25hcHNob3QteA==", "M.x", "M.y.z", "C.nobodys"} {
		for ask, body := range map[string]string{"$JS.API.STREAM.INFO.JAQUE_LOG": "", "$JS.API.DIRECT.GET.JAQUE_LOG": `{"seq":1000000}`} {
			if err := b.Conn().PublishRequest(ask, "$O."+b.Names().Snapshots+"."+name, []byte(body)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for end := time.Now().Add(10 * time.Second); len(subjects()) != before+4; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the store has %v", subjects())
		}
	}
	load()
	save()
	load()
	if got := subjects(); got["$O.JAQUE_SNAPSHOTS.C.nobodys"] == 0 {
		t.Error("what may belong to a snapshot that is being written was removed")
	}
	save()
	if got := subjects(); len(got) != before {
		t.Errorf("these stay among the snapshots: %v", got)
	}
	load()
}
