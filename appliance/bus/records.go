package bus

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Kept returns the names of the streams that a backup holds, in the order in which it
// takes them: what names positions of the log comes in front of the log, so that it
// never names a position behind its end. Who is a member now is left out.
func (n Names) Kept() []string {
	return []string{"KV_" + n.State, "OBJ_" + n.Snapshots, n.Results, n.Log}
}

// Record is one entry of a block. Its slices belong to the block.
type Record struct {
	Seq     uint64
	Time    int64 // when it was stored, nanoseconds since 1970
	Subject []byte
	Headers []byte // as the client has sent them; nil = none
	Data    []byte
	Removed bool // no message: it says that this position was removed
}

// RecordError says where a block cannot be read.
type RecordError struct {
	At  int // byte
	Err error
}

// Error returns the place and what is wrong there.
func (e *RecordError) Error() string { return fmt.Sprintf("at byte %d: %v", e.At, e.Err) }

// Unwrap returns what is wrong.
func (e *RecordError) Unwrap() error { return e.Err }

// Records calls fn with every record in the bytes of a stream's block until it returns
// false, and fails with a *RecordError at bytes that are no record.
func Records(stream string, index uint32, block []byte, fn func(*Record) bool) error {
	r, err := Block{stream: stream, index: index}.reader(block)
	if err != nil {
		return err
	}
	var one Record
	for len(r.rest) > 0 {
		at := len(block) - len(r.rest)
		seq, headers, data, err := r.next()
		if err != nil {
			return &RecordError{At: at, Err: err}
		}
		one = Record{Seq: seq, Time: r.time, Subject: r.subject, Headers: headers, Data: data, Removed: seq == 0}
		if seq == 0 {
			one.Seq = r.goneNow
		}
		if !fn(&one) {
			return nil
		}
	}
	return nil
}

// ErrNoStream: a data folder does not hold the stream.
var ErrNoStream = errors.New("there is no stream")

// StoredBlocks lists the files of a stream in a data folder in order, whether a process
// works on it or not. A folder without the stream is an error.
func StoredBlocks(data, stream string) ([]Block, error) {
	folder := StreamFolder(data, stream)
	if _, err := os.Stat(filepath.Join(folder, "msgs")); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%w %s in %s; name the data folder of an engine", ErrNoStream, stream, data)
		}
		return nil, fmt.Errorf("look at stream %s: %w", stream, err)
	}
	return listBlocks(folder, stream), nil
}

// Keeps tells whether a data folder holds a stream: not every member of a cluster does.
func Keeps(data, stream string) bool {
	_, err := os.Stat(filepath.Join(StreamFolder(data, stream), "msgs"))
	return err == nil
}

// StreamFolder is where a server keeps a stream in a data folder.
func StreamFolder(data, stream string) string {
	return filepath.Join(data, storeFolder, "$G", "streams", stream)
}

// Index returns the block's number among those of its stream.
func (k Block) Index() uint32 { return k.index }

// Used tells what of a log server's data stands in a folder; "" = nothing.
func Used(data string) string {
	for _, name := range []string{storeFolder, marksFile, ackFile} {
		if _, err := os.Lstat(filepath.Join(data, name)); err == nil {
			return filepath.Join(data, name)
		}
	}
	return ""
}

// StoreFiles are the names in a data folder that hold the log, in the order in which a
// store that was made elsewhere is moved there.
func StoreFiles() []string { return []string{storeFolder, ackFile, marksFile} }

// Acknowledged returns the position up to which the log in a data folder was
// acknowledged, as far as that is known; 0 = it is not.
func Acknowledged(data string) uint64 {
	f, err := os.Open(filepath.Join(data, ackFile))
	if err != nil {
		return 0
	}
	defer f.Close()
	return readAck(f)
}

// Lock takes a data folder for this process alone until release is called, as Open
// does. The folder is made if it is not there.
func Lock(data string) (release func() error, err error) {
	f, err := lockData(data)
	if err != nil {
		return nil, err
	}
	return func() error { return unlockData(f) }, nil
}
