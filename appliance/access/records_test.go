package access

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/access/credential"
)

// record is one of a user with a key of its own.
func record(t interface{ Fatal(...any) }, name string) Record {
	c, err := credential.New("ui", name, nil)
	if err != nil {
		t.Fatal(err)
	}
	key, err := c.Key()
	if err != nil {
		t.Fatal(err)
	}
	return Record{Name: name, Role: UI, Key: key}
}

func records(t *testing.T, u Users) []Record {
	t.Helper()
	all, err := u.Records()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// both exchanges all records between two folders.
func both(t *testing.T, a, b Users) {
	t.Helper()
	if _, err := b.Merge(records(t, a)); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Merge(records(t, b)); err != nil {
		t.Fatal(err)
	}
	if Sum(records(t, a)) != Sum(records(t, b)) {
		t.Errorf("after an exchange one has %+v, the other %+v", records(t, a), records(t, b))
	}
}

func TestWhatHappenedLaterToAUserCounts(t *testing.T) {
	a, b := In(t.TempDir()), In(t.TempDir())
	first := record(t, "w")
	if err := a.Add(first); err != nil {
		t.Fatal(err)
	}
	both(t, a, b)
	if list, err := b.List(); err != nil || len(list) != 1 || list[0].Key != first.Key {
		t.Fatalf("a user of the other: %+v, %v", list, err)
	}
	if err := b.Add(record(t, "w")); err == nil || !strings.Contains(err.Error(), ErrExists.Error()) {
		t.Errorf("a name that the other has given out: %v", err)
	}
	if err := b.Remove("w"); err != nil {
		t.Fatal(err)
	}
	both(t, a, b)
	if list, err := a.List(); err != nil || len(list) != 0 {
		t.Errorf("what the other revoked: %+v, %v", list, err)
	}
	second := record(t, "w")
	if err := a.Add(second); err != nil {
		t.Errorf("a name that was revoked: %v", err)
	}
	both(t, a, b)
	if list, err := b.List(); err != nil || len(list) != 1 || list[0].Key != second.Key {
		t.Errorf("the name given out again: %+v, %v", list, err)
	}
	// A record of before, however often it is told, changes nothing.
	old := first
	old.Changed = 1
	if changed, err := b.Merge([]Record{old}); err != nil || changed != nil {
		t.Errorf("an old record changed %v, %v", changed, err)
	}
}

func TestARecordThatIsNoneIsLeftOut(t *testing.T) {
	u := In(t.TempDir())
	good, evil := record(t, "good"), record(t, "../evil")
	god := record(t, "god")
	god.Role = "god"
	keyless := record(t, "keyless")
	keyless.Key = "U"
	gone := Record{Name: "../gone", Revoked: true}
	changed, err := u.Merge([]Record{evil, god, keyless, gone, good})
	if !slices.Equal(changed, []string{"good"}) || err == nil {
		t.Fatalf("taken in: %v, %v", changed, err)
	}
	for _, want := range []string{"../evil", "god", "keyless", "../gone"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
	if list := records(t, u); len(list) != 1 {
		t.Errorf("%+v", list)
	}
}

func TestARecordThatCannotBeReadIsMendedByAnother(t *testing.T) {
	a, b := In(t.TempDir()), In(t.TempDir())
	if err := a.Add(record(t, "w")); err != nil {
		t.Fatal(err)
	}
	both(t, a, b)
	if err := os.WriteFile(b.path("w"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Records(); err == nil {
		t.Fatal("it can be read")
	}
	if changed, err := b.Merge(records(t, a)); err != nil || len(changed) != 1 {
		t.Fatalf("%v, %v", changed, err)
	}
	both(t, a, b)
}

// Whatever is done where and exchanged in whatever order: after all have told all, all
// have the same.
func TestMembersAgreeInTheEnd(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			r.Fatal(err)
		}
		var all [3]Users
		for i := range all {
			all[i] = In(filepath.Join(dir, fmt.Sprint(i)))
		}
		tell := func(from, to int) {
			list, err := all[from].Records()
			if err == nil {
				_, err = all[to].Merge(list)
			}
			if err != nil {
				r.Fatal(err)
			}
		}
		member, name := rapid.IntRange(0, 2), rapid.SampledFrom([]string{"x", "y"})
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			switch rapid.IntRange(0, 2).Draw(r, "what") {
			case 0:
				_ = all[member.Draw(r, "at")].Add(record(r, name.Draw(r, "name"))) // there may be one
			case 1:
				_ = all[member.Draw(r, "at")].Remove(name.Draw(r, "name")) // there may be none
			default:
				tell(member.Draw(r, "from"), member.Draw(r, "to"))
			}
		}
		for range all {
			for from := range all {
				for to := range all {
					tell(from, to)
				}
			}
		}
		sums := map[string]bool{}
		for _, u := range all {
			list, err := u.Records()
			if err != nil {
				r.Fatal(err)
			}
			sums[Sum(list)] = true
		}
		if len(sums) != 1 {
			r.Errorf("members have %d different lists", len(sums))
		}
	})
}

func TestOfManyWhoTakeOneNameOneGetsIt(t *testing.T) {
	data := t.TempDir()
	var wait sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		r := record(t, "w")
		wait.Go(func() { errs[i] = In(data).Add(r) })
	}
	wait.Wait()
	got := 0
	for _, err := range errs {
		if err == nil {
			got++
		}
	}
	if got != 1 {
		t.Errorf("%d got the name: %v", got, errs)
	}
	entries, err := os.ReadDir(filepath.Join(data, "users"))
	if err != nil || len(entries) != 2 { // the record and the lock
		t.Errorf("%d files, %v", len(entries), err)
	}
}
