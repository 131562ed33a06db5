package backup

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/bus"
)

// The server stores a part message by message before it says that it goes on: a part that
// compresses well must not hold thousands of them.
func TestNoPartOfARestoreHoldsMuch(t *testing.T) {
	t.Parallel()
	b, err := bus.Open(t.Context(), bus.Options{Data: t.TempDir(), Bare: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	var got bytes.Buffer
	var parts, largest int
	sub, err := b.Conn().Subscribe("the.server", func(m *nats.Msg) {
		if len(m.Data) == 0 {
			_ = m.Respond([]byte(`{"state":{"last_seq":7}}`))
			return
		}
		parts++
		before := got.Len()
		got.Write(m.Data)
		whole, err := io.ReadAll(s2.NewReader(bytes.NewReader(got.Bytes())))
		if err != nil {
			t.Errorf("after %d parts the archive cannot be read up to here: %v", parts, err)
		}
		part, _ := io.ReadAll(s2.NewReader(bytes.NewReader(got.Bytes()[:before])))
		largest = max(largest, len(whole)-len(part))
		_ = m.Respond(nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Unsubscribe() })
	r, w := io.Pipe()
	want := strings.Repeat("a line that compresses well\n", 20_000)
	go func() {
		z := compressor(w)
		_, err := io.WriteString(z, want)
		if err == nil {
			err = z.Close()
		}
		_ = w.CloseWithError(err)
	}()
	if end := send(t.Context(), b.Conn(), "the.server", r); end.err != nil || end.state.LastSeq != 7 {
		t.Fatalf("it ends with %+v", end)
	}
	text, err := io.ReadAll(s2.NewReader(&got))
	if err != nil || string(text) != want {
		t.Errorf("%d bytes arrived of %d, %v", len(text), len(want), err)
	}
	if largest == 0 || largest > pieceMost {
		t.Errorf("one of %d parts holds %d bytes, want at most %d", parts, largest, pieceMost)
	}
}

func TestARestoreThatTheServerGivesUpSaysWhy(t *testing.T) {
	for answer, want := range map[string]string{
		``: "",
		`{"error":{"code":500,"err_code":10062,"description":"restore failed: io: read/write on closed pipe"}}`: "its disk is too slow",
		`{"error":{"code":500,"err_code":10047,"description":"insufficient storage"}}`:                          "insufficient storage",
		`{`: "unexpected end",
	} {
		err := refusal([]byte(answer))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", answer, err, want)
		}
	}
	if end := final([]byte(`{}`)); end.err == nil {
		t.Error("an answer without what the server has is taken")
	}
}
