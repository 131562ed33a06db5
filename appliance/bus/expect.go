package bus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Expectation is what is known beside the store about the log in a data folder: a start
// refuses a log that holds less.
type Expectation struct {
	// Last is the position that was acknowledged, or that the log was seen to reach;
	// 0 = not known.
	Last uint64
	// Gaps are positions missing inside the log whose loss was accepted.
	Gaps uint64
	// Members of the cluster whose log it is; 0 = it is nobody else's.
	Members int

	days []dayMark
}

// Expected reads what must be in the log of a data folder, whether a process works on it
// or not. Nothing is changed. What can be told is returned beside an error.
func Expected(data string) (Expectation, error) {
	e := Expectation{Last: Acknowledged(data)}
	size, _, err := readPeers(metaOf(data))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	case err != nil:
		err = fmt.Errorf("read who is in the cluster of data folder %s: %w", data, err)
	case size != unadmitted:
		e.Members = size
	}
	m, failed := readMarks(data)
	if m != nil {
		e.Last, e.Gaps, e.days = max(e.Last, m.Streams[NamesFor("").Log].Last), m.Gaps, m.Days
	}
	return e, errors.Join(err, failed)
}

// First returns the oldest position that must still be there, and when it was stored;
// 0 = nothing is known of it. A log keeps its events for so long; 0 = for ever.
func (e Expectation) First(keep time.Duration, now time.Time) (uint64, time.Time) {
	for _, d := range e.days {
		if keep <= 0 || !d.Time.Before(now.Add(-keep)) {
			return d.Seq, d.Time
		}
	}
	return 0, time.Time{}
}

// StoredAge returns how long a stream in a data folder keeps its messages, as its
// description says; 0 = for ever.
func StoredAge(data, stream string) (time.Duration, error) {
	text, err := os.ReadFile(filepath.Join(StreamFolder(data, stream), "meta.inf"))
	var c struct {
		Age time.Duration `json:"max_age"`
	}
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		return 0, fmt.Errorf("read the description of stream %s: %w", stream, err)
	}
	return c.Age, nil
}

// Running tells whether a process works on a data folder. Nothing is changed.
func Running(data string) bool {
	f, err := os.Open(filepath.Join(data, "lock"))
	if err != nil {
		return false
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		return errors.Is(err, syscall.EWOULDBLOCK)
	}
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // so does closing
	return false
}

// Unreadable are bytes of a block that are no record.
type Unreadable struct {
	At    int  // where they begin
	Bytes int  // how many
	Tail  bool // no record is behind them: a kill leaves such bytes in the newest block
	Err   error
}

// Error returns the place and what is wrong there.
func (u *Unreadable) Error() string {
	return fmt.Sprintf("%d bytes at byte %d: %v", u.Bytes, u.At, u.Err)
}

// Unwrap returns what is wrong.
func (u *Unreadable) Unwrap() error { return u.Err }

// AllRecords calls fn with every record in the bytes of a stream's block until it
// returns false, as Records does, and goes on behind bytes that are no record: bad is
// told of those, in front of the record that follows.
func AllRecords(stream string, index uint32, block []byte, fn func(*Record) bool, bad func(*Unreadable)) error {
	r, err := Block{stream: stream, index: index}.reader(block)
	if err != nil {
		return err
	}
	last := uint64(0)
	for len(r.rest) > 0 {
		at := len(block) - len(r.rest)
		seq, headers, data, err := r.next()
		if err != nil {
			next := r.resync(block, at+1, last)
			bad(&Unreadable{At: at, Bytes: next - at, Tail: next == len(block), Err: err})
			r.rest = block[next:]
			continue
		}
		one := Record{Seq: seq, Time: r.time, Subject: r.subject, Headers: headers, Data: data, Removed: seq == 0}
		if seq == 0 {
			one.Seq = r.goneNow
		}
		last = max(last, one.Seq)
		if !fn(&one) {
			return nil
		}
	}
	return nil
}
