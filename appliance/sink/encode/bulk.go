package encode

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/wire"
)

// BulkItem appends the two lines by which an event becomes a document. Its id is the
// place of the event on the log and the event's own, so that a repetition makes no
// second document. text is the event as a JSON object.
func BulkItem(dst []byte, index string, e *event.Event, text []byte) []byte {
	dst = wire.String(append(dst, `{"create":{"_index":`...), index)
	dst = append(dst, `,"_id":`...)
	dst = wire.String(dst, DocumentID(e))
	dst = append(dst, `}}`+"\n"+`{"@timestamp":"`...)
	dst = e.Time.Std().AppendFormat(dst, time.RFC3339Nano)
	dst = append(dst, '"')
	if len(text) > len("{}") {
		dst = append(dst, ',')
	}
	return append(append(dst, text[min(1, len(text)):]...), '\n')
}

// DocumentID names an event the same way at every reading, and apart from those of
// other logs.
func DocumentID(e *event.Event) string {
	id := position(nil, e.Stream.String(), e.Seq)
	if e.ID != "" {
		id = append(append(id, '-'), e.ID...)
	}
	const most = 512 // bytes of an id
	return string(id[:min(len(id), most)])
}

// BulkResult is what became of one item of a bulk request.
type BulkResult struct {
	Status int    // as of HTTP
	Reason string // "" if there is none
}

// BulkAnswer reads the answer to a bulk request of n items. Without errors it
// returns nil.
func BulkAnswer(body []byte, n int) ([]BulkResult, error) {
	var answer struct {
		Errors *bool
		Items  []map[string]struct {
			Status int
			Error  json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("read the answer to a bulk request: %w", err)
	}
	switch {
	case answer.Errors == nil:
		return nil, errors.New(`read the answer to a bulk request: it says nothing of errors; is the address that of Elasticsearch or OpenSearch?`)
	case !*answer.Errors:
		return nil, nil
	case len(answer.Items) != n:
		return nil, fmt.Errorf("read the answer to a bulk request: it is about %d items, not %d", len(answer.Items), n)
	}
	out := make([]BulkResult, n)
	for i, item := range answer.Items {
		if len(item) != 1 {
			return nil, fmt.Errorf("read the answer to a bulk request: item %d has %d actions, not one", i, len(item))
		}
		for _, one := range item {
			out[i] = BulkResult{one.Status, bulkReason(one.Error)}
		}
	}
	return out, nil
}

// bulkReason reads the reason of an error, which may be an object or a text.
func bulkReason(raw json.RawMessage) string {
	var object struct{ Type, Reason string }
	var words string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return ""
	case json.Unmarshal(raw, &object) == nil && object.Type+object.Reason != "":
		words = object.Type + ": " + object.Reason
	case json.Unmarshal(raw, &words) != nil:
		words = string(raw)
	}
	const most = 300
	return words[:min(len(words), most)]
}
