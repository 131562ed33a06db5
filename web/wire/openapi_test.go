package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/sample"
)

// described returns what OpenAPI says about routes, as a client reads it.
func described(t *testing.T, routes ...Route) map[string]any {
	t.Helper()
	data, err := json.Marshal(OpenAPI("1.2.3", routes))
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// dig follows keys down into a document.
func dig(doc any, keys ...string) any {
	for _, k := range keys {
		m, ok := doc.(map[string]any)
		if !ok {
			return nil
		}
		doc = m[k]
	}
	return doc
}

func TestRoutesAreDescribed(t *testing.T) {
	doc := described(t,
		Route{Method: "GET", Path: "/hosts/{host}/x", Help: "one host", Answer: "Host", Status: 200, Params: []Param{{Name: "fields", Type: "string", Help: "which fields"}}},
		Route{Method: "POST", Path: "/commands", Help: "ask", Body: "Command", Answer: "Accepted", Status: 202, Write: true},
		Route{Method: "GET", Path: "/commands", Help: "stream", Answer: "Event", Status: 200, Media: "text/event-stream"},
	)
	for name, c := range map[string]struct {
		want any
		path []string
	}{
		"the version":                    {"1.2.3", []string{"info", "version"}},
		"what a route is for":            {"one host", []string{"paths", "/hosts/{host}/x", "get", "summary"}},
		"what it answers":                {"#/components/schemas/Host", []string{"paths", "/hosts/{host}/x", "get", "responses", "200", "content", "application/json", "schema", "$ref"}},
		"how errors look":                {"#/components/schemas/Problem", []string{"paths", "/hosts/{host}/x", "get", "responses", "default", "content", "application/problem+json", "schema", "$ref"}},
		"what is sent":                   {"#/components/schemas/Command", []string{"paths", "/commands", "post", "requestBody", "content", "application/json", "schema", "$ref"}},
		"the status of success":          {"done", []string{"paths", "/commands", "post", "responses", "202", "description"}},
		"two methods of one path":        {"stream", []string{"paths", "/commands", "get", "summary"}},
		"what a stream is":               {"#/components/schemas/Event", []string{"paths", "/commands", "get", "responses", "200", "content", "text/event-stream", "schema", "$ref"}},
		"how a token is sent":            {"bearer", []string{"components", "securitySchemes", "token", "scheme"}},
		"a read has no body":             {nil, []string{"paths", "/commands", "get", "requestBody"}},
		"a read needs no token":          {nil, []string{"paths", "/commands", "get", "security"}},
		"a route without parameters":     {nil, []string{"paths", "/commands", "post", "parameters"}},
		"a field that is a time":         {"date-time", []string{"components", "schemas", "Service", "properties", "last_check", "format"}},
		"a field that is a map":          {"string", []string{"components", "schemas", "Service", "properties", "labels", "additionalProperties", "type"}},
		"a field that is a list":         {"string", []string{"components", "schemas", "Host", "properties", "groups", "items", "type"}},
		"a host has no service":          {nil, []string{"components", "schemas", "Host", "properties", "service"}},
		"a list is of items of its kind": {"#/components/schemas/Host", []string{"components", "schemas", "Hosts", "properties", "items", "items", "$ref"}},
	} {
		if got := dig(doc, c.path...); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	params, _ := dig(doc, "paths", "/hosts/{host}/x", "get", "parameters").([]any)
	if len(params) != 2 || dig(params[0], "name") != "host" || dig(params[0], "in") != "path" || dig(params[0], "required") != true ||
		dig(params[1], "name") != "fields" || dig(params[1], "in") != "query" || dig(params[1], "description") != "which fields" {
		t.Errorf("parameters are %v", params)
	}
	if write, _ := dig(doc, "paths", "/commands", "post", "security").([]any); len(write) != 2 {
		t.Errorf("a write may come with a token or, from the machine itself, without: %v", write)
	}
}

// Every item is as its schema says, whatever state it is in.
func TestItemsAreAsTheirSchemaSays(t *testing.T) {
	doc := described(t)
	site := sample.Office()
	for _, o := range site.Set().Objects {
		schema := map[object.Kind]string{object.Host: "Host", object.Service: "Service"}[o.Kind()]
		properties, _ := dig(doc, "components", "schemas", schema, "properties").(map[string]any)
		item, _ := site.Get(o.ID)
		for _, c := range []*Context{{}, {Owner: func(object.ID) string { return "e" }}} {
			var got map[string]any
			if err := json.Unmarshal(AppendItem(nil, &item, Columns(o.Kind()), c), &got); err != nil {
				t.Fatal(err)
			}
			if len(got) != len(properties) {
				t.Errorf("%s has %d fields, its schema %d", o.ID, len(got), len(properties))
			}
			for field, value := range got {
				if field == "owner" && value == nil && c.Owner == nil {
					continue
				}
				if why := mismatch(properties[field], value); why != "" {
					t.Errorf("%s, %s is %v: %s", o.ID, field, value, why)
				}
			}
		}
	}
}

// mismatch says why a value is not as its schema says, "" = it is.
func mismatch(schema, value any) string {
	if either, ok := dig(schema, "anyOf").([]any); ok {
		if _, record := value.(map[string]any); len(either) == 2 && (record || value == nil) {
			return ""
		}
		return "the schema says a record or null"
	}
	kind, _ := dig(schema, "type").(string)
	if kind == "" {
		if value == nil {
			return "" // a time that never was
		}
		kind = "string"
	}
	switch v := value.(type) {
	case string:
		if kind == "string" {
			return ""
		}
	case bool:
		if kind == "boolean" {
			return ""
		}
	case float64:
		if kind == "number" || (kind == "integer" && v == float64(int64(v))) {
			return ""
		}
	case map[string]any:
		if kind == "object" {
			return ""
		}
	case []any:
		if kind == "array" {
			return ""
		}
	}
	return "the schema says " + kind
}

func TestFieldsArePickedInTheOrderAskedFor(t *testing.T) {
	cols, err := Pick(object.Service, "state,host,output")
	if err != nil || len(cols) != 3 || cols[0].Name != "state" || cols[1].Name != "host" || cols[2].Name != "output" {
		t.Errorf("picked %v, %v", cols, err)
	}
	for list, want := range map[string]string{
		"state,":     `no field is called ""; write some of host,`,
		"State":      `no field is called "State"`,
		"state, age": `no field is called " age"`,
	} {
		if _, err := Pick(object.Service, list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", list, err, want)
		}
	}
	if all, err := Pick(object.Host, ""); err != nil || len(all) != len(Columns(object.Host)) {
		t.Errorf("by default %d fields, %v", len(all), err)
	}
}

func TestPickingChangesNothingForOthers(t *testing.T) {
	cols := Columns(object.Service)
	cols[0].Name = "changed"
	if again := Columns(object.Service)[0].Name; again != "host" {
		t.Errorf("the first field is called %q now", again)
	}
}
