package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/web/sample"
	"jaque.sh/jaque/web/wire"
)

func TestBodiesThatCannotBeReadSayWhere(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"nothing":                 {"", "the body is empty; send a JSON object"},
		"blanks":                  {" \n\t", "the body is empty; send a JSON object"},
		"a list":                  {`[{"command":"check-now"}]`, "the body is a list; send a JSON object"},
		"a string":                {`"check-now"`, "the body is a string; send a JSON object"},
		"null":                    {`null`, "the body is null; send a JSON object"},
		"a number":                {` 12`, "the body is a number; send a JSON object"},
		"an end that is missing":  {"{\"command\":\n\"check-now\"", "the body ends at line 2, column 12, before its JSON is complete; send a whole object"},
		"a value that is missing": {`{"command":`, "the body ends at line 1, column 12, before its JSON is complete"},
		"a form":                  {`command=check-now`, "the body is no JSON: 'c' is wrong at line 1, column 1; send a JSON object"},
		"a comma too many":        {`{"command":"é",}`, "the body is no JSON: '}' is wrong at line 1, column 16"},
		"a second object":         {`{"command":"check-now"} {}`, "something follows the object at line 1, column 25; send one command at a time"},
		"an unknown field":        {`{"comand":"check-now"}`, `no field is called "comand" (at line 1, column 9); did you mean "command"?`},
		"another case":            {`{"Command":"check-now"}`, `no field is called "Command" (at line 1, column 10); did you mean "command"?`},
		"a field twice":           {`{"object":"a","object":"b"}`, `field "object" is given again at line 1, column 22; write it once`},
		"a number for a name":     {"{\"command\":\"check-now\",\n \"object\": 12}", "object is a number at line 2, column 12; write a string"},
		"a list for a text":       {`{"output":["x"]}`, "output is a list at line 1, column 11; write a string"},
	} {
		_, err := decodeCommand([]byte(c.body))
		if f := asFault(err); f == nil || f.Status != http.StatusBadRequest || !strings.HasPrefix(f.Detail, c.want) {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
}

func TestFieldsOfACommandAreRead(t *testing.T) {
	q, err := decodeCommand([]byte(`{"command":"submit-result","object":"a!b","state":2,"output":"o\u0000","long_output":"l","perfdata":null}` + "\n"))
	if err != nil || q.Command != "submit-result" || q.Object != "a!b" || string(q.State) != "2" || q.Output != "o\x00" || q.Long != "l" || q.Perfdata != "" {
		t.Errorf("%+v, %v", q, err)
	}
	if q, err := decodeCommand([]byte(`{"state":null}`)); err != nil || q.State != nil {
		t.Errorf("a state that is null: %+v, %v", q, err)
	}
}

func TestEveryFieldIsDescribedAndTakesOnlyItsKind(t *testing.T) {
	data, err := json.Marshal(wire.OpenAPI("", nil))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]any `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	described := doc.Components.Schemas["Command"].Properties
	names := fieldNames()
	if len(described) != len(names) {
		t.Errorf("%d fields are described, there are %d", len(described), len(names))
	}
	taken := slices.Clone(common)
	for _, v := range verbs() {
		taken = append(taken, v.takes...)
	}
	taken = append(taken, "program", "contact")
	for i, name := range names {
		if described[name] == nil || !slices.Contains(taken, name) {
			t.Errorf("%s is not described, or no command takes it", name)
		}
		f := requestFields[i]
		if _, err := decodeCommand([]byte(`{"` + name + `":{}}`)); !f.state && (asFault(err) == nil || asFault(err).Field != name) {
			t.Errorf("%s may be an object: %v", name, err)
		}
		if _, err := decodeCommand([]byte(`{"` + name + `":null}`)); err != nil {
			t.Errorf("%s may not be null: %v", name, err)
		}
	}
}

func TestBodiesThatAreTooLargeAreRefused(t *testing.T) {
	o := options(sample.Office())
	o.Token = "geheim"
	srv := serve(t, o)
	huge := strings.Repeat("x", largest)
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	for path, c := range map[string]struct {
		body   string
		header []string
	}{
		root + "/commands": {`{"output":"` + huge + `"}`, []string{"Content-Type", "application/json", "Authorization", "Bearer geheim"}},
		"/theme":           {"theme=" + huge, form},
		"/sign-in":         {"token=" + huge, form},
	} {
		resp, body := ask(t, http.MethodPost, srv.URL+path, c.body, c.header...)
		if resp.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(body, "bytes that are read; send less") {
			t.Errorf("%s: %s %.300s", path, resp.Status, body)
		}
	}
}

// Whatever a body says, it is either read as far as to actions or refused in
// words of the API; nothing is done here.
func FuzzDecodeCommand(f *testing.F) {
	site := bare(f, operated())
	for _, s := range []string{
		"", check, `{"state":[1]}`, `{"command":`, `{"a":1}`, "{\"object\":\n12}", "\xff", `{} {}`, `{"\u0000":{}}`,
		`{"command":"schedule-downtime","filter":"*","comment":"x","ranges":["sunday 02:00-04:00"],"timezone":"Europe/Berlin","preview":true}`,
		`{"command":"schedule-downtime","objects":["web01","web02!http"],"comment":"x","duration":1e3,"flexible":60,"trigger":"d7"}`,
		`{"command":"cancel-downtime","group":"db-servers","start":"2026-03-01T15:00:00Z"}`,
		`{"command":"disable","program":true,"what":"obsess"}`, `{"command":"set","object":"web01","setting":"var._A","value":1e99}`,
		`{"command":"submit-result","object":"web01","state":1,"time":"1772370000250","output":"a\nb"}`, `{"confirm":1e400,"duration":-0}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		q, actions, err := site.planOf(string(data))
		if err == nil {
			if !json.Valid(data) || len(actions) == 0 || q.Command == "" {
				t.Errorf("%q was read as %+v", data, actions)
			}
			return
		}
		for _, leak := range []string{"Go ", "web.", "json:", "EOF", "struct", "strconv", "time:", "%!"} {
			if fault := asFault(err); fault == nil || (strings.Contains(fault.Detail, leak) && !strings.Contains(string(data), leak)) {
				t.Errorf("%q: %v", data, err)
			}
		}
	})
}

// Whatever a form says, what it is read as is what the same body would be.
func FuzzRequestFromForm(f *testing.F) {
	site := bare(f, operated())
	for _, s := range []string{
		"command=check-now&object=web01", "command=acknowledge&objects=web01%0d%0aweb02&comment=x&sticky=false&sticky=true",
		"command=schedule-downtime&object=web01&start=2026-03-01T13:00&duration=90m&comment=x", "command=submit-result&object=web01&state=1",
		"command=set&object=web01&setting=interval&value=", "command=enable&program=on&what=perfdata", "a=%ff&comment=%ff&command=add-comment&filter=*",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		values, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		q, err := requestFromForm(values)
		if err == nil {
			var wish operate.Request
			if wish, err = site.wish(&q); err == nil {
				_, err = site.plan(&wish)
			}
		}
		if err != nil && asFault(err) == nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}
