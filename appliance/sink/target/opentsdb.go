package target

import (
	"context"
	"fmt"
	"strings"

	"jaque.sh/jaque/appliance/sink"
	"jaque.sh/jaque/appliance/sink/encode"
)

// newOpenTSDB makes a target of JSON over HTTP if it has a url, else of the telnet
// form.
func newOpenTSDB(u *Setup, s *settings) (sink.Target, error) {
	if s.all["url"] == "" {
		s.text("url", "")
		return &telnet{stream: newStream(u, s, "127.0.0.1:4242")}, nil
	}
	s.text("address", "")
	if s.all["address"] != "" {
		s.bad("address", "address (telnet) and url (JSON) are given; keep one of them")
	}
	p := newPoster(u, s, "http://127.0.0.1:4242", "Bearer", true)
	if strings.Trim(p.address.Path, "/") == "" {
		p.address = p.address.JoinPath("/api/put")
	}
	return &putJSON{poster: p}, nil
}

type telnet struct {
	*stream
	buf []byte
}

// Write sends one batch. OpenTSDB says nothing unless something is wrong with a line.
func (t *telnet) Write(ctx context.Context, b *sink.Batch) (int, error) {
	t.buf = encode.OpenTSDB(t.buf[:0], b.Samples)
	n, said, err := t.write(ctx, t.buf)
	if err == nil && strings.TrimSpace(said) != "" {
		first, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
		err = &sink.Error{Err: fmt.Errorf("%s says %q", t.address, first[:min(len(first), 300)]), Permanent: true}
	}
	return n, err
}

func (t *telnet) Close() error { return nil }

type putJSON struct {
	*poster
	buf []byte
}

// Write posts one batch.
func (t *putJSON) Write(ctx context.Context, b *sink.Batch) (int, error) {
	t.buf = encode.OpenTSDBJSON(t.buf[:0], b.Samples)
	_, n, err := t.post(ctx, t.address, t.buf, "Content-Type", "application/json")
	return n, err
}

func (t *putJSON) Close() error { return t.close() }
