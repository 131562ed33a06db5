package client

import (
	"bytes"
	"io"
)

// array writes the answers of several commands as one JSON array, so that programs
// read one value however many ids there were.
type array struct {
	to    io.Writer
	began bool
}

// Write adds one whole answer.
func (a *array) Write(answer []byte) (int, error) {
	mark := ","
	if !a.began {
		mark, a.began = "[", true
	}
	if _, err := io.WriteString(a.to, mark); err != nil {
		return 0, err
	}
	if _, err := a.to.Write(bytes.TrimSpace(answer)); err != nil {
		return 0, err
	}
	return len(answer), nil
}

// end closes the array, empty if every command was refused.
func (a *array) end() error {
	closing := "]\n"
	if !a.began {
		closing = "[]\n"
	}
	_, err := io.WriteString(a.to, closing)
	return err
}
