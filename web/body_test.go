package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"jaque.sh/jaque/web/sample"
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

func FuzzDecodeCommand(f *testing.F) {
	for _, s := range []string{"", check, `{"state":[1]}`, `{"command":`, `{"a":1}`, "{\"object\":\n12}", "\xff", `{} {}`, `{"\u0000":{}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := decodeCommand(data)
		if err == nil {
			if !json.Valid(data) {
				t.Errorf("%q was read though it is no JSON", data)
			}
			return
		}
		for _, leak := range []string{"Go ", "web.", "json:", "EOF", "struct"} {
			if fault := asFault(err); fault == nil || (strings.Contains(fault.Detail, leak) && !strings.Contains(string(data), leak)) {
				t.Errorf("%q: %v", data, err)
			}
		}
	})
}
