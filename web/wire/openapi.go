package wire

import (
	"cmp"
	"maps"
	"strings"

	"jaque.sh/jaque/appliance/core/object"
)

// Param is a query parameter of a route.
type Param struct {
	Name string
	Type string // JSON schema type
	Help string
	In   string // header; "" = query
}

// Route is one documented way into the API.
type Route struct {
	Method string
	Path   string // with {name} for parts
	Help   string
	Params []Param
	Body   string         // name of the schema of the body, "" = none
	Answer string         // name of the schema of the answer
	Status int            // of success
	Write  bool           // needs the token, if one is configured
	Media  string         // of the answer; "" = application/json
	Other  map[int]string // schemas of further answers by status
}

type dict = map[string]any

// OpenAPI returns the description of the routes, ready for encoding/json.
func OpenAPI(version string, routes []Route) any {
	paths := dict{}
	for _, r := range routes {
		ops, _ := paths[r.Path].(dict)
		if ops == nil {
			ops = dict{}
			paths[r.Path] = ops
		}
		ops[strings.ToLower(r.Method)] = operation(r)
	}
	return dict{
		"openapi": "3.1.0",
		"info":    dict{"title": "jaque", "version": version, "description": "Times are RFC 3339 in UTC and null for never, durations are seconds."},
		"paths":   paths,
		"components": dict{
			"schemas":         schemas(),
			"securitySchemes": dict{"token": dict{"type": "http", "scheme": "bearer"}},
		},
	}
}

func operation(r Route) dict {
	media := r.Media
	if media == "" {
		media = "application/json"
	}
	answer := dict{"description": "done", "content": dict{media: dict{"schema": ref(r.Answer)}}}
	op := dict{
		"summary": r.Help,
		"responses": dict{
			statusText(r.Status): answer,
			"default": dict{"description": "what is wrong", "content": dict{
				"application/problem+json": dict{"schema": ref("Problem")},
			}},
		},
	}
	for status, name := range r.Other {
		op["responses"].(dict)[statusText(status)] = dict{
			"description": "nothing was done", "content": dict{"application/json": dict{"schema": ref(name)}},
		}
	}
	params := []any{}
	for part := range strings.SplitSeq(r.Path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			params = append(params, dict{
				"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true, "schema": dict{"type": "string"},
			})
		}
	}
	for _, p := range r.Params {
		params = append(params, dict{"name": p.Name, "in": cmp.Or(p.In, "query"), "description": p.Help, "schema": dict{"type": p.Type}})
	}
	if len(params) > 0 {
		op["parameters"] = params
	}
	if r.Body != "" {
		op["requestBody"] = dict{"required": true, "content": dict{"application/json": dict{"schema": ref(r.Body)}}}
	}
	if r.Write {
		op["security"] = []any{dict{"token": []string{}}, dict{}}
	}
	return op
}

func statusText(code int) string {
	return string([]byte{byte('0' + code/100), byte('0' + code/10%10), byte('0' + code%10)})
}

func ref(name string) dict { return dict{"$ref": "#/components/schemas/" + name} }

func schemas() dict {
	list := func(item string) dict {
		return record(dict{
			"items": dict{"type": "array", "items": ref(item)},
			"total": dict{"type": "integer"},
			"next":  dict{"type": "string", "description": "cursor of the next page, empty on the last"},
		})
	}
	all := operatorSchemas()
	maps.Copy(all, notifySchemas())
	maps.Copy(all, fleetSchemas())
	condition := record(dict{"state": typed("string"), "state_type": typed("string"), "attempt": typed("integer")})
	maps.Copy(all, dict{
		"Host":     itemSchema(object.Host),
		"Service":  itemSchema(object.Service),
		"Hosts":    list("Host"),
		"Services": list("Service"),
		"Status": record(dict{
			"trouble": dict{
				"type": "array", "items": typed("string"),
				"description": "sentences on what is wrong with this process, such as a log that is not being written; empty while all is well",
			},
			"switches": dict{
				"type": "array", "items": ref("ProgramSwitch"),
				"description": "switches of the whole program that operators set against the configuration",
			},
		}),
		"Event": record(dict{
			"stream": typed("string"), "seq": typed("integer"), "id": typed("string"), "time": typed("time"),
			"kind": typed("string"), "object": typed("string"), "epoch": typed("integer"), "writer": typed("string"),
			"transition": typed("boolean"), "was": condition, "now": condition, "output": typed("string"),
			"author": typed("string"), "text": typed("string"), "facts": typed("map"),
		}),
		"Events": record(dict{"items": dict{"type": "array", "items": ref("Event")}}),
		"Problem": record(dict{
			"type": typed("string"), "title": typed("string"), "status": typed("integer"), "detail": typed("string"),
			"known": typed("list"), "did_you_mean": typed("string"), "column": typed("integer"),
			"field": typed("string"), "total": typed("integer"),
		}),
		"OpenAPI": dict{"type": "object"},
	})
	return all
}

func record(properties dict) dict { return dict{"type": "object", "properties": properties} }

func itemSchema(k object.Kind) dict {
	properties := dict{}
	for _, c := range Columns(k) {
		s := typed(c.Kind)
		s["description"] = c.Help
		properties[c.Name] = s
	}
	return record(properties)
}

// typed returns the schema of a column's kind.
func typed(kind string) dict {
	switch kind {
	case "time":
		return dict{"type": []string{"string", "null"}, "format": "date-time"}
	case "map":
		return dict{"type": "object", "additionalProperties": dict{"type": "string"}}
	case "list":
		return dict{"type": "array", "items": dict{"type": "string"}}
	case "acknowledgement":
		return dict{"anyOf": []any{ref("Acknowledgement"), dict{"type": "null"}}}
	case "settings":
		return dict{"type": "array", "items": ref("Setting")}
	}
	return dict{"type": kind}
}
