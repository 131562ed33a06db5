package config

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue/errors"
)

// translateOne adds one error of CUE in the operator's words. CUE's own text is
// for developers, so what is not known here gets a text that is true of any.
func (src *source) translateOne(e errors.Error) {
	if src.consequence(e) {
		return
	}
	format, args := e.Msg()
	places := positions(e)
	pos := Position{}
	if len(places) > 0 {
		pos = places[0]
	}
	at := cuePath(e.Path())
	text := cueText(format, args, places)
	if text == "" {
		return
	}
	src.add(pos, at.String(), "%s", text)
}

// The texts that say less than any other about the same value.
const (
	noValue  = "no value satisfies everything that is written about it"
	noField  = "the definition it is based on has no such field"
	noPart   = `cannot be put together; what stands in \(...) has no value`
	mismatch = "two values are given"
)

// spokenFlags are other languages' words for true and false.
var spokenFlags = map[string]string{
	"yes": "true", "on": "true", "true": "true", "no": "false", "off": "false", "false": "false",
	"null": "null", "none": "null", "nil": "null",
}

// telling leaves out problems about a value of which another problem says more.
// Of the alternatives of a value that none fits, the first one stands for all.
func telling(all Problems) Problems {
	count, first := map[string]int{}, map[string]bool{}
	for _, p := range all {
		count[p.Path]++
	}
	return slices.DeleteFunc(all, func(p Problem) bool {
		if p.Path == "" || count[p.Path] < 2 {
			return false
		}
		if strings.HasPrefix(p.Text, mismatch) {
			again := first[p.Path]
			first[p.Path] = true
			return again
		}
		weak := strings.HasPrefix(p.Text, noValue) || strings.HasPrefix(p.Text, noField) || p.Text == noPart
		if weak {
			count[p.Path]--
		}
		return weak
	})
}

// cueText returns the operator's words for an error of CUE, "" for one that
// another error says better.
func cueText(format string, args []any, places []Position) string {
	arg := func(i int) string {
		if i < len(args) {
			return fmt.Sprint(args[i])
		}
		return ""
	}
	switch {
	case strings.HasPrefix(format, "conflicting values"):
		return fmt.Sprintf(mismatch+", %s and %s%s; keep one", arg(0), arg(1), elsewhere(places))
	case strings.HasPrefix(format, "reference %q not found") && spokenFlags[strings.ToLower(arg(0))] != "":
		return fmt.Sprintf("nothing here is named %s; write %s", quote(arg(0)), spokenFlags[strings.ToLower(arg(0))])
	case strings.HasPrefix(format, "invalid value %v (out of bound"):
		return fmt.Sprintf("%s does not fit, %s is demanded%s; write another value", arg(0), arg(1), elsewhere(places))
	case strings.HasPrefix(format, "reference %q not found"):
		return fmt.Sprintf("nothing here is named %s; write %s for a text", quote(arg(0)), strconv.Quote(arg(0)))
	// The error about the package that follows says the same and what to do.
	case strings.HasPrefix(format, "import %q not found"):
		return ""
	case missingPackage(format):
		return fmt.Sprintf("the package %s was not found; only CUE's own packages, such as \"strings\", can be imported", quote(arg(0)))
	case strings.HasPrefix(format, "unreferenced alias or let"):
		return fmt.Sprintf("nothing uses %s; remove it", quote(arg(0)))
	case strings.HasPrefix(format, "predeclared name"):
		return fmt.Sprintf("nothing is named %s; names with __ belong to CUE", quote(arg(0)))
	case strings.HasPrefix(format, "cannot have both alias and field"):
		return fmt.Sprintf("%s names both a field and a let here; rename one", quote(arg(0)))
	case strings.HasPrefix(format, "undefined field"):
		return fmt.Sprintf("refers to a field %s that does not exist", strings.Trim(arg(0), `"`))
	case strings.Contains(format, "structural cycle"), strings.Contains(format, "cycle"):
		return "refers to itself; break the circle"
	case strings.Contains(format, "division by zero"), strings.HasPrefix(format, "failed arithmetic"):
		return "cannot be calculated; look at the numbers"
	case strings.Contains(format, "not allowed"):
		return noField + elsewhere(places)
	case strings.Contains(format, "required but not present"):
		return "missing; the definition it is based on demands it" + elsewhere(places)
	// openValue reports the value itself, with its path.
	case strings.HasPrefix(format, "incomplete"), strings.HasPrefix(format, "non-concrete"):
		return ""
	case strings.HasPrefix(format, "missing ',' in"):
		return "a comma or a line break is missing before this"
	case strings.HasPrefix(format, "string literal not terminated"), strings.Contains(format, "newline in string"):
		return `the text has no closing quote; write "..." on one line`
	case strings.HasPrefix(format, "unknown escape sequence"):
		return `a backslash starts an escape in a text; write \\ for one, or #"..."# for a text without escapes`
	case strings.HasPrefix(format, "illegal integer number"):
		return `neither a number nor a name; a name with other characters than letters, digits and _ goes in quotes: "web-01"`
	case strings.HasPrefix(format, "invalid interpolation"):
		return noPart
	case strings.HasPrefix(format, "expected "), strings.HasPrefix(format, "unexpected "),
		strings.HasPrefix(format, "illegal "), strings.HasPrefix(format, "found "), strings.Contains(format, "literal"):
		return "not the syntax of CUE: " + fmt.Sprintf(format, args...)
	case strings.Contains(format, "imported and not used"):
		return fmt.Sprintf("the package %s is imported and not used; remove the import", arg(0))
	}
	return noValue + elsewhere(places)
}

// elsewhere names the further places of a conflict.
func elsewhere(places []Position) string {
	if len(places) < 2 {
		return ""
	}
	return " (also written at " + places[1].String() + ")"
}

// positions lists the places of an error, the most useful one first: where the
// error is, then what took part in it.
func positions(e errors.Error) []Position {
	var out []Position
	seen := map[Position]bool{}
	for _, p := range errors.Positions(e) {
		at := position(p)
		// The schema is jaque's own; its places would send operators to a file that
		// they do not have.
		if at.File != "" && !seen[at] && !strings.HasPrefix(at.File, schemaDir) {
			seen[at] = true
			out = append(out, at)
		}
	}
	return out
}

// cuePath turns CUE's path into ours: numbers are list indices unless quoted.
func cuePath(parts []string) *path {
	var at *path
	for _, p := range parts {
		// Names such as let[] or ? are CUE's own; the place shows what is meant.
		if p == "?" || strings.HasSuffix(p, "[]") {
			break
		}
		if i, err := strconv.Atoi(p); err == nil {
			at = at.at(i)
			continue
		}
		if text, err := strconv.Unquote(p); err == nil {
			p = text
		}
		at = at.field(p)
	}
	return at
}

// plainError cuts the operation and path off an error of the file system.
func plainError(err error) string {
	var pe *fs.PathError
	if !errors.As(err, &pe) {
		return err.Error()
	}
	switch {
	case os.IsNotExist(err):
		return "there is no such file"
	case os.IsPermission(err):
		return "permission denied"
	}
	return pe.Err.Error()
}
