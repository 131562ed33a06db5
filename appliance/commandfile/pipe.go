package commandfile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Handler carries lines out, in their order, and tells the Tally what became of
// each. It returns when that is known; until then no more is read and writers
// wait. The lines are valid until it returns. ctx ends when the time for what a
// stop found in the pipe is over: then it begins no more lines and returns those
// that it has not begun, which are its own.
type Handler func(ctx context.Context, lines [][]byte) (left [][]byte)

// Options are what a Pipe needs. Path, Handle, Tally, Logger and Registerer are
// required.
type Options struct {
	Path       string
	Handle     Handler
	Tally      *Tally
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	// Drain is how long a stop may take to carry out what is in the pipe;
	// default 5 s.
	Drain time.Duration
	// Look is how often an idle pipe looks whether it still stands at its path;
	// default 30 s.
	Look time.Duration
}

// Pipe is the command file. Create it with Open.
type Pipe struct {
	opt     Options
	fifo    *fifo
	split   splitter
	buf     []byte
	metrics *metrics
	left    [][]byte // read and not carried out
}

// metrics count what is read.
type metrics struct {
	lines, bytes, partial, replaced, left prometheus.Counter
	last                                  prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	m := &metrics{
		lines:    counter("jaque_command_file_lines_total", "Whole lines read from the command file."),
		bytes:    counter("jaque_command_file_read_bytes_total", "Bytes read from the command file."),
		partial:  counter("jaque_command_file_partial_lines_total", "Lines thrown away because their writer ended inside them."),
		replaced: counter("jaque_command_file_replaced_total", "Times the command file was gone from its path and made again."),
		left:     counter("jaque_command_file_left_total", "Commands that a stop had no time for and kept for the next start."),
		last: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "jaque_command_file_last_line_timestamp_seconds", Help: "When the newest line was read from the command file; 0 = none yet.",
		}),
	}
	reg.MustRegister(m.lines, m.bytes, m.partial, m.replaced, m.left, m.last)
	return m
}

// Open makes the pipe with mode 0660, or takes the one that stands there as it
// is. Writers may come at once; they wait until Run reads. The error says what to
// do if the path cannot be used.
func Open(o Options) (*Pipe, error) {
	f, err := openFIFO(o.Path)
	if err != nil {
		return nil, err
	}
	if o.Drain <= 0 {
		o.Drain = 5 * time.Second
	}
	if o.Look <= 0 {
		o.Look = 30 * time.Second
	}
	return &Pipe{
		opt: o, fifo: f, buf: make([]byte, MaxLine), split: splitter{max: MaxLine}, metrics: newMetrics(o.Registerer),
	}, nil
}

// Close removes the pipe if Open made it, keeps what is in it for the next start,
// and closes it. Run does so itself; it is for a pipe that is never run.
func (p *Pipe) Close() error {
	work, cancel := context.WithCancel(context.Background())
	cancel() // nothing is carried out any more
	return p.end(work)
}

// end takes the pipe from its path, so that nobody new comes, closes it, so that
// those who write get an error, and carries out what was in it until work ends.
func (p *Pipe) end(work context.Context) error {
	err := p.fifo.remove()
	if err != nil {
		err = fmt.Errorf("remove the command file: %w", err)
	}
	if p.fifo.anchor == nil {
		return err
	}
	rest, sealErr := p.fifo.seal()
	if sealErr != nil {
		p.opt.Logger.Warn("the command file was closed while somebody may have written to it", "path", p.opt.Path, "err", sealErr)
	}
	for len(rest) > 0 {
		n := min(len(rest), len(p.buf))
		p.take(work, rest[:n])
		rest = rest[n:]
	}
	p.dropPartial()
	p.save()
	return err
}

// Run carries out what the last stop left, then reads until ctx ends. Then it
// closes the pipe and carries out what was in it for at most Options.Drain; what
// is not done by then it writes to a file beside the pipe, for the next start. It
// fails if the pipe cannot be read.
func (p *Pipe) Run(ctx context.Context, ready func()) error {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		p.fifo.interrupt()
		time.AfterFunc(p.opt.Drain, cancel)
	})
	defer stop()
	ready()
	if err := p.resume(work); err != nil {
		p.opt.Logger.Error("what the last stop left of the command file stays where it is", "err", err)
	}
	err := p.read(ctx, work)
	if ctx.Err() == nil {
		cancel() // it cannot be read: nothing is carried out any more
	}
	err = errors.Join(err, p.end(work))
	p.opt.Tally.Close()
	return err
}

// read hands on lines until ctx ends; work outlives it.
func (p *Pipe) read(ctx, work context.Context) error {
	for {
		p.fifo.pause(p.opt.Look)
		n, err := p.fifo.next(p.buf)
		switch {
		case err == nil:
			p.take(work, p.buf[:n])
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, errGone):
			p.dropPartial()
			if err := p.fifo.renew(); err != nil {
				p.lost(err)
			}
		case errors.Is(err, os.ErrDeadlineExceeded):
			if !p.fifo.inPlace() {
				p.lost(errors.New("nothing or something else stands at its path"))
			}
		default:
			return err
		}
	}
}

// take counts what was read and hands on the lines that end in it.
func (p *Pipe) take(ctx context.Context, chunk []byte) {
	p.metrics.bytes.Add(float64(len(chunk)))
	lines := p.split.feed(chunk, func(head []byte) { p.opt.Tally.Refuse(TooLong, head, errTooLong) })
	if len(lines) == 0 {
		return
	}
	p.metrics.lines.Add(float64(len(lines)))
	p.metrics.last.SetToCurrentTime()
	p.hand(ctx, lines)
}

// hand hands on lines, or keeps them when the time is over. What comes behind a
// line that is kept is kept too: it may build on it.
func (p *Pipe) hand(ctx context.Context, lines [][]byte) {
	lines = sound(lines, p.opt.Tally.Refuse)
	switch {
	case len(lines) == 0:
	case ctx.Err() != nil || len(p.left) > 0:
		p.keep(lines)
	default:
		p.keep(p.opt.Handle(ctx, lines))
	}
}

// dropPartial throws away a line whose writers are all gone: a command that was
// cut off may read like a whole one that means something else.
func (p *Pipe) dropPartial() {
	if line := p.split.end(); line != nil {
		p.metrics.partial.Inc()
		p.opt.Logger.Warn("command thrown away, its writer ended inside the line", "line", show(line), "bytes", len(line))
	}
}

// lost makes the pipe again that somebody took away while nothing was in it. If
// that cannot be, the old one is read on and the next look tries again: commands
// from elsewhere must not suffer.
func (p *Pipe) lost(why error) {
	p.metrics.replaced.Inc()
	if err := p.fifo.attach(); err != nil {
		p.fifo.met = false // sleep instead of reading the end again
		p.opt.Logger.Error("the command file was taken away and cannot be made again, trying again later",
			"path", p.opt.Path, "reason", why, "err", err, "next", p.opt.Look)
		return
	}
	p.opt.Logger.Error("the command file was taken away, it was made again", "path", p.opt.Path, "reason", why)
}
