package target

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"jaque.sh/jaque/appliance/sink"
	"jaque.sh/jaque/appliance/sink/encode"
)

type elastic struct {
	*poster
	index string
	buf   []byte
}

// newElastic makes a target that takes bulk requests of Elasticsearch or OpenSearch.
func newElastic(u *Setup, s *settings) (sink.Target, error) {
	t := &elastic{poster: newPoster(u, s, "http://127.0.0.1:9200", "ApiKey", true), index: s.text("index", "jaque-events")}
	if plain := strings.NewReplacer("%Y", "", "%m", "", "%d", "").Replace(t.index); plain == "" || plain != strings.ToLower(plain) || strings.ContainsAny(plain, `%*?"<>| ,#:/\\`) {
		s.bad("index", `%q is no name of an index; write small letters, and %%Y, %%m and %%d for parts of the date`, t.index)
	}
	if !strings.HasSuffix(t.address.Path, "/_bulk") {
		t.address = t.address.JoinPath("/_bulk")
	}
	return t, nil
}

// Write makes one bulk request. Each item is judged by itself.
func (t *elastic) Write(ctx context.Context, b *sink.Batch) (int, error) {
	t.buf = t.buf[:0]
	for i := range b.Events {
		d := &b.Events[i]
		t.buf = encode.BulkItem(t.buf, encode.Date(t.index, d.Event.Time.Std()), &d.Event, d.JSON)
	}
	a, n, err := t.post(ctx, t.address, t.buf, "Content-Type", "application/x-ndjson")
	if err != nil {
		return n, err
	}
	results, err := encode.BulkAnswer(a.body, len(b.Events))
	if err != nil {
		return n, fmt.Errorf("%s: %w", t.address.Host, err)
	}
	return n, t.judge(results)
}

// judge turns the results of items into an error, nil if all were taken. A document
// that is there already was taken before.
func (t *elastic) judge(results []encode.BulkResult) error {
	e := &sink.Error{Partial: true}
	for i, r := range results {
		switch {
		case r.Status/100 == 2, r.Status == http.StatusConflict:
		case r.Status == http.StatusBadRequest, r.Status == http.StatusRequestEntityTooLarge, r.Status == http.StatusUnprocessableEntity:
			e.Refused = append(e.Refused, sink.Refusal{Index: i, Reason: t.secrets.Clean(r.Reason)})
		default:
			if len(e.Again) == 0 {
				e.Err = fmt.Errorf("%s answers %d for an item: %s", t.address.Host, r.Status, t.secrets.Clean(r.Reason))
			}
			e.Again = append(e.Again, i)
		}
	}
	switch {
	case len(e.Again)+len(e.Refused) == 0:
		return nil
	case e.Err == nil:
		e.Err = fmt.Errorf("%s refuses %d of %d items, the first: %s", t.address.Host, len(e.Refused), len(results), e.Refused[0].Reason)
	}
	return e
}

func (t *elastic) Close() error { return t.close() }
