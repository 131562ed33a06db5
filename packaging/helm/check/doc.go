// Package check renders the Helm chart of jaque as helm would and compares what comes out
// with files that people have looked at. It is a module of its own, so that the program
// does not depend on Helm.
package check
