package cluster

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// ErrOthers: other members hold a log of their own.
var ErrOthers = errors.New("the other members hold a log of their own")

// MayRestore is an error if the data folder is that of a member that others belong to:
// a backup that is brought back there would be another log than theirs.
func MayRestore(data string) error {
	m, err := Read(data)
	switch {
	case errors.Is(err, ErrNone):
		return nil
	case err != nil:
		return err
	case len(m.Peers) == 0:
		return nil
	}
	return fmt.Errorf("%s is the folder of member %s of cluster %s, and %w (%s); two logs are never merged. "+
		"If one of them is well, restore nothing: join it with an empty folder. To go back to the backup: stop every member, move their data folders away, "+
		"and move %s away here; restore again, found the cluster anew with `jaque cluster init`, and let the others join with empty folders",
		data, m.ID, m.Cluster, ErrOthers, strings.Join(m.Peers, ", "), filepath.Join(data, folderName))
}
