package spawn

import (
	"encoding/binary"
	"errors"
	"syscall"
	"time"
)

// Limit is how many bytes of standard output, and of standard error, are kept.
const Limit = 64 << 10

// Request is one program to start.
type Request struct {
	Path    string   // absolute path of the program
	Args    []string // argv, with the program's name first
	Env     []string // KEY=value pairs on top of the pool's environment
	Timeout time.Duration
}

// Result is what became of one program.
type Result struct {
	Errno    syscall.Errno // why it could not be started; 0 = it was
	Status   syscall.WaitStatus
	TimedOut bool // killed because its time was over
	Killed   bool // killed because the caller's context ended
	OutCut   bool // standard output was longer than Limit
	ErrCut   bool // standard error was longer than Limit
	Out, Err []byte
	Start    time.Time
	Took     time.Duration
}

// Frames on the wire: 4 bytes length of what follows, 1 byte kind, 8 bytes id,
// body. Both ends are the same build, so there is no version.
const (
	frameStart  = 1
	frameKill   = 2
	frameResult = 3
	frameHello  = 4

	headLen  = 4
	fixedLen = 9
	maxFrame = 4 << 20
)

var (
	errFrame = errors.New("spawn: a frame is damaged")
	le       = binary.LittleEndian
)

// beginFrame appends a head whose length endFrame fills in.
func beginFrame(b []byte, kind byte, id uint64) []byte {
	b = append(b, 0, 0, 0, 0, kind)
	return le.AppendUint64(b, id)
}

func endFrame(b []byte, from int) []byte {
	le.PutUint32(b[from:], uint32(len(b)-from-headLen))
	return b
}

func appendText[T string | []byte](b []byte, s T) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

func appendList(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = appendText(b, s)
	}
	return b
}

func appendStart(b []byte, id uint64, r *Request) []byte {
	from := len(b)
	b = beginFrame(b, frameStart, id)
	b = le.AppendUint64(b, uint64(r.Timeout))
	b = appendText(b, r.Path)
	b = appendList(b, r.Args)
	b = appendList(b, r.Env)
	return endFrame(b, from)
}

func appendSignal(b []byte, kind byte, id uint64) []byte {
	from := len(b)
	return endFrame(beginFrame(b, kind, id), from)
}

const (
	flagTimedOut = 1 << iota
	flagKilled
	flagOutCut
	flagErrCut
)

func (r *Result) flags() (f byte) {
	for i, on := range [...]bool{r.TimedOut, r.Killed, r.OutCut, r.ErrCut} {
		if on {
			f |= 1 << i
		}
	}
	return f
}

func appendResult(b []byte, id uint64, r *Result) []byte {
	from := len(b)
	b = beginFrame(b, frameResult, id)
	b = append(b, r.flags())
	b = le.AppendUint32(b, uint32(r.Errno))
	b = le.AppendUint32(b, uint32(r.Status))
	b = le.AppendUint64(b, uint64(r.Start.UnixNano()))
	b = le.AppendUint64(b, uint64(r.Took))
	b = appendText(b, r.Out)
	b = appendText(b, r.Err)
	return endFrame(b, from)
}

// frame is one parsed frame; body aliases the buffer it was cut from.
type frame struct {
	kind byte
	id   uint64
	body []byte
}

// cutFrame takes one whole frame off the front of b. It returns ok false while
// the frame is incomplete, and an error when the bytes cannot be a frame.
func cutFrame(b []byte) (f frame, rest []byte, ok bool, err error) {
	if len(b) < headLen {
		return f, b, false, nil
	}
	n := int(le.Uint32(b))
	if n < fixedLen || n > maxFrame {
		return f, b, false, errFrame
	}
	if len(b) < headLen+n {
		return f, b, false, nil
	}
	whole := b[headLen : headLen+n]
	return frame{kind: whole[0], id: le.Uint64(whole[1:]), body: whole[fixedLen:]}, b[headLen+n:], true, nil
}

// reader takes values off a frame's body; after the first damage it is bad and
// gives zero values.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n uint64) []byte {
	if r.bad || n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	got := r.b[:n]
	r.b = r.b[n:]
	return got
}

func (r *reader) uint32() uint32 {
	if b := r.take(4); b != nil {
		return le.Uint32(b)
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if b := r.take(8); b != nil {
		return le.Uint64(b)
	}
	return 0
}

func (r *reader) count() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *reader) text() []byte { return r.take(r.count()) }

func (r *reader) list() []string {
	n := r.count()
	if n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	if n == 0 {
		return nil
	}
	list := make([]string, 0, n)
	for range n {
		list = append(list, string(r.text()))
	}
	return list
}

func parseStart(body []byte) (Request, error) {
	r := reader{b: body}
	req := Request{Timeout: time.Duration(r.uint64())}
	req.Path = string(r.text())
	req.Args = r.list()
	req.Env = r.list()
	if r.bad || len(r.b) != 0 {
		return Request{}, errFrame
	}
	return req, nil
}

// parseResult copies what it keeps, so the buffer may be reused.
func parseResult(body []byte) (Result, error) {
	r := reader{b: body}
	var res Result
	if f := r.take(1); f != nil {
		res.TimedOut, res.Killed = f[0]&flagTimedOut != 0, f[0]&flagKilled != 0
		res.OutCut, res.ErrCut = f[0]&flagOutCut != 0, f[0]&flagErrCut != 0
	}
	res.Errno = syscall.Errno(r.uint32())
	res.Status = syscall.WaitStatus(r.uint32())
	res.Start = time.Unix(0, int64(r.uint64()))
	res.Took = time.Duration(r.uint64())
	out, errs := r.text(), r.text()
	if r.bad || len(r.b) != 0 {
		return Result{}, errFrame
	}
	both := make([]byte, 0, len(out)+len(errs))
	both = append(append(both, out...), errs...)
	res.Out, res.Err = both[:len(out):len(out)], both[len(out):]
	return res, nil
}
