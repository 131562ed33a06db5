# The tasks of the Makefile under the same names, for people who use just.

# print the list of tasks
help:
    @make help

# build jaque and start the demo appliance; Ctrl-C stops it
run *args:
    @make run ARGS="{{args}}"

# build the static binary bin/jaque
build:
    @make build

# install what tests need, lint, run every test
test:
    @make test

# run every test under the race detector
race:
    @make race

# run every fuzzer for 30 seconds each
fuzz:
    @make fuzz

# drive the protocol of several engines through every interleaving, to large bounds
explore:
    @make explore

# test the binary, the roles and the pages from outside, uncached
e2e:
    @make e2e

# Go benchmarks, then the whole-process table beside its peers
bench *args:
    @make bench ARGS="{{args}}"

# gofumpt, vet, staticcheck, log calls; changes nothing
lint:
    @make lint

# format Go and templ files
fmt:
    @make fmt

# regenerate the _templ.go files
generate:
    @make generate

# fail when generate would change a file
check-generated:
    @make check-generated

# validate every example of the guide, check the links
docs:
    @make docs

# check every configuration of docs/formal with TLC (TLC_JAR=...) or -builtin
tla *args:
    @make tla ARGS="{{args}}"

# put the binary, units and default config into dist/
package:
    @make package

# print the table of lengths, comments, tests and dependencies
figures:
    @make figures

# remove what the tasks above made
clean:
    @make clean
