package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/sample"
	"jaque.sh/jaque/web/wire"
)

func TestDowntimesAreListed(t *testing.T) {
	srv := serve(t, options(operated()))
	var list wire.Downtimes
	get(t, srv.URL+root+"/downtimes", &list)
	var got []string
	for _, d := range list.Items {
		got = append(got, fmt.Sprintf("%s %s %d %s", d.Object, d.ID, d.Number, d.Kind))
	}
	want := "web02!load d1 0 fixed; web03 d7 7 fixed; web03 r1@1772362800000 8 fixed; web03!disk d9 9 triggered"
	if text := strings.Join(got, "; "); text != want || list.Total != 4 || list.Next != "" {
		t.Errorf("%s, total %d, next %q", text, list.Total, list.Next)
	}
	if d := list.Items[1]; d.Author != "ops" || d.Comment != "move" || d.Start != wire.Time(moment("2026-03-01T11:00:00Z")) ||
		d.Started == 0 || d.Until != wire.Time(moment("2026-03-01T13:00:00Z")) {
		t.Errorf("%+v", d)
	}
	if len(list.Rules) != 2 || list.Rules[0].ID != "r1" || !list.Rules[0].WithServices || len(list.Rules[0].Occurrences) != 10 ||
		list.Rules[0].Target != "web03 with its services" || list.Rules[0].Objects != 1 || list.Rules[1].Objects != 0 ||
		list.Rules[1].Group != "db-servers" || list.Rules[1].Target != "group db-servers" || list.Rules[1].Occurrences != nil || list.Rules[1].Start == 0 {
		t.Errorf("rules %+v", list.Rules)
	}
	for query, want := range map[string]string{
		"object=web03":                  "d7 r1@1772362800000 | r1",
		"object=web03!http":             " | r1",
		"object=db01":                   " | r2",
		"object=db01!disk":              " | r2",
		"filter=service~disk":           "d9 | ",
		"filter=host%3Dweb03&limit=2":   "d7 r1@1772362800000 | r1",
		"filter=comment~nothing":        " | ",
		"object=web03&filter=kind=host": "d7 r1@1772362800000 | r1",
	} {
		list = wire.Downtimes{}
		get(t, srv.URL+root+"/downtimes?"+query, &list)
		var items, rules []string
		for _, d := range list.Items {
			items = append(items, d.ID)
		}
		for _, r := range list.Rules {
			rules = append(rules, r.ID)
		}
		if got := strings.Join(items, " ") + " | " + strings.Join(rules, " "); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

func TestCommentsAreListed(t *testing.T) {
	srv := serve(t, options(operated()))
	var list wire.Comments
	get(t, srv.URL+root+"/comments?object=web03!disk", &list)
	if len(list.Items) != 2 || list.Total != 2 {
		t.Fatalf("%+v", list)
	}
	want := wire.Comment{ID: "c3", Number: 3, Object: "web03!disk", Kind: "user", Author: "ops", Comment: "new disk <b>", Time: wire.Time(moment("2026-03-01T10:00:00Z")), Persistent: true}
	if list.Items[0] != want {
		t.Errorf("%+v, want %+v", list.Items[0], want)
	}
	if c := list.Items[1]; c.Persistent || c.Expires != wire.Time(moment("2026-03-02T11:00:00Z")) {
		t.Errorf("%+v", c)
	}
	_, body := ask(t, http.MethodGet, srv.URL+root+"/comments?filter=host%3Dsw1", "")
	if strings.TrimSpace(body) != `{"items":[],"total":0,"next":""}` {
		t.Errorf("of a host without comments: %s", body)
	}
}

func TestSettingsThatDifferAreListed(t *testing.T) {
	srv := serve(t, options(operated()))
	var list wire.Settings
	get(t, srv.URL+root+"/settings", &list)
	if len(list.Program) != 12 {
		t.Errorf("%d switches of the program", len(list.Program))
	}
	for _, p := range list.Program {
		off := p.Name == "notifications"
		if p.Configured != !strings.HasPrefix(p.Name, "obsess") || p.On != (p.Configured && !off) || (p.Author == "eva") != off || (p.Time != 0) != off {
			t.Errorf("%+v", p)
		}
	}
	if len(list.Contacts) != 1 || list.Contacts[0].Name != "maria" || list.Contacts[0].Hosts || !list.Contacts[0].Services {
		t.Errorf("contacts %+v", list.Contacts)
	}
	if list.Total != 1 || len(list.Objects) != 1 || list.Objects[0].Object != "web03!disk" || list.Objects[0].Settings[0] != (wire.Setting{
		Name: "notifications", Value: "off", Author: "eva", Time: wire.Time(moment("2026-03-01T10:30:00Z")),
	}) {
		t.Errorf("objects %+v", list.Objects)
	}
	var status struct {
		Switches []wire.ProgramSwitch `json:"switches"`
	}
	get(t, srv.URL+root+"/status", &status)
	if len(status.Switches) != 1 || status.Switches[0].Name != "notifications" || status.Switches[0].On || status.Switches[0].Author != "eva" {
		t.Errorf("the status tells of %+v", status.Switches)
	}
	get(t, serve(t, options(sample.Office())).URL+root+"/status", &status)
	if len(status.Switches) != 0 {
		t.Errorf("where nobody switched anything, the status tells of %+v", status.Switches)
	}
}

func TestItemsShowWhatOperatorsDid(t *testing.T) {
	srv := serve(t, options(operated()))
	const names = "acknowledgement,in_downtime,downtimes,comments,root,settings,check_period,freshness,stale"
	for path, want := range map[string]string{
		"/services/web03/disk": `{"acknowledgement":null,"in_downtime":true,"downtimes":1,"comments":2,"root":"","settings":[{"name":"notifications","value":"off","author":"eva","time":"2026-03-01T10:30:00.000Z"}],"check_period":"","freshness":0,"stale":false}`,
		"/services/web03/http": `{"acknowledgement":null,"in_downtime":true,"downtimes":0,"comments":0,"root":"","settings":[],"check_period":"","freshness":0,"stale":false}`,
		"/hosts/web03":         `{"acknowledgement":null,"in_downtime":true,"downtimes":2,"comments":0,"root":"","settings":[],"check_period":"","freshness":0,"stale":false}`,
		"/services/db01/replication": `{"acknowledgement":{"kind":"sticky","author":"maria","comment":"restored after the import, watching it","time":null,"expires":null},` +
			`"in_downtime":false,"downtimes":0,"comments":0,"root":"","settings":[],"check_period":"","freshness":0,"stale":false}`,
		"/services/db01/backup": `{"acknowledgement":null,"in_downtime":false,"downtimes":0,"comments":0,"root":"","settings":[],"check_period":"","freshness":93600,"stale":false}`,
	} {
		if _, got := ask(t, http.MethodGet, srv.URL+root+path+"?fields="+names, ""); strings.TrimSpace(got) != want {
			t.Errorf("%s: %s\nwant %s", path, got, want)
		}
	}
	var list listAnswer
	get(t, srv.URL+root+"/services?filter=in_downtime&fields=host,in_downtime", &list)
	if list.Total != 4 {
		t.Errorf("%d services are in a downtime, want three of web03 and one of web02", list.Total)
	}
}

func TestListsOfWhatOperatorsLeftSayWhatIsWrong(t *testing.T) {
	srv := serve(t, options(operated()))
	for query, want := range map[string]string{
		"?object=web3":        `did you mean \"web03\"?`,
		"?filter=stat%3Dx":    `no field is called \"stat\"`,
		"?limit=0":            "write a number from 1 to 10000",
		"?limit=10001":        "write a number from 1 to 10000",
		"?cursor=***":         "the cursor is none of this list",
		"?cursor=" + "eHg":    "the cursor is none of this list",
		"?sort=id":            `no parameter is called \"sort\" here; write some of filter, object, limit, cursor`,
		"?object=web03&x=y":   "no parameter is called",
		"?filter=kind%3Dhots": "write one of host, service",
	} {
		for _, path := range []string{"/downtimes", "/comments", "/settings"} {
			resp, body := ask(t, http.MethodGet, srv.URL+root+path+query, "")
			if resp.StatusCode < 400 || resp.StatusCode > 404 || !strings.Contains(body, want) || resp.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s: %s %s, want %s", path+query, resp.Status, body, want)
			}
		}
	}
}

// The pages of a list join to the whole, whatever is on it and however long
// they are.
func TestPagesOfCommentsJoinToTheWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		site := sample.Many(10)
		number := uint64(0)
		for _, o := range site.Set().Objects {
			x := &event.Extra{}
			for range rapid.IntRange(0, 4).Draw(rt, "comments") {
				number++
				x.Comments = append(x.Comments, event.Comment{ID: fmt.Sprint("c", number), Number: rapid.Uint64Range(1, 20).Draw(rt, "number")*100 + number})
			}
			site.Result(o.ID, object.OK, "fine", time.Minute, func(e *event.Event) { e.Status.Extra = x })
		}
		s := bare(t, site)
		limit := rapid.IntRange(1, 7).Draw(rt, "limit")
		seen, next := map[string]bool{}, ""
		for {
			w := &capture{}
			r := newGet(fmt.Sprintf("/comments?limit=%d&cursor=%s", limit, url.QueryEscape(next)))
			if err := s.comments(w, r); err != nil {
				rt.Fatal(err)
			}
			var list wire.Comments
			if err := json.Unmarshal(w.body, &list); err != nil {
				rt.Fatal(err)
			}
			if len(list.Items) > limit || list.Total != int(number) {
				rt.Fatalf("%d items of %d", len(list.Items), list.Total)
			}
			for _, c := range list.Items {
				if seen[c.ID] {
					rt.Fatalf("%s is told twice", c.ID)
				}
				seen[c.ID] = true
			}
			if next = list.Next; next == "" {
				break
			}
		}
		if len(seen) != int(number) {
			rt.Fatalf("%d of %d comments were told", len(seen), number)
		}
	})
}

// capture keeps the body of an answer.
type capture struct {
	head http.Header
	body []byte
}

func (c *capture) Header() http.Header {
	if c.head == nil {
		c.head = http.Header{}
	}
	return c.head
}
func (c *capture) WriteHeader(int) {}
func (c *capture) Write(b []byte) (int, error) {
	c.body = append(c.body, b...)
	return len(b), nil
}

func newGet(path string) *http.Request {
	r, err := http.NewRequest(http.MethodGet, "http://localhost"+root+path, nil)
	if err != nil {
		panic(err)
	}
	return r
}
