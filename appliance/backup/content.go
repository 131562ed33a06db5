package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// content sums up one stream on its way into a file or out of it.
type content struct {
	Stream
	reached uint64 // last position so far
}

// errOrder: positions do not rise.
var errOrder = errors.New("the positions of its messages are out of order")

// add takes a message in.
func (c *content) add(m *Message) error {
	if m.Seq <= c.reached {
		return fmt.Errorf("stream %s: %w: %d behind %d", c.Name, errOrder, m.Seq, c.reached)
	}
	if c.Messages == 0 {
		c.First = m.Seq
	}
	c.reached = m.Seq
	c.Messages++
	c.Bytes += int64(len(m.Subject) + len(m.Headers) + len(m.Data))
	c.Newest = time.Unix(0, m.Time).UTC()
	return nil
}

// part takes the end of a part in and returns its name.
func (c *content) part(data []byte) string {
	sum := sha256.Sum256(data)
	name := partName(c.Name, len(c.Parts)+1)
	c.Parts = append(c.Parts, Part{Name: name, Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:])})
	return name
}

// end sums up what a stream holds that reached a position.
func (c *content) end(last uint64) Stream {
	if c.Last = max(last, c.reached); c.Messages == 0 {
		c.First = c.Last + 1
	}
	c.Missing = c.Last - c.First + 1 - c.Messages
	return c.Stream
}
