package backup_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"jaque.sh/jaque/appliance/backup"
	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/journal"
)

func open(t *testing.T, o bus.Options) *bus.Bus {
	t.Helper()
	b, err := bus.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	return b
}

// write puts so many messages on the log, on a few subjects, some with headers.
func write(t *testing.T, b *bus.Bus, n int) {
	t.Helper()
	var answers []jetstream.PubAckFuture
	for i := range n {
		m := &nats.Msg{Subject: fmt.Sprintf("jaque.log.web%02d", i%7), Data: []byte(fmt.Sprintf("decision %d %s", i, strings.Repeat("x", i%300)))}
		if i%3 == 0 {
			m.Header = nats.Header{"Nats-Msg-Id": {fmt.Sprint("id-", b.Conn().ConnectedServerId(), "-", nats.NewInbox(), i)}}
		}
		a, err := b.JetStream().PublishMsgAsync(m, jetstream.WithStallWait(10e9))
		if err != nil {
			t.Error(err)
			return
		}
		answers = append(answers, a)
	}
	for _, a := range answers {
		select {
		case <-a.Ok():
		case err := <-a.Err():
			t.Error(err)
			return
		}
	}
}

// furnish puts something into everything else.
func furnish(t *testing.T, b *bus.Bus) {
	t.Helper()
	put := func(subject string, data string) {
		t.Helper()
		if _, err := b.JetStream().Publish(t.Context(), subject, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 50 {
		put("$KV.JAQUE_STATE.sink.vm", fmt.Sprint("position ", i))
		put("$KV.JAQUE_MEMBERS.membership/view", "view")
		put("jaque.result.default.web01", fmt.Sprint("measurement ", i))
	}
	put("$KV.JAQUE_STATE.sink.audit", "position")
	objects, err := b.JetStream().ObjectStore(t.Context(), b.Names().Snapshots)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, err := objects.PutBytes(t.Context(), fmt.Sprint("snapshot-", i), []byte(strings.Repeat("state", 50000))); err != nil {
			t.Fatal(err)
		}
	}
	if err := objects.Delete(t.Context(), "snapshot-0"); err != nil {
		t.Fatal(err)
	}
}

// all reads a stream up to a position: what stands where.
func all(t *testing.T, b *bus.Bus, stream string, last uint64) map[uint64]string {
	t.Helper()
	s, err := b.JetStream().Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	found := map[uint64]string{}
	for seq := s.CachedInfo().State.FirstSeq; seq <= last; seq++ {
		m, err := s.GetMsg(t.Context(), seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		found[seq] = fmt.Sprint(m.Subject, m.Header["Nats-Msg-Id"], m.Time.UnixNano(), string(m.Data))
	}
	return found
}

func openJournal(t *testing.T, b *bus.Bus) journal.Journal {
	t.Helper()
	j, err := journal.OpenJetStream(t.Context(), b, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close(context.Background()) })
	return j
}

func take(t *testing.T, from backup.Source) (string, backup.Manifest) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "jaque.backup")
	m, size, err := backup.Take(t.Context(), from, backup.Options{File: name, Program: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 || info.Size() != size {
		t.Errorf("the file is %v, %v", info, err)
	}
	if left, _ := filepath.Glob(name + "?*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return name, m
}

// same compares a restored server with the original, up to where the backup says.
func same(t *testing.T, was, now *bus.Bus, m *backup.Manifest) {
	t.Helper()
	for _, s := range m.Streams {
		a, b := all(t, was, s.Name, s.Last), all(t, now, s.Name, s.Last+10)
		if s.Name == "OBJ_JAQUE_SNAPSHOTS" { // each snapshot was told where it stands now
			for seq := range b {
				delete(b, max(seq, s.Last+1))
			}
			maps.DeleteFunc(a, func(seq uint64, _ string) bool { return b[seq] == "" })
		}
		if !maps.Equal(a, b) {
			t.Errorf("stream %s: %d messages of %d are the same", s.Name, len(b), len(a))
		}
	}
}

func openFile(t *testing.T, name string) *backup.File {
	t.Helper()
	f, err := backup.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestABackupUnderLoadIsRestoredAsItWas(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	was := open(t, bus.Options{Data: data, Door: true, Bulk: true})
	furnish(t, was)
	write(t, was, 1000)
	if err := openJournal(t, was).SaveSnapshot(t.Context(), journal.Position{Log: 1000}, []byte("folded")); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	load.Go(func() {
		for ctx.Err() == nil {
			write(t, was, 100)
		}
	})
	client := open(t, bus.Options{Through: data})
	name, m := take(t, backup.Server{Conn: client.Conn()})
	stop()
	load.Wait()
	if log := m.Log(); log.First != 1 || log.Last < 1000 || log.Missing != 0 || log.Messages != log.Last || len(m.Streams) != 4 {
		t.Fatalf("manifest %+v", m)
	}
	t.Logf("the log was taken up to position %d", m.Log().Last)

	t.Run("into an empty server", func(t *testing.T) {
		now := open(t, bus.Options{Data: t.TempDir(), Bare: true})
		if _, err := (backup.Target{Bus: now}).Restore(t.Context(), openFile(t, name)); err != nil {
			t.Fatal(err)
		}
		same(t, was, now, &m)
		if _, err := now.JetStream().Stream(t.Context(), "KV_JAQUE_MEMBERS"); !errors.Is(err, jetstream.ErrStreamNotFound) {
			t.Errorf("the members were restored: %v", err)
		}
		_, err := (backup.Target{Bus: now}).Restore(t.Context(), openFile(t, name))
		if !errors.Is(err, backup.ErrNotEmpty) || !strings.Contains(err.Error(), "a stream KV_JAQUE_STATE with") {
			t.Errorf("a second time: %v", err)
		}
		same(t, was, now, &m)
	})
	t.Run("into an empty folder, and a start goes on behind it", func(t *testing.T) {
		folder := filepath.Join(t.TempDir(), "new", "data")
		if _, err := backup.RestoreFolder(t.Context(), openFile(t, name), folder, nil, nil); err != nil {
			t.Fatal(err)
		}
		var lines strings.Builder
		now := open(t, bus.Options{Data: folder, Logger: slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelWarn}))})
		same(t, was, now, &m)
		if strings.Contains(lines.String(), "lost") || strings.Contains(lines.String(), "marks") {
			t.Errorf("the start complains: %s", &lines)
		}
		if at, data, err := openJournal(t, now).LoadSnapshot(t.Context()); err != nil || at.Log != 1000 || string(data) != "folded" {
			t.Errorf("the newest snapshot is %q at %v, %v", data, at, err)
		}
		ack, err := now.JetStream().Publish(t.Context(), "jaque.log.web01", []byte("next"))
		if err != nil || ack.Sequence != m.Log().Last+1 {
			t.Errorf("the next position is %v, %v", ack, err)
		}
	})
	t.Run("a folder with a log is refused and stays as it is", func(t *testing.T) {
		_, err := backup.RestoreFolder(t.Context(), openFile(t, name), data, nil, nil)
		if !errors.Is(err, backup.ErrNotEmpty) {
			t.Errorf("got %v", err)
		}
		if left, _ := filepath.Glob(filepath.Join(data, ".restore*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

func TestABackupOfAStoppedFolderReadsAndChangesNothing(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	b := open(t, bus.Options{Data: data})
	furnish(t, b)
	write(t, b, 300)
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := tree(t, data)
	name, m := take(t, backup.Folder{Data: data})
	if after := tree(t, data); !slices.Equal(before, after) {
		t.Errorf("files before %v\nand after %v", before, after)
	}
	if m.Log().Last != 300 || len(m.Streams) != 4 {
		t.Fatalf("manifest %+v", m)
	}
	folder := t.TempDir()
	if _, err := backup.RestoreFolder(t.Context(), openFile(t, name), folder, nil, nil); err != nil {
		t.Fatal(err)
	}
	same(t, open(t, bus.Options{Data: data}), open(t, bus.Options{Data: folder}), &m)
}

// tree lists files with their sizes and times.
func tree(t *testing.T, folder string) (all []string) {
	t.Helper()
	err := filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			all = append(all, fmt.Sprint(path, info.Size(), info.ModTime().UnixNano()))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAKilledLastRecordIsLeftOut(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	b := open(t, bus.Options{Data: data})
	write(t, b, 10)
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	blocks, err := bus.StoredBlocks(data, "JAQUE_LOG")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(blocks[0].Path(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("half a record")); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if _, m := take(t, backup.Folder{Data: data}); m.Log().Last != 10 {
		t.Errorf("it ends at %d", m.Log().Last)
	}
	// What was acknowledged and is not there is a loss, and no backup.
	if err := os.Truncate(blocks[0].Path(), int64(blocks[0].Size()/2)); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "x")
	writeAcknowledged(t, data, 10)
	if _, _, err := backup.Take(t.Context(), backup.Folder{Data: data}, backup.Options{File: name}); err == nil || !strings.Contains(err.Error(), "10 was acknowledged") {
		t.Errorf("got %v", err)
	}
	if left, _ := filepath.Glob(name + "*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// writeAcknowledged has a log say up to where it was acknowledged.
func writeAcknowledged(t *testing.T, data string, seq uint64) {
	t.Helper()
	other := t.TempDir()
	b := open(t, bus.Options{Data: other})
	b.Stored(seq)
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(other, "acknowledged"))
	if err == nil {
		err = os.WriteFile(filepath.Join(data, "acknowledged"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
