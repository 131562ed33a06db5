package target

import (
	"context"
	"net/url"
	"strings"

	"jaque.sh/jaque/appliance/sink"
	"jaque.sh/jaque/appliance/sink/encode"
)

type influx struct {
	*poster
	to    url.URL
	field string
	buf   []byte
}

// newInflux makes a target that takes line protocol: InfluxDB 1 with database, 2 and
// 3 with org and bucket, and everything else that has a path for it.
func newInflux(u *Setup, s *settings) (sink.Target, error) {
	t := &influx{poster: newPoster(u, s, "http://127.0.0.1:8086", "Token", true), field: s.text("field", "value")}
	t.to = *t.address
	q := t.to.Query()
	database, bucket, org := s.text("database", ""), s.text("bucket", ""), s.text("org", "")
	retention := s.text("retention", "")
	path := ""
	switch {
	case database != "" && bucket != "":
		s.bad("database", "database (InfluxDB 1) and bucket (InfluxDB 2) are given; keep one of them")
	case bucket != "":
		path = "/api/v2/write"
		q.Set("bucket", bucket)
		if org != "" {
			q.Set("org", org)
		}
	case org != "":
		s.bad("bucket", "it is missing; org is of InfluxDB 2, which writes to a bucket")
	case database != "":
		path = "/write"
		q.Set("db", database)
		if retention != "" {
			q.Set("rp", retention)
		}
	}
	if path != "" && !strings.HasSuffix(t.to.Path, "/write") {
		t.to.Path = strings.TrimRight(t.to.Path, "/") + path
	}
	if strings.Trim(t.to.Path, "/") == "" {
		s.bad("url", `it names no place to write to; add database: "jaque", or org and bucket, or the path, such as /write`)
	}
	q.Set("precision", "ms")
	t.to.RawQuery = q.Encode()
	return t, nil
}

// Write posts one batch.
func (t *influx) Write(ctx context.Context, b *sink.Batch) (int, error) {
	t.buf = encode.Influx(t.buf[:0], b.Samples, t.field)
	_, n, err := t.post(ctx, &t.to, t.buf, "Content-Type", "text/plain; charset=utf-8")
	return n, err
}

func (t *influx) Close() error { return t.close() }
