package backup

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// File is a backup to read. Check it before anything in it is trusted.
type File struct {
	name string
}

// Open names a backup; it is read by Check and Each.
func Open(name string) (*File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("open the backup: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open the backup: %s is no file; name a file of \"jaque backup\"", name)
	}
	return &File{name: name}, nil
}

// Each calls fn with every part of every stream in order, see Messages. It checks the
// form of the file and nothing else.
func (f *File) Each(ctx context.Context, fn func(stream string, part []byte) error) error {
	_, err := f.read(ctx, func(_, stream string, part []byte) error {
		if err := fn(stream, part); err != nil {
			return &stopped{err}
		}
		return nil
	})
	return err
}

// Check reads everything and compares it with the manifest, which it returns: every
// part of every stream is there with its checksum, and every message in it can be read.
func (f *File) Check(ctx context.Context) (Manifest, error) {
	found := map[string]*content{}
	m, err := f.read(ctx, func(name, stream string, part []byte) error {
		c := found[stream]
		if c == nil {
			c = &content{Stream: Stream{Name: stream}}
			found[stream] = c
		}
		if got := c.part(part); got != name {
			return fmt.Errorf("%s stands where %s belongs", name, got)
		}
		var wrong error
		err := Messages(part, func(m *Message) bool {
			wrong = c.add(m)
			return wrong == nil
		})
		return errors.Join(err, wrong)
	})
	if err != nil {
		return m, err
	}
	for i := range m.Streams {
		want := &m.Streams[i]
		c := found[want.Name]
		if c == nil {
			c = &content{Stream: Stream{Name: want.Name}}
		}
		delete(found, want.Name)
		if err := f.compare(want, c); err != nil {
			return m, err
		}
	}
	for name := range found {
		return m, f.wrong("it holds a stream %s of which its manifest says nothing", name)
	}
	if m.Log().Name == "" {
		return m, f.wrong("it holds no event log")
	}
	return m, nil
}

// compare tells whether a stream is what the manifest says.
func (f *File) compare(want *Stream, c *content) error {
	if len(want.Parts) != len(c.Parts) {
		return f.wrong("stream %s has %d parts and its manifest names %d", want.Name, len(c.Parts), len(want.Parts))
	}
	for i, part := range want.Parts {
		if part != c.Parts[i] {
			return f.wrong("%s has another checksum than its manifest says", part.Name)
		}
	}
	if got := c.end(want.Last); want.First != got.First || want.Last != got.Last || want.Messages != got.Messages || !streamForm.MatchString(want.Name) {
		return f.wrong("stream %s holds %d messages, %d to %d, and its manifest says %d, %d to %d", got.Name, got.Messages, got.First, got.Last, want.Messages, want.First, want.Last)
	}
	return nil
}

func (f *File) wrong(format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s; nothing was changed", ErrFile, f.name, fmt.Sprintf(format, args...))
}

// read walks through the archive; the manifest is the zero one if an error comes first.
func (f *File) read(ctx context.Context, fn func(name, stream string, part []byte) error) (Manifest, error) {
	var m Manifest
	in, err := os.Open(f.name)
	if err != nil {
		return m, fmt.Errorf("open the backup: %w", err)
	}
	defer in.Close()
	zip, err := zstd.NewReader(in, zstd.WithDecoderMaxMemory(1<<30), zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return m, fmt.Errorf("open the backup: %w", err)
	}
	defer zip.Close()
	r := tar.NewReader(zip)
	if err := f.begin(r); err != nil {
		return m, err
	}
	var buf []byte
	for {
		if err := ctx.Err(); err != nil {
			return m, err
		}
		h, err := r.Next()
		if err != nil {
			return m, f.cut(err)
		}
		if h.Name == manifestName {
			if err := f.json(r, h, &m); err != nil {
				return m, err
			}
			return m, f.last(r)
		}
		stream := streamOf(h.Name)
		if stream == "" {
			return m, f.wrong("it holds something named %.60q", h.Name)
		}
		if h.Size < 0 || h.Size > partMost {
			return m, f.wrong("%s has %d bytes, which is too much", h.Name, h.Size)
		}
		if buf = slices.Grow(buf[:0], int(h.Size))[:h.Size]; h.Size > 0 {
			if _, err := io.ReadFull(r, buf); err != nil {
				return m, f.cut(err)
			}
		}
		if err := fn(h.Name, stream, buf); err != nil {
			return m, f.inside(err)
		}
	}
}

// begin reads the first member.
func (f *File) begin(r *tar.Reader) error {
	h, err := r.Next()
	if err != nil || h.Name != beginName {
		return f.wrong("it is no backup of jaque")
	}
	var b Begin
	if err := f.json(r, h, &b); err != nil {
		return err
	}
	if err := b.check(); err != nil {
		return f.wrong("%s", strings.TrimPrefix(err.Error(), ErrFile.Error()+": "))
	}
	return nil
}

func (f *File) json(r io.Reader, h *tar.Header, v any) error {
	if h.Size > textMost {
		return f.wrong("%s has %d bytes, which is too much", h.Name, h.Size)
	}
	text, err := io.ReadAll(io.LimitReader(r, h.Size))
	if err != nil {
		return f.cut(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		return f.wrong("%s cannot be read: %v", h.Name, err)
	}
	return nil
}

// last makes sure that nothing stands behind the manifest and that the archive ends as
// it should: what compresses it has a checksum of its own.
func (f *File) last(r *tar.Reader) error {
	switch _, err := r.Next(); {
	case err == nil:
		return f.wrong("something stands behind its manifest")
	case !errors.Is(err, io.EOF):
		return f.cut(err)
	}
	return nil
}

// cut is the error of a file that ends too early or does not decompress.
func (f *File) cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return f.wrong("it is cut off: it ends in front of its manifest")
	}
	return f.wrong("it is damaged: %v", err)
}

// inside is the error of what was read: an error of the reader itself stays as it is.
func (f *File) inside(err error) error {
	if stop := (*stopped)(nil); errors.As(err, &stop) {
		return stop.err
	}
	return f.wrong("%v", err)
}

// stopped wraps an error of whoever reads the file.
type stopped struct{ err error }

// Error returns the text of the error.
func (s *stopped) Error() string { return s.err.Error() }
