package audit_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/audit"
	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/rule/chain"
)

// acknowledged makes a stopped data folder whose log holds so many events that were all
// acknowledged, and returns it and the log's first block.
func acknowledged(t *testing.T, events int) (data, block string) {
	t.Helper()
	data = t.TempDir()
	b := open(t, bus.Options{Data: data})
	newWriter(t, b).write(events)
	b.Stored(uint64(events))
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	blocks, err := bus.StoredBlocks(data, "JAQUE_LOG")
	if err != nil {
		t.Fatal(err)
	}
	return data, blocks[0].Path()
}

func verifyFolder(t *testing.T, data string) chain.Report {
	t.Helper()
	r, err := audit.Verify(t.Context(), &audit.Folder{Data: data}, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func texts(r chain.Report) string {
	var all []string
	for _, v := range r.Violations {
		all = append(all, v.Text)
	}
	return strings.Join(all, "\n")
}

// Whatever byte of the log is another one, wherever its file is cut off: it is told, and
// the file stays as it is.
func TestEveryDamageOfTheLogIsTold(t *testing.T) {
	t.Parallel()
	data, block := acknowledged(t, 46)
	whole, err := os.ReadFile(block)
	if err != nil {
		t.Fatal(err)
	}
	if r := verifyFolder(t, data); !r.Clean() || r.Last != 46 || r.Missing != 0 {
		t.Fatalf("%+v", r)
	}
	try := func(what string, at int, text []byte) {
		if err := os.WriteFile(block, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if r := verifyFolder(t, data); r.Clean() || r.Accepted >= 46 {
			t.Fatalf("%s at byte %d of %d: %+v", what, at, len(whole), r)
		}
		if now, err := os.ReadFile(block); err != nil || !bytes.Equal(now, text) {
			t.Fatalf("%s at byte %d: the file was changed, %v", what, at, err)
		}
	}
	cases := 0
	for at := 0; at < len(whole); at += 151 {
		flipped := bytes.Clone(whole)
		flipped[at] ^= 1 << (at % 8)
		try("a flipped bit", at, flipped)
		try("the end cut off", at, whole[:at])
		try("zeros from there", at, append(bytes.Clone(whole[:at]), make([]byte, len(whole)-at)...))
		cases += 3
	}
	t.Logf("%d damages of %d bytes", cases, len(whole))
}

func TestWhatIsMissingIsTold(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		damage func(data, block string) error
		want   string
		lost   uint64
	}{
		{"the file is cut in the middle", func(_, block string) error {
			info, err := os.Stat(block)
			if err != nil {
				return err
			}
			return os.Truncate(block, info.Size()/2)
		}, "the positions 24 to 46 are missing: position 46 was acknowledged; ", 23},
		{"the only file is gone", func(_, block string) error { return os.Remove(block) }, "the positions 1 to 46 are missing: position 46 was acknowledged", 46},
		{"the folder of the stream is gone", func(data, _ string) error { return os.RemoveAll(bus.StreamFolder(data, "JAQUE_LOG")) }, "the positions 1 to 46 are missing", 46},
		{"a note says that more was acknowledged", func(data, _ string) error {
			name := filepath.Join(data, "acknowledged")
			other, _ := acknowledged(t, 47)
			text, err := os.ReadFile(filepath.Join(other, "acknowledged"))
			if err != nil {
				return err
			}
			return os.WriteFile(name, text, 0o600)
		}, "the position 47 is missing: position 47 was acknowledged", 1},
		{"that note is gone, the marks are there", func(data, block string) error {
			if err := os.Remove(filepath.Join(data, "acknowledged")); err != nil {
				return err
			}
			return os.Truncate(block, 0)
		}, "the positions 1 to 46 are missing", 46},
		{"the marks cannot be read", func(data, _ string) error {
			return os.WriteFile(filepath.Join(data, "marks.json"), []byte("{"), 0o600)
		}, "read marks of the log store", 0},
		{"a record in front of all others", func(_, block string) error { return flip(block, 300) }, "position 1 of ", 1},
		{"a record between others", func(_, block string) error { return flip(block, 5000) }, "its checksum is wrong", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data, block := acknowledged(t, 46)
			if err := tt.damage(data, block); err != nil {
				t.Fatal(err)
			}
			r := verifyFolder(t, data)
			if r.Clean() || !strings.Contains(texts(r), tt.want) || r.Missing != tt.lost {
				t.Errorf("%d missing:\n%s\nwant %d, %q", r.Missing, texts(r), tt.lost, tt.want)
			}
		})
	}
}

func flip(file string, at int) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text[at]++
	return os.WriteFile(file, text, 0o600)
}

// What an operator accepted to lose at the end is no violation.
func TestAnAcceptedLossIsNone(t *testing.T) {
	t.Parallel()
	data, block := acknowledged(t, 46)
	if err := os.Truncate(block, 20_000); err != nil {
		t.Fatal(err)
	}
	if r := verifyFolder(t, data); r.Clean() {
		t.Fatalf("%+v", r)
	}
	if err := os.WriteFile(filepath.Join(data, "accept-loss"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b := open(t, bus.Options{Data: data})
	if r, err := audit.Verify(t.Context(), &audit.Server{Bus: b, Acknowledged: 46}, audit.Options{}); err != nil || !r.Clean() || r.Removed == 0 {
		t.Errorf("the server: %v, %+v", err, r)
	}
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := verifyFolder(t, data); !r.Clean() || r.Removed == 0 || r.Last != 46 {
		t.Errorf("%+v", r)
	}
}

// A server that has less than its client was told is told of.
func TestAServerWithLessThanWasAcknowledged(t *testing.T) {
	t.Parallel()
	b := open(t, bus.Options{Data: t.TempDir()})
	newWriter(t, b).write(10)
	r, err := audit.Verify(t.Context(), &audit.Server{Bus: b, Acknowledged: 12}, audit.Options{})
	if err != nil || r.Missing != 2 || !strings.Contains(texts(r), "the positions 11 to 12 are missing: position 12 was acknowledged") {
		t.Errorf("%v, %+v", err, r)
	}
}
