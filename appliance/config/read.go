package config

import (
	"fmt"
	"io"
	"os"
)

// The largest files that are read, in bytes.
const (
	maxInventory = 256 << 20
	maxSource    = 64 << 20 // one CUE file
	maxSecret    = 1 << 20
)

// readRegular reads a file of at most limit bytes. It refuses everything that
// may never end or never begin, such as devices and pipes: a reload must come
// back with an answer.
func readRegular(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		return nil, fmt.Errorf("it is a folder; name a file")
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("it is a device, a pipe or a socket; name a file on disk")
	case info.Size() > limit:
		return nil, tooLarge(limit)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// The size that a file claims is not always what it holds.
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = tooLarge(limit)
	}
	return content, err
}

// tooLarge is the error about a file beyond its limit.
func tooLarge(limit int64) error {
	return fmt.Errorf("it is larger than %d MiB; split it or leave out what hosts do not need", limit>>20)
}
