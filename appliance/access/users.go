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
	// Changed is when the record was last changed, in milliseconds since 1970, and always
	// more than it was before: of two records about one name the later one counts.
	Changed int64 `json:"changed,omitempty"`
	// Revoked says that the user is none any more. The record stays, so that other members
	// of a cluster learn of it whenever they are back.
	Revoked bool `json:"revoked,omitempty"`
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

// Add records a user, under the name of one that was revoked too. The file appears as a
// whole; a name is never taken over.
func (u Users) Add(r Record) error {
	if err := CheckName(r.Name); err != nil {
		return fmt.Errorf("add user: %w", err)
	}
	err := u.locked(func() error {
		before, err := u.read(r.Name)
		switch {
		case err == nil && !before.Revoked:
			return ErrExists
		case err != nil && !errors.Is(err, os.ErrNotExist):
			return fmt.Errorf("%w: %w; remove it with \"jaque credentials revoke %s\"", ErrExists, err, r.Name)
		}
		r.Changed, r.Revoked = later(before.Changed), false
		return u.write(r)
	})
	if err != nil {
		return fmt.Errorf("add user %s: %w", r.Name, err)
	}
	return nil
}

// Remove revokes a user; a server that runs ends its connections.
func (u Users) Remove(name string) error {
	err := CheckName(name)
	if err == nil {
		err = u.revoke(name)
	}
	if err != nil {
		return fmt.Errorf("remove user %s: %w", name, err)
	}
	return nil
}

func (u Users) revoke(name string) error {
	if _, err := os.Stat(u.path(name)); errors.Is(err, os.ErrNotExist) {
		return ErrNoUser
	}
	return u.locked(func() error {
		before, err := u.read(name)
		if errors.Is(err, os.ErrNotExist) || err == nil && before.Revoked {
			return ErrNoUser
		}
		// A record that cannot be read is revoked too, whoever it was of.
		before.Name, before.Changed, before.Revoked = name, later(before.Changed), true
		return u.write(before)
	})
}

// later is when a record is changed whose last change is given.
func later(before int64) int64 { return max(before+1, time.Now().UnixMilli()) }

// List returns the users by name, without those that were revoked.
func (u Users) List() ([]Record, error) {
	all, err := u.Records()
	return slices.DeleteFunc(all, func(r Record) bool { return r.Revoked }), err
}

// Records returns everything that is recorded, by name.
func (u Users) Records() ([]Record, error) {
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
	if err == nil && r.Name != name {
		err = fmt.Errorf("it is that of user %.40q", r.Name)
	}
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return Record{}, err
	}
	return r, nil
}

// check says why a record is none.
func (r *Record) check() error {
	switch {
	case r.Revoked: // whatever it was
	case !slices.Contains(Roles(), r.Role):
		return fmt.Errorf("%.40q is no role", r.Role)
	case !nkeys.IsValidPublicUserKey(r.Key):
		return errors.New("it has no public key of a user")
	}
	return CheckName(r.Name)
}

// Source returns what the embedded server asks for its users. It reads their files
// only when they have changed.
func (u Users) Source() func() ([]bus.User, error) {
	read := u.Watch()
	var users []bus.User
	return func() ([]bus.User, error) {
		all, changed, err := read()
		if err != nil || !changed {
			return users, err
		}
		users = nil
		for _, r := range all {
			if r.Revoked {
				continue
			}
			user := bus.User{Name: r.Name, Key: r.Key}
			user.Publish, user.Subscribe = Subjects(Rights(r.Holder()))
			users = append(users, user)
		}
		return users, nil
	}
}

// Watch returns what reads all records, as Records does, and tells whether a file has
// changed since it last did so without an error; if not, the records are those of before.
func (u Users) Watch() func() (all []Record, changed bool, err error) {
	var last string
	var all []Record
	return func() ([]Record, bool, error) {
		state, err := u.state()
		if err != nil || state == last {
			return all, false, err
		}
		now, err := u.Records()
		if err != nil {
			return all, false, err
		}
		all, last = now, state
		return all, true, nil
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
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), suffix) {
			fmt.Fprintf(&b, "%s %d %d\n", e.Name(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String() + ".", nil
}
