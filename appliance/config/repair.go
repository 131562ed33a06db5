package config

import (
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/ast/astutil"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/errors"
)

// maxRepairs bounds how often a package is compiled: what is taken out may
// uncover more that does not compile.
const maxRepairs = 5

// compile builds the package. One name that nobody declared makes CUE give up on
// everything, so each such name is reported, replaced by an error value and the
// rest is compiled again: the error then spreads only to what depends on it. It
// returns false if nothing can be evaluated.
func (src *source) compile(ctx *cue.Context, files []*ast.File) (cue.Value, bool) {
	for range maxRepairs {
		inst := build.NewContext().NewInstance("", nil)
		for _, f := range files {
			if err := inst.AddSyntax(f); err != nil {
				src.translate(err)
			}
		}
		if err := inst.Complete(); err != nil {
			src.translate(err)
		}
		value := ctx.BuildInstance(inst)
		_, err := value.Fields(cue.ErrorsAsValues(true))
		if err == nil {
			return value, true
		}
		before := len(src.problems)
		src.translate(value.Err())
		if len(src.problems) == before {
			src.translate(err)
		}
		if !src.repair(files, value.Err()) {
			break
		}
	}
	return cue.Value{}, false
}

// repair replaces the names and takes out the imports and lets that errors are
// about. It returns false
// if there was nothing to replace.
func (src *source) repair(files []*ast.File, err error) bool {
	names, imports, lets := map[Position]bool{}, map[Position]bool{}, map[Position]bool{}
	for _, e := range errors.Errors(err) {
		format, _ := e.Msg()
		switch {
		case strings.HasPrefix(format, "reference "), strings.HasPrefix(format, "predeclared name "):
			names[position(e.Position())] = true
		case missingPackage(format), strings.HasPrefix(format, "imported and not used"):
			imports[position(e.Position())] = true
		case strings.HasPrefix(format, "unreferenced alias or let"):
			lets[position(e.Position())] = true
		}
	}
	for _, f := range files {
		dropped := dropImports(f, imports)
		f.Decls = dropLets(f.Decls, lets)
		astutil.Apply(f, func(c astutil.Cursor) bool {
			if body, ok := c.Node().(*ast.StructLit); ok {
				body.Elts = dropLets(body.Elts, lets)
			}
			id, ok := c.Node().(*ast.Ident)
			if ok && (names[position(id.Pos())] || slices.Contains(dropped, id.Node)) {
				src.taken[position(id.Pos())] = true
				c.Replace(&ast.BottomLit{Bottom: id.Pos()})
			}
			return true
		}, nil)
	}
	return len(names)+len(imports)+len(lets) > 0
}

// dropImports takes imports at given places out of a file and returns them.
func dropImports(f *ast.File, at map[Position]bool) (dropped []ast.Node) {
	decls := f.Decls[:0:0]
	for _, decl := range f.Decls {
		d, ok := decl.(*ast.ImportDecl)
		if ok {
			d.Specs = slices.DeleteFunc(d.Specs, func(s *ast.ImportSpec) bool {
				gone := at[position(s.Pos())]
				if gone {
					dropped = append(dropped, s)
				}
				return gone
			})
		}
		if !ok || len(d.Specs) > 0 {
			decls = append(decls, decl)
		}
	}
	f.Decls = decls
	return dropped
}

// dropLets takes let clauses at given places out of a struct.
func dropLets(decls []ast.Decl, at map[Position]bool) []ast.Decl {
	return slices.DeleteFunc(decls, func(d ast.Decl) bool {
		let, ok := d.(*ast.LetClause)
		return ok && at[position(let.Pos())]
	})
}

// missingPackage tells whether an error is about a package that is not there.
func missingPackage(format string) bool {
	return strings.HasPrefix(format, "builtin package %q undefined") ||
		strings.HasPrefix(format, "package %q imported but not defined")
}

// consequence tells whether an error only says that a value depends on one that
// was replaced.
func (src *source) consequence(e errors.Error) bool {
	for _, p := range errors.Positions(e) {
		if src.taken[position(p)] {
			return true
		}
	}
	return false
}
