package config

import (
	"strconv"

	"cuelang.org/go/cue/ast"
)

// maxRounds bounds the rounds of a loop over list.Range. The time that CUE needs for
// them grows with their square and nothing can stop it, so that a process would seem to
// hang; this many take some seconds.
const maxRounds = 20_000

// loops reports loops with too many rounds, as far as their text says how many.
func (src *source) loops(f *ast.File) {
	ast.Walk(f, func(n ast.Node) bool {
		loop, is := n.(*ast.Comprehension)
		if !is {
			return true
		}
		rounds := 1
		for _, c := range loop.Clauses {
			if over, is := c.(*ast.ForClause); is {
				rounds = min(rounds*rangeLength(over.Source), 1e9)
			}
		}
		if rounds > maxRounds {
			src.add(position(loop.Pos()), "", "a loop of %d rounds, for which CUE needs too long; make at most %d in all (hosts by the thousand come from an inventory)", rounds, maxRounds)
		}
		return true
	}, nil)
}

// rangeLength returns how many values list.Range with plain numbers has, 1 for
// everything else.
func rangeLength(e ast.Expr) int {
	call, is := e.(*ast.CallExpr)
	if !is || len(call.Args) != 3 {
		return 1
	}
	name, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return 1
	}
	if label, _, err := ast.LabelName(name.Sel); err != nil || label != "Range" {
		return 1
	}
	var of [3]int
	for i, arg := range call.Args {
		literal, is := arg.(*ast.BasicLit)
		if !is {
			return 1
		}
		v, err := strconv.Atoi(literal.Value)
		if err != nil {
			return 1
		}
		of[i] = v
	}
	if of[2] < 1 || of[1] <= of[0] {
		return 1
	}
	return min((of[1]-of[0]+of[2]-1)/of[2], 1e9)
}
