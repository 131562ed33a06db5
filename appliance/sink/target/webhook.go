package target

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"jaque.sh/jaque/appliance/sink"
	"jaque.sh/jaque/appliance/sink/encode"
)

type webhook struct {
	*poster
	buf []byte
}

func newWebhook(u *Setup, s *settings) (sink.Target, error) {
	return &webhook{poster: newPoster(u, s, "https://example.com/hook", "Bearer", false)}, nil
}

// Write posts {"samples":[…]} or {"events":[…]}. The header Idempotency-Key is made
// of the body, so that a repetition has the same one.
func (t *webhook) Write(ctx context.Context, b *sink.Batch) (int, error) {
	t.buf = append(t.buf[:0], `{"samples":[`...)
	if len(b.Events) > 0 {
		t.buf = append(t.buf[:0], `{"events":[`...)
	}
	for i := range b.Samples {
		if i > 0 {
			t.buf = append(t.buf, ',')
		}
		t.buf = encode.Sample(t.buf, &b.Samples[i])
	}
	for i := range b.Events {
		if i > 0 {
			t.buf = append(t.buf, ',')
		}
		t.buf = append(t.buf, b.Events[i].JSON...)
	}
	t.buf = append(t.buf, `]}`...)
	sum := sha256.Sum256(t.buf)
	_, n, err := t.post(ctx, t.address, t.buf, "Content-Type", "application/json", "Idempotency-Key", hex.EncodeToString(sum[:16]))
	return n, err
}

func (t *webhook) Close() error { return t.close() }
