package credential

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
)

// largest is far more than a file of credentials has, in bytes.
const largest = 1 << 20

// Read reads a file. One that everybody on the machine can read is used with a
// warning.
func Read(path string, log *slog.Logger) (*Credentials, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the credentials of -nats-creds: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the credentials of -nats-creds: %w", err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("read the credentials of -nats-creds: %s is a folder; name the file in it", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, largest+1))
	if err == nil && len(text) > largest {
		err = errors.New("it is too large")
	}
	var c *Credentials
	if err == nil {
		c, err = parse(text)
	}
	if err != nil {
		return nil, fmt.Errorf("read the credentials of -nats-creds: %s: %w; make a file with \"jaque credentials\" where the server runs", path, err)
	}
	if info.Mode().IsRegular() && info.Mode().Perm()&0o007 != 0 {
		log.Warn("everybody on this machine can read the credentials; take that right away", "file", path, "mode", info.Mode().Perm().String())
	}
	return c, nil
}

// Write makes the file with mode 0600. One that exists is never overwritten: a
// process may use it.
func (c *Credentials) Write(path string) (err error) {
	text, err := c.encode()
	if err != nil {
		return fmt.Errorf("write credentials: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("write credentials: %s exists and may be in use; choose another file with -out, or remove it", path)
	}
	if err != nil {
		return fmt.Errorf("write credentials: %w", err)
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(fmt.Errorf("write credentials: %w", err), os.Remove(path))
		}
	}()
	if _, err = f.Write(text); err != nil {
		return err
	}
	return f.Sync()
}
