package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

// made is a source of messages that stand in memory.
type made struct {
	messages int
	fail     error // after the messages of the log
}

func (s made) Stream(_ context.Context, name string, fn func(*Message) error) (*Info, error) {
	if name != "JAQUE_LOG" {
		return nil, nil
	}
	for i := range s.messages {
		m := Message{Seq: uint64(i + 1), Time: int64(1000 + i), Subject: []byte("jaque.log.web01"), Data: fmt.Appendf(nil, "event %d", i)}
		if err := fn(&m); err != nil {
			return nil, err
		}
	}
	return &Info{Config: json.RawMessage(`{"name":"JAQUE_LOG"}`), Last: uint64(s.messages)}, s.fail
}

func makeFile(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "whole")
	if _, _, err := Take(t.Context(), made{messages: 1000}, Options{File: name, Program: "1.2.3"}); err != nil {
		t.Fatal(err)
	}
	return name
}

// member is one of an archive.
type member struct {
	name string
	data []byte
}

func members(t *testing.T, name string) (all []member) {
	t.Helper()
	in, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	zip, err := zstd.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	defer zip.Close()
	for r := tar.NewReader(zip); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, member{h.Name, data})
	}
}

func pack(t *testing.T, all []member) []byte {
	t.Helper()
	var out bytes.Buffer
	zip, err := zstd.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(zip)
	for _, m := range all {
		if err := w.WriteHeader(&tar.Header{Name: m.name, Mode: 0o600, Size: int64(len(m.data))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(m.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestFilesThatAreNotWholeAreRefused(t *testing.T) {
	whole := makeFile(t)
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	change := func(fn func([]member) []member) []byte { return pack(t, fn(members(t, whole))) }
	for _, tt := range []struct {
		name string
		file []byte
		want string
	}{
		{"nothing", nil, "it is no backup of jaque"},
		{"something else", []byte("#!/bin/sh\necho hello\n"), "it is no backup of jaque"},
		{"an archive of something else", pack(t, []member{{"a.txt", []byte("x")}}), "it is no backup of jaque"},
		{"one whose first member is of something else", change(func(all []member) []member { all[0].data = []byte(`{"format":"x"}`); return all }), "it is no backup of jaque"},
		{"a newer form", change(func(all []member) []member {
			all[0].data = []byte(`{"format":"jaque backup","version":2,"program":"9.9"}`)
			return all
		}), "its form is version 2 and this jaque knows 1; it was made by jaque 9.9"},
		{"one cut off in the middle", text[:len(text)/2], "nothing was changed"},
		{"one without its last bytes", text[:len(text)-20], "nothing was changed"},
		{"one without its manifest", change(func(all []member) []member { return all[:len(all)-1] }), "it is cut off: it ends in front of its manifest"},
		{"a changed message", change(func(all []member) []member { all[1].data[40]++; return all }), "has another checksum than its manifest says"},
		{"a part that is no part", change(func(all []member) []member { all[1].data = []byte{0xff}; return all }), "no readable message"},
		{"a part that is missing", change(func(all []member) []member { return append(all[:1], all[2:]...) }), "has 0 parts and its manifest names 1"},
		{"a part twice", change(func(all []member) []member { return append(all[:2:2], all[1:]...) }), "000001 stands where JAQUE_LOG/000002 belongs"},
		{"a file that leads elsewhere", change(func(all []member) []member { all[1].name = "../../etc/passwd"; return all }), `it holds something named "../../etc/passwd"`},
		{"something behind the manifest", change(func(all []member) []member { return append(all, member{"JAQUE_LOG/000002", nil}) }), "something stands behind its manifest"},
		{"a manifest that says something else", change(func(all []member) []member {
			last := &all[len(all)-1]
			last.data = bytes.Replace(last.data, []byte(`"messages": 1000`), []byte(`"messages": 999`), 1)
			return all
		}), "holds 1000 messages, 1 to 1000, and its manifest says 999"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(name, tt.file, 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := Open(name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = f.Check(t.Context()); !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			data := filepath.Join(t.TempDir(), "data")
			if _, err := RestoreFolder(t.Context(), f, data, nil, nil); !errors.Is(err, ErrFile) {
				t.Errorf("a restore says %v", err)
			}
			if _, err := os.Stat(data); err == nil {
				t.Error("the folder was made")
			}
		})
	}
	f, err := Open(whole)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := f.Check(t.Context()); err != nil || m.Log().Last != 1000 || m.Program != "1.2.3" {
		t.Errorf("the whole one: %+v, %v", m, err)
	}
}

// Each byte that is changed is noticed, wherever it stands.
func TestAChangedByteIsNoticed(t *testing.T) {
	text, err := os.ReadFile(makeFile(t))
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "changed")
	rapid.Check(t, func(t *rapid.T) {
		other := bytes.Clone(text)
		at := rapid.IntRange(0, len(other)-1).Draw(t, "byte")
		other[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "change"))
		if err := os.WriteFile(name, other, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		// What says how the file is compressed may be changed without a meaning.
		if m, err := f.Check(t.Context()); err == nil && m.Log().Messages != 1000 {
			t.Fatalf("byte %d was changed and %+v was read", at, m.Log())
		}
	})
}

func TestNothingIsLeftOfABackupThatFails(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "x")
	_, _, err := Take(t.Context(), made{messages: 10, fail: errors.New("the server is gone")}, Options{File: name})
	if err == nil || !strings.Contains(err.Error(), "the server is gone") {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := os.WriteFile(name, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Take(t.Context(), made{messages: 10}, Options{File: name}); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("got %v", err)
	}
	if text, _ := os.ReadFile(name); string(text) != "precious" {
		t.Errorf("the file was written over: %s", text)
	}
	if err := os.Rename(name, name+".part"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Take(t.Context(), made{messages: 10}, Options{File: name}); err == nil || !strings.Contains(err.Error(), "another backup is being written") {
		t.Errorf("got %v", err)
	}
}

// The device refuses every write like a full disk.
func TestAFullDiskIsSaidInWords(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal("no /dev/full on this system: ", err)
	}
	f, err := create(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.drop()
	zip, err := zstd.NewWriter(full, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	f.zip, f.tar = zip, tar.NewWriter(zip)
	_, err = fill(t.Context(), f, made{messages: 10}, Options{})
	if err == nil {
		_, err = f.finish()
	}
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "is full after 0 MiB") || !strings.Contains(err.Error(), "make room") {
		t.Errorf("got %v", err)
	}
}

func TestMessagesComeBackFromAPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var part []byte
		text := rapid.SliceOfN(rapid.Byte(), 0, 40)
		want := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Message {
			return Message{Seq: rapid.Uint64().Draw(t, "seq"), Time: rapid.Int64().Draw(t, "time"), Subject: text.Draw(t, "subject"), Headers: text.Draw(t, "headers"), Data: text.Draw(t, "data")}
		}), 0, 20).Draw(t, "messages")
		for i := range want {
			part = appendMessage(part, &want[i])
		}
		n := 0
		if err := Messages(part, func(m *Message) bool {
			if w := want[n]; m.Seq != w.Seq || m.Time != w.Time || !bytes.Equal(m.Subject, w.Subject) || !bytes.Equal(m.Headers, w.Headers) || !bytes.Equal(m.Data, w.Data) {
				t.Fatalf("message %d is %+v, want %+v", n, m, w)
			}
			n++
			return true
		}); err != nil || n != len(want) {
			t.Fatalf("%d messages of %d, %v", n, len(want), err)
		}
	})
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte{})
	f.Add(appendMessage(nil, &Message{Seq: 7, Time: -1, Subject: []byte("a.b"), Headers: []byte("NATS/1.0\r\n\r\n"), Data: []byte("x")}))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, part []byte) {
		var again []byte
		err := Messages(part, func(m *Message) bool {
			again = appendMessage(again, m)
			return true
		})
		// Numbers may be written longer than need be, so that only what is read counts.
		if err == nil && len(again) > len(part) {
			t.Errorf("%x became %x", part, again)
		}
	})
}
