// Package check renders the Helm chart of jaque as helm would and compares what comes out
// with files that people have looked at. It is a module of its own, so that the program
// does not depend on Helm.
//
// Run it with go test -count=1: the chart stands outside of the module, so go test does not
// see that it has changed and shows the last result again.
package check
