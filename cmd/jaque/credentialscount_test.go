package main

import (
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/access"
	"jaque.sh/jaque/appliance/access/credential"
)

func TestOfTwoUsersOfOneNameTheLaterOneCounts(t *testing.T) {
	t.Parallel()
	user := func() access.Record {
		c, err := credential.New("ui", "u1", nil)
		if err != nil {
			t.Fatal(err)
		}
		key, err := c.Key()
		if err != nil {
			t.Fatal(err)
		}
		return access.Record{Name: "u1", Role: access.UI, Key: key, Made: time.Now().UTC().Truncate(time.Second)}
	}
	data, mine, other := t.TempDir(), user(), user()
	if err := access.In(data).Add(mine); err != nil {
		t.Fatal(err)
	}
	if err := counts(data, "u1", mine.Key); err != nil {
		t.Errorf("the only one: %v", err)
	}
	other.Changed = time.Now().Add(time.Minute).UnixMilli()
	if _, err := access.In(data).Merge([]access.Record{other}); err != nil {
		t.Fatal(err)
	}
	if err := counts(data, "u1", mine.Key); err == nil || !strings.Contains(err.Error(), "at the same moment") {
		t.Errorf("the one that lost: %v", err)
	}
	if err := counts(data, "u1", other.Key); err != nil {
		t.Errorf("the one that counts: %v", err)
	}
}
