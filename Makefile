# Every task of the project. `make help` prints the list; a justfile carries the
# same names. Needs Go and a POSIX system; `make test` installs the rest.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help run build test race fuzz explore e2e bench lint fmt generate check-generated docs tla package figures needs clean

VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
FUZZTIME ?= 30s
PKGS     ?= ./...
# Arguments for `make run`, `make bench` and `make tla`, such as ARGS="-rows a,h".
ARGS     ?=

help: ## print this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

run: build ## build jaque and start the demo appliance; Ctrl-C stops it
	exec bin/jaque demo $(ARGS)

build: ## build the static binary bin/jaque
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/jaque ./cmd/jaque

test: needs lint check-generated ## install what tests need, lint, run every test
	go test $(PKGS)
	cd packaging/helm/check && go vet ./... && go test -count=1 ./... # the chart is no part of the module

race: needs ## run every test under the race detector
	go test -race $(PKGS)

fuzz: ## run every fuzzer for FUZZTIME (30s) each
	@go list -f '{{$$p := .ImportPath}}{{$$d := .Dir}}{{range .TestGoFiles}}{{$$p}} {{$$d}}/{{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$$p}} {{$$d}}/{{.}}{{"\n"}}{{end}}' $(PKGS) | \
	while read -r pkg file; do \
		[[ -n $$pkg ]] || continue; \
		for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$$file"); do \
			echo "== $$pkg $$name"; \
			go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$pkg" </dev/null; \
		done; \
	done

explore: ## drive the protocol of several engines through every interleaving, to large bounds; minutes, 2 GB
	go test -count=1 -timeout 60m -v -run 'TestEveryInterleaving|TestWhatIsLeftOut' ./appliance/rule/handover -explore-long

e2e: needs ## test the binary, the roles and the pages from outside, uncached
	go test -count=1 ./cmd/... ./roles/... ./web/...

bench: build ## Go benchmarks, then the whole-process table beside its peers (ARGS="-rows a,h")
	docs/develop/needs.sh bench
	go test -run '^$$' -bench . -benchtime 0.5s -benchmem $(PKGS) | grep -v -e '^?' -e '^PASS' -e 'no test files'
	go run ./docs/develop/bench -jaque bin/jaque $(ARGS)

lint: ## gofumpt, vet, staticcheck, log calls; changes nothing
	@bad=$$(go tool gofumpt -l $$(git ls-files -co --exclude-standard '*.go' | grep -v _templ.go)); \
	if [[ -n $$bad ]]; then echo "not formatted, run make fmt:" >&2; echo "$$bad" >&2; exit 1; fi
	go vet $(PKGS)
	go tool staticcheck $(PKGS)
	go tool sloglint -test=false -static-msg -msg-style lowercased -no-global all $(PKGS)

fmt: ## format Go and templ files
	go tool gofumpt -w $$(git ls-files -co --exclude-standard '*.go' | grep -v _templ.go)
	@if [[ -d web ]]; then go tool templ fmt web; fi

generate: ## regenerate the _templ.go files
	@if [[ -d web ]]; then go tool templ generate -path web; fi

check-generated: ## fail when make generate would change a file
	@sums() { find . -name '*_templ.go' -exec sha256sum {} + | sort; }; \
	before=$$(sums); $(MAKE) --no-print-directory generate >/dev/null 2>&1; after=$$(sums); \
	if [[ $$before != "$$after" ]]; then \
		echo "generated files were out of date; commit what make generate wrote:" >&2; \
		diff <(echo "$$before") <(echo "$$after") | awk '/^>/ { print "  " $$3 }' >&2; exit 1; \
	fi

docs: build ## validate every example of the guide, check the links
	@for example in docs/guide/examples/*/ docs/guide/examples/*.cue packaging/etc/jaque/; do \
		[[ -e $$example ]] || continue; \
		echo "check-config $$example"; bin/jaque check-config -config "$$example"; \
	done
	go test -count=1 -run 'Links|Guide|Packaged' ./appliance/sourcecheck
	go test -count=1 ./docs/develop/pages

tla: ## check every configuration of docs/formal with TLC (TLC_JAR=...) or ARGS=-builtin
	@tmp=$$(mktemp -d); trap 'rm -rf "$$tmp"' EXIT; \
	go build -o "$$tmp/check" ./docs/formal/check; "$$tmp/check" $(ARGS)

package: build ## put the binary, units and default config into dist/
	packaging/build.sh $(VERSION)

figures: ## print the table of lengths, comments, tests and dependencies
	@go run ./docs/develop/figures

needs:
	@docs/develop/needs.sh

clean: ## remove what the tasks above made
	rm -rf bin dist
	go clean -testcache
