package config

import (
	"fmt"
	"io/fs"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/parser"

	"jaque.sh/jaque/assets/schema"
)

// schemaDir marks the file names of the embedded schema.
const schemaDir = "jaque-schema/"

// maxUnified is the number of declared things, such as hosts and contacts, up to which
// CUE itself unifies them with the schema. CUE takes 0.3 to 1 ms and 36 KB for each;
// the decoder of this package checks the same constraints in microseconds, and a test holds
// the two against each other.
const maxUnified = 500

// compileSchema builds the embedded schema.
func compileSchema(ctx *cue.Context) (cue.Value, error) {
	inst := build.NewContext().NewInstance("", nil)
	names, err := fs.Glob(schema.Files, "*.cue")
	if err != nil {
		return cue.Value{}, fmt.Errorf("list the embedded schema: %w", err)
	}
	for _, name := range names {
		content, err := fs.ReadFile(schema.Files, name)
		if err != nil {
			return cue.Value{}, fmt.Errorf("read the embedded schema: %w", err)
		}
		f, err := parser.ParseFile(schemaDir+name, content)
		if err != nil {
			return cue.Value{}, fmt.Errorf("parse the embedded schema: %w", err)
		}
		if err := inst.AddSyntax(f); err != nil {
			return cue.Value{}, fmt.Errorf("build the embedded schema: %w", err)
		}
	}
	v := ctx.BuildInstance(inst)
	if err := v.Err(); err != nil {
		return cue.Value{}, fmt.Errorf("build the embedded schema: %w", err)
	}
	return v, nil
}

// checkSchema unifies the operator's package with the schema, keeps the
// schema's defaults and notes every path that the schema refuses.
func (src *source) checkSchema(ctx *cue.Context, user cue.Value) {
	all, err := compileSchema(ctx)
	if err != nil {
		panic("config: " + err.Error()) // the binary was built with a broken schema
	}
	quiet := &source{labels: map[string]Position{}}
	src.schemaDefaults = quiet.tree(nil, all.LookupPath(cue.ParsePath("#Defaults")))
	src.schemaSettings = quiet.tree(nil, all.LookupPath(cue.ParsePath("#Settings")))
	declared := 0
	if src.root != nil {
		for _, section := range src.root.fields {
			declared += len(section.node.fields) + len(section.node.items)
		}
	}
	if declared > maxUnified {
		return
	}
	both := all.LookupPath(cue.ParsePath("#Config")).Unify(user)
	for _, e := range errors.Errors(both.Validate(cue.Concrete(false), cue.All())) {
		if src.consequence(e) {
			continue
		}
		at := strings.TrimPrefix(cuePath(e.Path()).String(), `"#Config".`)
		pos, ok := src.labels[at]
		if places := positions(e); !ok && len(places) > 0 {
			pos = places[0]
		}
		src.refused = append(src.refused, Problem{Position: pos, Path: at, Text: "the schema does not allow this; compare with the reference of the config"})
	}
}

// unreported returns the refusals of the schema that no problem is about yet.
func unreported(refused, reported Problems) Problems {
	var out Problems
	for _, r := range refused {
		known := false
		for _, p := range reported {
			known = known || p.Path == r.Path || within(p.Path, r.Path) || within(r.Path, p.Path)
		}
		if !known {
			out = append(out, r)
		}
	}
	return out
}

// within tells whether a path lies below another one.
func within(inner, outer string) bool {
	rest, ok := strings.CutPrefix(inner, outer)
	return ok && rest != "" && (outer == "" || rest[0] == '.' || rest[0] == '[')
}
