package bus

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// What the server keeps about membership (2.15.3, held to it by the tests beside this
// file): the folder of the group of all members, in it a file with the size of the
// group and the ids of its members, 8 letters each, made of the servers' names. A
// server without that file would form a group with whoever else has none, beside one
// that exists already; so jaque writes it before the server starts for the first
// time: a founder is the only member of a group of one, and who joins believes in a
// group so large that it never decides anything before it was let in.
const (
	metaFolder  = "_meta_"
	peersFile   = "peers.idx"
	idLength    = 8
	unadmitted  = 1000 // size of the group that one who joins believes in
	removedFile = "removed-from-cluster"
)

const idLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// memberID is the server's id of a member.
func memberID(name string) string {
	sum := sha256.Sum256([]byte(name))
	id := sum[:idLength]
	for i, b := range id {
		id[i] = idLetters[int(b)%len(idLetters)]
	}
	return string(id)
}

// beginning is how a member begins.
type beginning struct {
	founds bool // the folder becomes a cluster of one at this start
	alone  bool // it may be the only one that runs
	shared bool // others keep the streams too, or instead
}

// beginMember looks at the folder and prepares it for membership.
func beginMember(b *Bus, at Cluster) (beginning, error) {
	data := b.opts.Data
	if note, err := os.ReadFile(filepath.Join(data, removedFile)); err == nil {
		return beginning{}, fmt.Errorf("%w: data folder %s belonged to %s; move it away and join again with an empty one",
			ErrRemoved, data, strings.TrimSpace(string(note)))
	}
	self := memberID(b.opts.ServerName)
	size, members, err := readPeers(metaOf(data))
	if err == nil && size == unadmitted && len(at.Peers) == 0 && len(ownStreams(data)) == 0 {
		// It waited for others and was never let in; now it is to found the cluster.
		if err := forgetCluster(data); err != nil {
			return beginning{}, err
		}
		size, members, err = readPeers(metaOf(data))
	}
	switch {
	case err == nil && size == 1 && len(members) == 1:
		if members[0] != self {
			if len(ownStreams(data)) == 0 {
				return beginning{shared: true}, nil // it waits to be let in
			}
			return beginning{}, anothers(data, at.Name, b.opts.ServerName)
		}
		interrupted := founding(data)
		if interrupted {
			err = keepBefore(data)
		}
		return beginning{alone: true, founds: interrupted}, err
	case err == nil:
		return beginning{shared: true}, nil
	case !errors.Is(err, fs.ErrNotExist):
		return beginning{}, fmt.Errorf("read who is in the cluster from data folder %s: %w; restore the folder from a backup, or remove this member and join again with an empty one", data, err)
	}
	own := ownStreams(data)
	if len(at.Peers) == 0 {
		if err := keepBefore(data); err != nil {
			return beginning{}, err
		}
		b.log.Info("founding a cluster", "cluster", at.Name, "member", b.opts.ServerName, "streams", len(own))
		return beginning{founds: true, alone: true}, writePeers(metaOf(data), 1, self)
	}
	if len(own) > 0 {
		return beginning{}, fmt.Errorf("data folder %s holds a log of its own, which would be lost in the cluster of %s", data, at.whereLost(data))
	}
	b.log.Info("joining a cluster", "cluster", at.Name, "member", b.opts.ServerName, "peers", strings.Join(at.Peers, ", "))
	// Two members that do not exist: nobody's vote is theirs.
	return beginning{shared: true}, writePeers(metaOf(data), unadmitted, "!nobody1", "!nobody2")
}

// whereLost names the peers beside whom a log of one's own would be lost, and how to keep it.
func (c *Cluster) whereLost(data string) string {
	peers := strings.Join(c.Peers, ",")
	if c.PeersIn == "" {
		return "-cluster-peers " + peers + "; to make it the cluster's log start it once without -cluster-peers " +
			"and let the others join with empty folders, or join with an empty folder"
	}
	return fmt.Sprintf("%s, as %s says; to found the cluster anew with this log stop the others for good, move %s away, write `jaque cluster init -data %s` "+
		"and let the others join with empty folders; to get the log of the others, join with an empty folder", peers, c.PeersIn, filepath.Dir(c.PeersIn), data)
}

// metaOf is the folder of the group of all members.
func metaOf(data string) string {
	return filepath.Join(data, storeFolder, systemAccount, "_js_", metaFolder)
}

// ownStreams are the folders of the streams in a store.
func ownStreams(data string) []string {
	list, _ := filepath.Glob(filepath.Join(data, storeFolder, "$G", "streams", "*"))
	return list
}

// readPeers returns the size of the group and the ids of its members.
func readPeers(folder string) (size int, ids []string, err error) {
	buf, err := os.ReadFile(filepath.Join(folder, peersFile))
	if err != nil {
		return 0, nil, err
	}
	if len(buf) < 8 {
		return 0, nil, errors.New("it is too short")
	}
	size, n := int(binary.LittleEndian.Uint32(buf)), int(binary.LittleEndian.Uint32(buf[4:]))
	rest := buf[8:]
	if n > len(rest)/idLength {
		return 0, nil, errors.New("it is too short")
	}
	for i := range n {
		ids = append(ids, string(rest[i*idLength:(i+1)*idLength]))
	}
	return size, ids, nil
}

// writePeers writes the file as the server would.
func writePeers(folder string, size int, ids ...string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("note the members of the cluster: %w", err)
	}
	buf := binary.LittleEndian.AppendUint32(nil, uint32(size))
	buf = binary.LittleEndian.AppendUint32(buf, uint32(len(ids)))
	for _, id := range ids {
		buf = append(buf, id...)
	}
	buf = binary.LittleEndian.AppendUint16(buf, 0)
	if err := replaceFile(filepath.Join(folder, peersFile), buf); err != nil {
		return fmt.Errorf("note the members of the cluster: %w", err)
	}
	return nil
}

// noteRemoval marks the folder of a member that was removed, so that it is not taken
// for a log of its own.
func noteRemoval(data, cluster, member string) error {
	text := fmt.Sprintf("%s in cluster %s, removed %s\n", member, cluster, time.Now().UTC().Format(time.RFC3339))
	return replaceFile(filepath.Join(data, removedFile), []byte(text))
}

// leftCluster is an error if a folder that belongs to a member of a cluster of several
// is started without it. One that is alone, or was never let in, may go on by itself.
func leftCluster(b *Bus) error {
	if note, err := os.ReadFile(filepath.Join(b.opts.Data, removedFile)); err == nil {
		return fmt.Errorf("%w: data folder %s belonged to %s; move it away and start with an empty one", ErrRemoved, b.opts.Data, strings.TrimSpace(string(note)))
	}
	size, ids, err := readPeers(metaOf(b.opts.Data))
	if err != nil || size == unadmitted {
		return nil
	}
	if was := readNote(b.opts.Data).Self; size == 1 && was != "" && !slices.Contains(ids, memberID(was)) {
		return fmt.Errorf("%w: data folder %s belonged to %s; move it away and start with an empty one", ErrRemoved, b.opts.Data, was)
	}
	if size > 1 {
		return fmt.Errorf("data folder %s belongs to a member of a cluster of %d: alone it would write another log than they; "+
			"start it with -cluster-name, or remove the others first", b.opts.Data, size)
	}
	b.log.Warn("the cluster of this folder is given up: its only member goes on without a cluster", "folder", b.opts.Data)
	return forgetCluster(b.opts.Data)
}

// forgetCluster removes what the server keeps about membership. The streams stay.
func forgetCluster(data string) error {
	if err := os.RemoveAll(filepath.Join(data, storeFolder, systemAccount)); err != nil {
		return fmt.Errorf("give up the cluster of data folder %s: %w", data, err)
	}
	return nil
}
