package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"jaque.sh/jaque/appliance/access/authority"
	"jaque.sh/jaque/appliance/access/owner"
	"jaque.sh/jaque/appliance/bus"
)

// Member is what one member of a cluster knows, as its data folder keeps it.
type Member struct {
	Cluster string   `json:"cluster"`           // name, the same at every member
	ID      string   `json:"id"`                // of this member, another one at each: the engine id
	Listen  string   `json:"listen"`            // host:port at which the others reach this one
	Peers   []string `json:"peers,omitempty"`   // host:port of others; one that is reached tells of the rest
	Witness bool     `json:"witness,omitempty"` // a vote and a copy, without an engine
	// Others are the other members as they were last heard, by id; what answers now is newer.
	Others []Other `json:"others,omitempty"`
	// Lost names members that an operator says never come back: the next start without a
	// quorum goes on without them. It is forgotten as soon as there is a quorum.
	Lost []string `json:"lost,omitempty"`
}

// Other is another member of the cluster.
type Other struct {
	ID      string `json:"id"`
	Listen  string `json:"listen"`
	Witness bool   `json:"witness,omitempty"`
}

// Errors that a caller branches on.
var (
	// ErrNone: the data folder is no member's.
	ErrNone = errors.New("this data folder belongs to no cluster")
	// ErrMember: the data folder is a member's already.
	ErrMember = errors.New("this data folder is a member of a cluster already")
)

const (
	folderName = "cluster"
	memberFile = "member.json"
)

func folder(data string) string { return filepath.Join(data, folderName) }

// File is where a data folder keeps the settings of its member.
func File(data string) string { return filepath.Join(folder(data), memberFile) }

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// check says what is wrong with the settings of a member.
func (m *Member) check() error {
	switch {
	case !nameForm.MatchString(m.Cluster):
		return fmt.Errorf("cluster name %q: write letters, digits, '.', '_' and '-', 64 at most", m.Cluster)
	case !nameForm.MatchString(m.ID):
		return fmt.Errorf("member id %q: write letters, digits, '.', '_' and '-', 64 at most", m.ID)
	}
	for _, a := range append([]string{m.Listen}, m.Peers...) {
		host, port, err := net.SplitHostPort(a)
		if err != nil || port == "" || port == "0" {
			return fmt.Errorf("address %q: write host:port", a)
		}
		if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
			return fmt.Errorf("address %q: the other members must find this machine by it; write its name or its IP address in front of the port", a)
		}
	}
	return nil
}

// already says whose a folder is, and what to do.
func (m *Member) already(data string) error {
	start := "jaque -data " + data
	if m.Witness {
		start = "jaque witness -data " + data
	}
	return fmt.Errorf("%w: %s of cluster %s; start it with %s, or name another folder with -data", ErrMember, m.ID, m.Cluster, start)
}

// Found makes the first member of a new cluster: its authority and its settings. It
// changes nothing in a folder that is a member's.
func Found(data string, m Member) error {
	if err := m.check(); err != nil {
		return fmt.Errorf("found a cluster: %w", err)
	}
	switch old, err := Read(data); {
	case err == nil:
		return fmt.Errorf("found a cluster in %s: %w", data, old.already(data))
	case !errors.Is(err, ErrNone):
		return err
	}
	if _, err := authority.OpenIn(data, folderName); err != nil {
		return err
	}
	return m.Save(data)
}

// Read returns the member of a data folder, or ErrNone.
func Read(data string) (*Member, error) {
	path := filepath.Join(folder(data), memberFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, fmt.Errorf("%s: %w", data, ErrNone)
	}
	if err != nil {
		return nil, fmt.Errorf("read the settings of this member: %w", err)
	}
	m := &Member{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("read the settings of this member in %s: %w; restore the file from a backup, or remove the member and join again with an empty folder", path, err)
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("read the settings of this member in %s: %w", path, err)
	}
	return m, nil
}

// Save keeps the settings; a crash leaves the old ones or the new ones.
func (m *Member) Save(data string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err == nil {
		err = replace(filepath.Join(folder(data), memberFile), append(text, '\n'), data)
	}
	if err != nil {
		return fmt.Errorf("keep the settings of this member: %w", err)
	}
	return nil
}

// Authority opens the cluster's authority, which signs for members and nobody else.
func Authority(data string) (*authority.Authority, error) {
	if _, err := os.Stat(filepath.Join(folder(data), memberFile)); err != nil {
		return nil, fmt.Errorf("%s: %w", data, ErrNone)
	}
	return authority.OpenIn(data, folderName)
}

// Know adds addresses of other members to the settings and tells whether any was new.
func (m *Member) Know(addresses ...string) (changed bool) {
	for _, a := range addresses {
		if a != m.Listen && !slices.Contains(m.Peers, a) {
			m.Peers, changed = append(m.Peers, a), true
		}
	}
	slices.SortFunc(m.Peers, strings.Compare)
	return changed
}

// Lose keeps that a member never comes back, for a survivor that is not running or ends
// before it could do without that one.
func Lose(data, id string) error {
	m, err := Read(data)
	if err != nil {
		return err
	}
	switch {
	case id == m.ID:
		return fmt.Errorf("%s is this member itself", id)
	case !nameForm.MatchString(id):
		return fmt.Errorf("%q is no name of a member", id)
	case slices.Contains(m.Lost, id):
		return nil
	}
	members, err := bus.MembersOf(data)
	switch {
	case err != nil:
		return err
	case members.Known() && !members.Has(id):
		return fmt.Errorf("cluster %s has no member %q; its members are %s", m.Cluster, id, members)
	}
	m.Lost = append(m.Lost, id)
	return m.Save(data)
}

// replace writes a file under another name, makes it last and renames it.
func replace(path string, text []byte, like string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // nothing is there after the rename
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close(), owner.Like(f.Name(), like), owner.Like(filepath.Dir(path), like)); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
