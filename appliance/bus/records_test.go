package bus

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

func TestRecordsTellWhatTheServerStored(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if got := Used(data); got != "" {
		t.Errorf("an empty folder is used by %s", got)
	}
	b := open(t, Options{Data: data})
	for i := range 5 {
		m := &nats.Msg{Subject: "jaque.log.web01", Data: []byte(fmt.Sprint("x", i))}
		if i == 2 {
			m.Header = nats.Header{"Nats-Msg-Id": {"two"}}
		}
		if _, err := b.JetStream().PublishMsg(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	stream, err := b.JetStream().Stream(t.Context(), "JAQUE_LOG")
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := StoredBlocks(data, "JAQUE_LOG") // while it is in use
	if err != nil || len(blocks) != 1 || blocks[0].Index() != 1 {
		t.Fatalf("%d blocks, %v", len(blocks), err)
	}
	buf, err := os.ReadFile(blocks[0].Path())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = Records("JAQUE_LOG", 1, buf, func(r *Record) bool {
		n++
		want, err := stream.GetMsg(t.Context(), r.Seq)
		if err != nil {
			t.Fatal(err)
		}
		if string(r.Subject) != want.Subject || string(r.Data) != string(want.Data) || !time.Unix(0, r.Time).Equal(want.Time) || (len(r.Headers) > 0) != (want.Header.Get("Nats-Msg-Id") != "") {
			t.Errorf("position %d: %+v, want %+v", r.Seq, r, want)
		}
		return true
	})
	if err != nil || n != 5 {
		t.Errorf("%d records, %v", n, err)
	}
	buf[len(buf)-40]++
	var broken *RecordError
	last := uint64(0)
	if err = Records("JAQUE_LOG", 1, buf, func(r *Record) bool { last = r.Seq; return true }); !errors.As(err, &broken) || last != 4 || broken.At < 100 {
		t.Errorf("a changed byte: %d, %v", last, err)
	}
	if got := Used(data); got != filepath.Join(data, storeFolder) {
		t.Errorf("used by %q", got)
	}
	if _, err := StoredBlocks(data, "NONE"); err == nil {
		t.Error("a stream that is not there has blocks")
	}
}

func TestRecordsTellOfRemovedPositions(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	b := open(t, Options{Data: data})
	objects, err := b.JetStream().ObjectStore(t.Context(), b.Names().Snapshots)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if _, err := objects.PutBytes(t.Context(), name, []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := objects.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	const stream = "OBJ_JAQUE_SNAPSHOTS"
	info, err := streamInfo(t.Context(), b.JetStream(), stream)
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := StoredBlocks(data, stream)
	if err != nil || len(blocks) == 0 {
		t.Fatal(blocks, err)
	}
	there, newest := map[uint64]bool{}, map[string]uint64{}
	for _, k := range blocks {
		buf, err := os.ReadFile(k.Path())
		if err != nil {
			t.Fatal(err)
		}
		err = Records(stream, k.Index(), buf, func(r *Record) bool {
			there[r.Seq] = !r.Removed
			if newest[string(r.Subject)] != 0 && !r.Removed {
				there[newest[string(r.Subject)]] = false
			}
			newest[string(r.Subject)] = r.Seq
			return true
		})
		if err != nil {
			t.Errorf("block %d: %v", k.Index(), err)
		}
	}
	n := uint64(0)
	for _, is := range there {
		if is {
			n++
		}
	}
	if n != info.State.Msgs {
		t.Errorf("%d positions are there, the server has %d messages: %v", n, info.State.Msgs, there)
	}
}
