package expand

import (
	"reflect"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/object"
)

// notMacros are texts of a check that name something of jaque's own.
var notMacros = map[string]bool{"Kind": true, "Members": true}

// fill sets every string reachable from v to "$M$", every pointer to a value,
// and gives lists and maps one entry.
func fill(v reflect.Value, name string) {
	switch v.Kind() {
	case reflect.String:
		if !notMacros[name] {
			v.SetString("$M$")
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), name)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), v.Type().Field(i).Name)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), name)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("X-Name"), reflect.ValueOf("$M$"))
	}
}

// texts collects every string reachable from v, except map keys.
func texts(v reflect.Value, name string, found map[string]string) {
	switch v.Kind() {
	case reflect.String:
		if !notMacros[name[strings.LastIndex(name, ".")+1:]] {
			found[name] = v.String()
		}
	case reflect.Pointer:
		texts(v.Elem(), name, found)
	case reflect.Struct:
		for i := range v.NumField() {
			texts(v.Field(i), name+"."+v.Type().Field(i).Name, found)
		}
	case reflect.Slice:
		for i := range v.Len() {
			texts(v.Index(i), name, found)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			texts(v.MapIndex(key), name, found)
		}
	}
}

// A field that is added to a check and forgotten here fails this test.
func TestEveryTextOfACheckIsReplacedAndTheOriginalStays(t *testing.T) {
	var c object.Check
	fill(reflect.ValueOf(&c).Elem(), "Check")
	out := Check(&c, func(s string) string { return strings.ReplaceAll(s, "$M$", "new") })
	for want, check := range map[string]*object.Check{"new": &out, "$M$": &c} {
		found := map[string]string{}
		texts(reflect.ValueOf(check).Elem(), "Check", found)
		if len(found) < 25 {
			t.Fatalf("only %d texts found", len(found))
		}
		for name, got := range found {
			if got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
	}
}

func TestWhatIsNotThereStaysAway(t *testing.T) {
	c := object.Check{Kind: object.CheckPlugin, Plugin: []string{"check_load", "-w", "1"}}
	out := Check(&c, func(s string) string { return s })
	if !reflect.DeepEqual(c, out) {
		t.Fatalf("got %+v, want %+v", out, c)
	}
	if &c.Plugin[0] != &out.Plugin[0] {
		t.Error("a list in which nothing changes was copied")
	}
}
