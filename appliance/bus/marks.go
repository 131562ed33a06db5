package bus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Names in the data folder. storeFolder is the server's own.
const (
	storeFolder = "jetstream"
	marksFile   = "marks.json"
	ackFile     = "acknowledged"
)

// marks say what the store held when it was last looked at. They are written
// atomically, at most every ten seconds and at a clean stop.
type marks struct {
	Streams map[string]streamMark `json:"streams"`
	Days    []dayMark             `json:"days"` // of the log, oldest first
	// Gaps are positions missing inside the log, whose loss an operator accepted.
	Gaps uint64 `json:"gaps"`
	// Given are removals by which an operator gave up what the log may have lacked, and
	// that these marks are newer than.
	Given []string `json:"given,omitempty"`
}

// streamMark is the least a stream must still reach.
type streamMark struct {
	Created time.Time `json:"created"`
	Last    uint64    `json:"last"`
	// Replicas of the stream in a cluster, with this one; 0 or 1 = this one alone.
	Replicas int `json:"replicas,omitempty"`
	// Messages between the first and the last position, and where the first
	// stands and since when; of the log and the measurements only.
	Messages  uint64    `json:"messages,omitempty"`
	First     uint64    `json:"first,omitempty"`
	FirstTime time.Time `json:"first_time,omitzero"`
}

// dayMark is a position of the log and when it was stored.
type dayMark struct {
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time"`
}

// readMarks returns nil if there are none.
func readMarks(data string) (*marks, error) {
	path := filepath.Join(data, marksFile)
	buf, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read marks of the log store %s: %w", path, err)
	}
	m := &marks{}
	text, sum, _ := bytes.Cut(buf, []byte("\n#"))
	err = json.Unmarshal(text, m)
	if err == nil && string(sum) != marksSum(text) {
		err = errors.New("its checksum is wrong")
	}
	if err != nil {
		return nil, fmt.Errorf("read marks of the log store %s: %w; restore the file from a backup, or %s", path, err, acceptLoss(data))
	}
	return m, nil
}

func (m *marks) write(data string) error {
	buf, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("write marks of the log store: %w", err)
	}
	path := filepath.Join(data, marksFile)
	f, err := os.CreateTemp(data, marksFile+".*")
	if err != nil {
		return fmt.Errorf("write marks of the log store: %w", err)
	}
	_, err = fmt.Fprintf(f, "%s\n#%s", buf, marksSum(buf))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write marks of the log store %s: %w", path, err), os.Remove(f.Name()))
	}
	return nil
}

// marksSum is the last line of the marks file.
func marksSum(text []byte) string { return fmt.Sprintf(" %08x\n", crc32.ChecksumIEEE(text)) }

// addDay notes a position of the log once a day and forgets days that retention
// has removed.
func (m *marks) addDay(seq uint64, at time.Time, oldest time.Time) {
	if seq > 0 && (len(m.Days) == 0 || at.Sub(m.Days[len(m.Days)-1].Time) >= 24*time.Hour) {
		m.Days = append(m.Days, dayMark{Seq: seq, Time: at})
	}
	for len(m.Days) > 0 && m.Days[0].Time.Before(oldest) {
		m.Days = m.Days[1:]
	}
}

// ackLine is the whole content of the acknowledged file: fixed length, so that
// it is overwritten in place, and with a checksum, so that a torn write shows.
func ackLine(seq uint64) []byte {
	text := fmt.Sprintf("%020d", seq)
	return fmt.Appendf(nil, "%s %08x\n", text, crc32.ChecksumIEEE([]byte(text)))
}

// readAck returns the position in the acknowledged file; 0 if there is none or
// it is torn, which can only happen at a power cut.
func readAck(f *os.File) uint64 {
	buf := make([]byte, len(ackLine(0)))
	if n, _ := f.ReadAt(buf, 0); n < len(buf) {
		return 0
	}
	var seq uint64
	text, _, _ := strings.Cut(string(buf), " ")
	if _, err := fmt.Sscanf(text, "%d", &seq); err != nil || string(ackLine(seq)) != string(buf) {
		return 0
	}
	return seq
}
