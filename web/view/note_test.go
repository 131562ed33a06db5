package view

import (
	"testing"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/web/sample"
)

// annotated is a service whose declaration speaks of itself in macros.
func annotated(notes, notesURL, actionURL string) *sample.Site {
	rule := &object.Rule{Attempts: 3, Notes: notes, NotesURL: notesURL, ActionURL: actionURL}
	h := &object.Object{ID: "web 1", Name: "web 1", Address: "192.0.2.7", Rule: rule, Vars: map[string]string{"RACK": "b/7&x=1"}}
	s := &object.Object{ID: "web 1!http", Name: "http", Host: h, Rule: rule}
	site := sample.New(h, s)
	site.Result("web 1", object.Down, "no answer", 0)
	site.Result("web 1!http", object.Critical, "503 <busy>", 0)
	return site
}

func TestNotesNameTheirObject(t *testing.T) {
	for name, c := range map[string]struct{ notes, url, wantNotes, wantURL string }{
		"a text without macros stays as it is":       {"100 percent", "https://w/x?a=b", "100 percent", "https://w/x?a=b"},
		"names are filled in, encoded in addresses":  {"$HOSTNAME$ $SERVICEDESC$", "https://w/$HOSTNAME$/$SERVICEDESC$", "web 1 http", "https://w/web%201/http"},
		"custom variables cannot leave their place":  {"$_HOSTRACK$", "https://w/?r=$_HOSTRACK$", "b/7&x=1", "https://w/?r=b%2F7%26x%3D1"},
		"states of the object and its host are told": {"$SERVICESTATE$ on $HOSTSTATE$", "https://w/$SERVICESTATE$", "CRITICAL on DOWN", "https://w/CRITICAL"},
		"two dollars are one":                        {"5 $$", "https://w/$$", "5 $", "https://w/$"},
		"a name that is no macro stays":              {"$NOSUCH$", "https://w/$NOSUCH$", "$NOSUCH$", "https://w/$NOSUCH$"},
		"what programs keep secret is empty":         {"[$USER1$]", "https://w/?k=$USER1$", "[]", "https://w/?k="},
	} {
		site := annotated(c.notes, c.url, c.url+"#a")
		lookup := func(id object.ID) projection.Item { i, _ := site.Get(id); return i }
		d := NewDetail(Chrome{}, Sources{Item: lookup("web 1!http"), Lookup: lookup}, sample.Now)
		if d.Notes != c.wantNotes || d.NotesURL != c.wantURL || d.ActionURL != c.wantURL+"#a" {
			t.Errorf("%s: %q, %q, %q; want %q, %q", name, d.Notes, d.NotesURL, d.ActionURL, c.wantNotes, c.wantURL)
		}
	}
}

func TestHostsHaveTheirOwnNotes(t *testing.T) {
	site := annotated("$HOSTADDRESS$ is $HOSTSTATE$", "https://w/$HOSTNAME$", "")
	lookup := func(id object.ID) projection.Item { i, _ := site.Get(id); return i }
	d := NewDetail(Chrome{}, Sources{Item: lookup("web 1"), Lookup: lookup}, sample.Now)
	if d.Notes != "192.0.2.7 is DOWN" || d.NotesURL != "https://w/web%201" || d.ActionURL != "" {
		t.Errorf("%q, %q, %q", d.Notes, d.NotesURL, d.ActionURL)
	}
}

func TestTheLinkOfARowIsFilledIn(t *testing.T) {
	site := annotated("", "https://w/$HOSTNAME$?s=$SERVICESTATE$", "")
	item, _ := site.Get("web 1!http")
	if got := NewRow(item, sample.Now).Help; got != "https://w/web%201?s=CRITICAL" {
		t.Errorf("the link is %q", got)
	}
}
