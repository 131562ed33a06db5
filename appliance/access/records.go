package access

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"jaque.sh/jaque/appliance/access/owner"
)

// lockFile is held by whoever changes the records: a command, or the process that takes
// in those of other members.
const lockFile = ".lock"

// locked changes the folder while nobody else does.
func (u Users) locked(change func() error) (err error) {
	if err := os.MkdirAll(u.dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(u.dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// Root may make users for a service that runs under a user of its own.
	if err := errors.Join(owner.Like(u.dir, filepath.Dir(u.dir)), owner.Like(f.Name(), u.dir)); err != nil {
		return err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", u.dir, err)
	}
	return change()
}

// write puts a record in place of what was there, as a whole.
func (u Users) write(r Record) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(u.dir, ".new-*") // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // nothing is there after the rename
	_, err = f.Write(append(data, '\n'))
	if err := errors.Join(err, f.Sync(), f.Close(), owner.Like(f.Name(), u.dir)); err != nil {
		return err
	}
	return os.Rename(f.Name(), u.path(r.Name))
}

// Merge takes in records of another member of the cluster: of two about one name the
// later one counts, and every member that has seen the same ones has the same. It returns
// the names whose records changed. What is no record is left out and told of in the error,
// which does not keep the others from being taken in.
func (u Users) Merge(records []Record) (changed []string, err error) {
	if len(records) == 0 {
		return nil, nil
	}
	var errs []error
	err = u.locked(func() error {
		for i := range records {
			r := &records[i]
			if err := r.check(); err != nil {
				errs = append(errs, fmt.Errorf("user %.40q: %w", r.Name, err))
				continue
			}
			// What cannot be read here is mended by what another member has.
			if mine, err := u.read(r.Name); err == nil && compare(&mine, r) >= 0 {
				continue
			}
			if err := u.write(*r); err != nil {
				errs = append(errs, fmt.Errorf("user %s: %w", r.Name, err))
				continue
			}
			changed = append(changed, r.Name)
		}
		return nil
	})
	if err := errors.Join(append(errs, err)...); err != nil {
		return changed, fmt.Errorf("take in the users of another member: %w", err)
	}
	return changed, nil
}

// compare orders records about one name: the later one, of two of one moment the revoked
// one, and if that does not tell, one that all members choose alike.
func compare(a, b *Record) int {
	if c := cmp.Or(cmp.Compare(a.Changed, b.Changed), cmp.Compare(mark(a.Revoked), mark(b.Revoked))); c != 0 {
		return c
	}
	return strings.Compare(a.text(), b.text())
}

func mark(revoked bool) int {
	if revoked {
		return 1
	}
	return 0
}

// text is the record in one form.
func (r *Record) text() string {
	data, _ := json.Marshal(r) // strings, a number and a time
	return string(data)
}

// Sum is the same for the same records, and no other ones have it. It is "" for none.
func Sum(records []Record) string {
	if len(records) == 0 {
		return ""
	}
	records = slices.Clone(records)
	slices.SortFunc(records, func(a, b Record) int { return strings.Compare(a.Name, b.Name) })
	h := sha256.New()
	for i := range records {
		h.Write(append([]byte(records[i].text()), '\n'))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
