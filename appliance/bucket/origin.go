package bucket

import (
	"bufio"
	"bytes"
	"net/textproto"
)

// Headers that the server and its clients give a message.
const (
	// StreamHeader is in a message that the server delivered from its store.
	StreamHeader = "Nats-Stream"

	ttlHeader    = "Nats-TTL"
	expectHeader = "Nats-Expected-Last-Subject-Sequence"
	deleteHeader = "KV-Operation"
	markerHeader = "Nats-Marker-Reason"
	never        = "never" // a life time without an end
)

// deliveredLine begins StreamHeader among the headers that are stored with a message.
var deliveredLine = []byte("\r\n" + StreamHeader + ":")

// Delivered tells from the headers stored with a message whether the server delivered it
// there from its store: nobody has published it as what it is.
func Delivered(headers []byte) bool {
	return len(headers) > 0 && bytes.Contains(headers, deliveredLine)
}

// parse reads a block of headers; one that cannot be read has none.
func parse(block []byte) textproto.MIMEHeader {
	_, rest, ok := bytes.Cut(block, []byte("\r\n")) // behind the protocol's version
	if !ok {
		return nil
	}
	h, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(rest))).ReadMIMEHeader()
	if err != nil {
		return nil
	}
	return h
}

// written tells whether a message was put or removed by a Bucket. It compares and it has
// a life time: nothing that the server stores elsewhere has both, because the log takes
// no life times, work is not compared, and answers of the server's own have no headers.
func written(h textproto.MIMEHeader) bool {
	return h.Get(expectHeader) != "" && h.Get(ttlHeader) != "" && h.Get(StreamHeader) == ""
}
