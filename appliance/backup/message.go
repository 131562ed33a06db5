package backup

import (
	"encoding/binary"
	"errors"
)

// Message is one message as it stands on a stream. Its slices are valid during a call
// only.
type Message struct {
	Seq     uint64
	Time    int64 // when it was stored, nanoseconds since 1970
	Subject []byte
	Headers []byte // as they were sent; nil = none
	Data    []byte
}

// errMessage: what stands in a part is no message.
var errMessage = errors.New("no readable message")

// appendMessage encodes a message like the log server in its backups: the length of the
// subject, time, position and the lengths of headers and data as variable integers, then
// the three texts.
func appendMessage(dst []byte, m *Message) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(m.Subject)))
	dst = binary.AppendVarint(dst, m.Time)
	dst = binary.AppendUvarint(dst, m.Seq)
	dst = binary.AppendUvarint(dst, uint64(len(m.Headers)))
	dst = binary.AppendUvarint(dst, uint64(len(m.Data)))
	dst = append(dst, m.Subject...)
	dst = append(dst, m.Headers...)
	return append(dst, m.Data...)
}

// nextMessage decodes the message at the begin of a part; its slices lie there.
func nextMessage(part []byte, m *Message) (rest []byte, err error) {
	var lengths [3]uint64
	var n int
	uint := func(v *uint64) {
		if err == nil {
			if *v, n = binary.Uvarint(part); n <= 0 {
				err = errMessage
				return
			}
			part = part[n:]
		}
	}
	uint(&lengths[0])
	if err == nil {
		if m.Time, n = binary.Varint(part); n <= 0 {
			return nil, errMessage
		}
		part = part[n:]
	}
	uint(&m.Seq)
	uint(&lengths[1])
	uint(&lengths[2])
	for i, field := range []*[]byte{&m.Subject, &m.Headers, &m.Data} {
		if err != nil || lengths[i] > uint64(len(part)) {
			return nil, errMessage
		}
		*field, part = part[:lengths[i]:lengths[i]], part[lengths[i]:]
	}
	return part, nil
}

// Messages calls fn with every message of a part until it returns false.
func Messages(part []byte, fn func(*Message) bool) error {
	var m Message
	for len(part) > 0 {
		var err error
		if part, err = nextMessage(part, &m); err != nil {
			return err
		}
		if !fn(&m) {
			return nil
		}
	}
	return nil
}
