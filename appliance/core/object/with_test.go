package object_test

import (
	"slices"
	"testing"

	"jaque.sh/jaque/appliance/core/object"
)

// thing makes a host, or a service of one.
func thing(name string, host *object.Object, groups ...string) *object.Object {
	o := &object.Object{Name: name, Host: host, Rule: &object.Rule{}, Groups: groups, ID: object.HostID(name)}
	if host != nil {
		o.ID = object.ServiceID(host.Name, name)
	}
	return o
}

func TestASetWithFurtherObjects(t *testing.T) {
	a, b := thing("a", nil, "g"), thing("b", nil)
	base := object.NewSet("1", object.DefaultSettings(), []*object.Object{a, b, thing("x", a), thing("x", b, "g")})
	base.ContactGroups = map[string][]string{"ops": {"alice"}}

	own, c := thing("a", nil), thing("c", nil, "g", "h")
	more := []*object.Object{c, own, thing("y", own), thing("x", own)}
	set := base.With(more)

	var ids []object.ID
	for _, o := range set.Objects {
		ids = append(ids, o.ID)
		if set.Get(o.ID) != o {
			t.Errorf("%s is not found", o.ID)
		}
	}
	if want := []object.ID{"a", "a!x", "a!y", "b", "b!x", "c"}; !slices.Equal(ids, want) {
		t.Errorf("objects %v, want %v", ids, want)
	}
	if !slices.Equal(set.Hosts, []*object.Object{own, b, c}) || len(own.Services) != 2 || len(b.Services) != 1 {
		t.Errorf("hosts %v, services %v", set.Hosts, own.Services)
	}
	if g := set.Groups["g"]; len(g) != 2 || g[0].ID != "b!x" || g[1] != c || len(set.Groups["h"]) != 1 {
		t.Errorf("groups %v", set.Groups)
	}
	if set.Generation != "1" || set.Settings != base.Settings || len(set.ContactGroups["ops"]) != 1 {
		t.Errorf("the rest is %+v", set)
	}
	if len(base.Objects) != 4 || base.Get("c") != nil || len(base.Groups["g"]) != 2 || base.Get("a") != a || len(a.Services) != 1 || more[0] != c {
		t.Error("the first set has changed")
	}
}
