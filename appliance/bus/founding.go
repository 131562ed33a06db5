package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nats.go"
)

// A server that becomes a member of a cluster deletes streams that the cluster does
// not know 30 s after its start. So a founder declares each stream that it finds in
// its folder, as its description says, and the server takes up what is there with all
// positions. In case that does not get far within the time the blocks are kept under
// a second name until it is done: names of the same files, which cost no room.

// beforeFolder holds the streams as they were before a cluster was founded.
const beforeFolder = "before-cluster"

// keepBefore gives the files of every stream a second name, or puts back what is
// missing if an earlier founding was interrupted.
func keepBefore(data string) error {
	streams := filepath.Join(data, storeFolder, "$G", "streams")
	before := filepath.Join(data, beforeFolder)
	if _, err := os.Stat(before); err == nil {
		return putBack(before, streams)
	}
	if _, err := os.Stat(streams); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	making := before + ".new"
	if err := os.RemoveAll(making); err != nil {
		return fmt.Errorf("keep the log until the cluster is founded: %w", err)
	}
	err := filepath.WalkDir(streams, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(making, strings.TrimPrefix(path, streams))
		if d.IsDir() {
			return os.MkdirAll(to, 0o700)
		}
		return sameFile(path, to)
	})
	if err == nil {
		err = os.Rename(making, before)
	}
	if err != nil {
		return fmt.Errorf("keep the log in %s until the cluster is founded: %w; nothing was changed", before, err)
	}
	return nil
}

// sameFile gives a block a second name and copies what the server writes anew.
func sameFile(from, to string) error {
	if filepath.Ext(from) == ".blk" {
		return os.Link(from, to)
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

// putBack restores streams and files that are gone. Where something was missing the
// server's index is dropped, so that it looks at the blocks.
func putBack(before, streams string) error {
	kept, err := os.ReadDir(before)
	if err != nil {
		return fmt.Errorf("take up an interrupted founding of the cluster: %w", err)
	}
	for _, s := range kept {
		missing := false
		from, to := filepath.Join(before, s.Name()), filepath.Join(streams, s.Name())
		err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			at := filepath.Join(to, strings.TrimPrefix(path, from))
			if d.IsDir() {
				return os.MkdirAll(at, 0o700)
			}
			if _, err := os.Stat(at); !errors.Is(err, os.ErrNotExist) {
				return err
			}
			missing = missing || filepath.Ext(path) == ".blk"
			return sameFile(path, at)
		})
		if missing {
			if e := os.Remove(filepath.Join(to, "msgs", indexFile)); !errors.Is(e, os.ErrNotExist) {
				err = errors.Join(err, e)
			}
		}
		if err != nil {
			return fmt.Errorf("take up an interrupted founding of the cluster: %w", err)
		}
	}
	return nil
}

// founding tells whether streams are still kept from before a founding.
func founding(data string) bool {
	_, err := os.Stat(filepath.Join(data, beforeFolder))
	return err == nil
}

// founded ends the founding: every stream is the cluster's.
func founded(data string) error {
	before := filepath.Join(data, beforeFolder)
	if err := os.RemoveAll(before); err != nil {
		return fmt.Errorf("end the founding of the cluster: %w", err)
	}
	return nil
}

// adopt declares every stream of the folder to the cluster of one.
func adopt(ctx context.Context, nc *nats.Conn, data string) error {
	for _, folder := range ownStreams(data) {
		name := filepath.Base(folder)
		config, err := describedIn(folder)
		if err != nil {
			return fmt.Errorf("take stream %s into the cluster: %w", name, err)
		}
		m, err := nc.RequestWithContext(ctx, "$JS.API.STREAM.CREATE."+name, config)
		if err != nil {
			return fmt.Errorf("take stream %s into the cluster: %w", name, err)
		}
		if err := answerError(m.Data); err != nil {
			return fmt.Errorf("take stream %s into the cluster: %w", name, err)
		}
	}
	return nil
}

// describedIn returns the configuration of a stream as its folder describes it.
func describedIn(folder string) ([]byte, error) {
	buf, err := os.ReadFile(filepath.Join(folder, "meta.inf"))
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(buf, &fields); err != nil {
		return nil, fmt.Errorf("read its description: %w", err)
	}
	delete(fields, "Created") // the server's own field among those of the configuration
	return json.Marshal(fields)
}

// apiError is an error in an answer of the server's API.
type apiError struct {
	Status int    `json:"code"`
	Code   int    `json:"err_code"`
	Text   string `json:"description"`
}

// Error returns what the server says, with its number.
func (e *apiError) Error() string { return fmt.Sprintf("the log server says: %s (%d)", e.Text, e.Code) }

// answerError is the error in an answer of the server's API, nil if there is none.
func answerError(data []byte) error {
	var answer struct {
		Error *apiError `json:"error"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return fmt.Errorf("read the answer of the log server: %w", err)
	}
	if answer.Error != nil {
		return answer.Error
	}
	return nil
}
