package access

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nkeys"

	"jaque.sh/jaque/appliance/access/owner"
	"jaque.sh/jaque/appliance/bus"
)

// Record is a user of the embedded server as it stands in the data folder. It holds
// nothing secret: the seed is only in the file of credentials.
type Record struct {
	Name   string    `json:"name"` // the id of the credentials
	Role   Role      `json:"role"`
	Zones  []string  `json:"zones,omitempty"`
	Prefix string    `json:"prefix,omitempty"`
	Key    string    `json:"key"` // public
	Made   time.Time `json:"made"`
}

// Holder returns who has the rights.
func (r Record) Holder() Holder {
	return Holder{Role: r.Role, ID: r.Name, Zones: r.Zones, Prefix: r.Prefix}
}

// Users is the folder of the users of one installation. Processes may change it
// while the server runs.
type Users struct{ dir string }

// In returns the users below a data folder. Nothing is made before the first Add.
func In(data string) Users { return Users{filepath.Join(data, "users")} }

// Errors of Users.
var (
	// ErrExists: there is a user of that name.
	ErrExists = errors.New("there is a user of that name")
	// ErrNoUser: there is none.
	ErrNoUser = errors.New("there is no user of that name")
)

const suffix = ".json"

// maxName is the longest name of a user, in bytes.
const maxName = 128

// CheckName tells what is wrong with the name of a user, which names a file too.
func CheckName(name string) error {
	for _, r := range name {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.') {
			return fmt.Errorf("the name %.40q; write letters, digits, - _ and . only", name)
		}
	}
	if name == "" || strings.HasPrefix(name, ".") || len(name) > maxName {
		return fmt.Errorf("the name %.40q; write 1 to %d letters and digits, and no point first", name, maxName)
	}
	return nil
}

func (u Users) path(name string) string { return filepath.Join(u.dir, name+suffix) }

// Add records a user. The file appears as a whole; a name is never taken over.
func (u Users) Add(r Record) error {
	if err := CheckName(r.Name); err != nil {
		return fmt.Errorf("add user: %w", err)
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("add user %s: %w", r.Name, err)
	}
	if err := os.MkdirAll(u.dir, 0o700); err != nil {
		return fmt.Errorf("add user %s: %w", r.Name, err)
	}
	f, err := os.CreateTemp(u.dir, ".new-*") // with mode 0600
	if err != nil {
		return fmt.Errorf("add user %s: %w", r.Name, err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(append(data, '\n'))
	// Root may make users for a service that runs under a user of its own.
	err = errors.Join(err, f.Sync(), f.Close(), owner.Like(u.dir, filepath.Dir(u.dir)), owner.Like(f.Name(), u.dir))
	if err != nil {
		return fmt.Errorf("add user %s: %w", r.Name, err)
	}
	err = os.Link(f.Name(), u.path(r.Name))
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("add user %s: %w", r.Name, ErrExists)
	}
	if err != nil {
		return fmt.Errorf("add user %s: %w", r.Name, err)
	}
	return nil
}

// Remove removes a user; a server that runs ends its connections.
func (u Users) Remove(name string) error {
	err := CheckName(name)
	if err == nil {
		err = os.Remove(u.path(name))
	}
	if errors.Is(err, os.ErrNotExist) {
		err = ErrNoUser
	}
	if err != nil {
		return fmt.Errorf("remove user %s: %w", name, err)
	}
	return nil
}

// List returns the users by name.
func (u Users) List() ([]Record, error) {
	entries, err := os.ReadDir(u.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list users: %w", err)
	}
	var all []Record
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), suffix)
		if !ok || strings.HasPrefix(name, ".") {
			continue
		}
		r, err := u.read(name)
		if errors.Is(err, os.ErrNotExist) {
			continue // removed in between
		}
		if err != nil {
			return nil, fmt.Errorf("read user %s: %w; remove it with \"jaque credentials revoke %s\"", u.path(name), err, name)
		}
		all = append(all, r)
	}
	return all, nil
}

func (u Users) read(name string) (Record, error) {
	var r Record
	data, err := os.ReadFile(u.path(name))
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	switch {
	case err != nil:
		return r, err
	case r.Name != name:
		return r, fmt.Errorf("it is that of user %.40q", r.Name)
	case !slices.Contains(Roles(), r.Role):
		return r, fmt.Errorf("%.40q is no role", r.Role)
	case !nkeys.IsValidPublicUserKey(r.Key):
		return r, errors.New("it has no public key of a user")
	}
	return r, nil
}

// Source returns what the embedded server asks for its users. It reads their files
// only when they have changed.
func (u Users) Source() func() ([]bus.User, error) {
	var last string
	var users []bus.User
	return func() ([]bus.User, error) {
		state, err := u.state()
		if err != nil || state == last && last != "" {
			return users, err
		}
		all, err := u.List()
		if err != nil {
			return users, err
		}
		users, last = nil, state
		for _, r := range all {
			user := bus.User{Name: r.Name, Key: r.Key}
			user.Publish, user.Subscribe = Subjects(Rights(r.Holder()))
			users = append(users, user)
		}
		return users, nil
	}
}

// state is another text when a file has changed.
func (u Users) state() (string, error) {
	entries, err := os.ReadDir(u.dir)
	if errors.Is(err, os.ErrNotExist) {
		return "none", nil
	}
	if err != nil {
		return "", fmt.Errorf("list users: %w", err)
	}
	var b strings.Builder
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			fmt.Fprintf(&b, "%s %d %d\n", e.Name(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String() + ".", nil
}
