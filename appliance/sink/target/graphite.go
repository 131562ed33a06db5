package target

import (
	"context"

	"jaque.sh/jaque/appliance/rule/sample"
	"jaque.sh/jaque/appliance/sink"
	"jaque.sh/jaque/appliance/sink/encode"
)

type graphite struct {
	*stream
	pickle bool
	buf    []byte
}

// carbonPickle is how many samples go into one message of the pickle receiver: it
// refuses messages above 1 MiB.
const carbonPickle = 2000

func newGraphite(u *Setup, s *settings) (sink.Target, error) {
	format := s.oneOf("format", "plaintext", "pickle")
	return &graphite{stream: newStream(u, s, "127.0.0.1:2003"), pickle: format == "pickle"}, nil
}

// Write sends one batch.
func (t *graphite) Write(ctx context.Context, b *sink.Batch) (int, error) {
	t.buf = t.buf[:0]
	switch {
	case t.pickle:
		for from := 0; from < len(b.Samples); from += carbonPickle {
			t.buf = encode.GraphitePickle(t.buf, part(b.Samples, from, carbonPickle))
		}
	default:
		t.buf = encode.Graphite(t.buf, b.Samples)
	}
	n, _, err := t.write(ctx, t.buf)
	return n, err
}

func part(all []sample.Sample, from, n int) []sample.Sample { return all[from:min(from+n, len(all))] }

func (t *graphite) Close() error { return nil }
