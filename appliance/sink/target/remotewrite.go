package target

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/klauspost/compress/snappy"

	"jaque.sh/jaque/appliance/sink"
	"jaque.sh/jaque/appliance/sink/encode"
)

type remoteWrite struct {
	*poster
	encoder     encode.RemoteWrite
	second      bool // version 2.0
	buf, packed []byte
}

// newRemoteWrite makes a target that takes Prometheus' remote write.
func newRemoteWrite(u *Setup, s *settings) (sink.Target, error) {
	p := newPoster(u, s, "http://127.0.0.1:9090/api/v1/write", "Bearer", false)
	if p.zip {
		s.bad("gzip", "remote write is always packed with snappy; leave it out")
	}
	version := s.oneOf("version", "1", "1.0", "2", "2.0")
	if p.address.Host != "" && strings.Trim(p.address.Path, "/") == "" {
		s.bad("url", "it has no path; write %s/api/v1/write", p.address.Redacted())
	}
	return &remoteWrite{poster: p, second: strings.HasPrefix(version, "2")}, nil
}

// Write posts one batch.
func (t *remoteWrite) Write(ctx context.Context, b *sink.Batch) (int, error) {
	kind, version, count := "application/x-protobuf", "0.1.0", 0
	if t.second {
		kind, version = "application/x-protobuf;proto=io.prometheus.write.v2.Request", "2.0.0"
		t.buf, count = t.encoder.Version2(t.buf[:0], b.Samples)
	} else {
		t.buf = t.encoder.Version1(t.buf[:0], b.Samples)
	}
	t.packed = snappy.Encode(t.packed[:cap(t.packed)], t.buf)
	a, n, err := t.post(ctx, t.address, t.packed,
		"Content-Type", kind, "Content-Encoding", "snappy", "X-Prometheus-Remote-Write-Version", version)
	if err != nil || !t.second {
		return n, err
	}
	return n, t.written(a, count)
}

// written looks whether a receiver of version 2.0 has really taken all. One that
// knows only 1.0 finds nothing in the request and says that all is well.
func (t *remoteWrite) written(a *answer, count int) error {
	text := a.header.Get("X-Prometheus-Remote-Write-Samples-Written")
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return fmt.Errorf(`%s does not say how many samples it has written, so it knows only remote write 1.0; write version: "1"`, t.address.Host)
	case n < count:
		return &sink.Error{Err: fmt.Errorf("%s has written %d of %d samples", t.address.Host, n, count), Permanent: true}
	}
	return nil
}

func (t *remoteWrite) Close() error { return t.close() }
