# The targets a person or a CI runner calls. Every one may be run alone, in a fresh clone.
#
#   make demo      build, then a rig of seven simulated seats with the console on it
#   make test      vet and every test with the race detector
#   make ci        what the CI runs: test, lint, and the smoke test against the real clients
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
MAKEFLAGS += --no-print-directory

# A Go that was fetched for this clone comes first: it was fetched because the other one is missing or too old.
export PATH := $(CURDIR)/bin/_go/bin:$(PATH):/usr/local/go/bin
# A clone owned by another user has no readable history; the version comes from LDFLAGS in any case.
export GOFLAGS ?= -buildvcs=false

GOFUMPT_VERSION  := v0.12.0
GOLANGCI_VERSION := v2.15.0
GOVULNCHECK_VERSION := v1.9.0

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo 0.0.0-dev)
COMMIT  ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)

# Packages under testdata are outside ./... by Go's own rule, so they are named.
PACKAGES := ./... ./testdata/realcli/mock ./testdata/realcli/record ./testdata/measure ./testdata/picture ./testdata/chaos ./testdata/chaos/check ./testdata/mutants
FUZZTIME ?= 5s
BENCHCOUNT ?= 6
BENCHTIME ?= 0.3s
SEATS ?= 20 100 200
SEED ?= 0
CHAOS ?=
MUTANT ?=

.PHONY: build demo test lint fmt fuzz bench docs man repro realcli standins facts measure pictures chaos mutants vuln ci tools clean help

help: ## list the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

build: ## bin/rig, and bin/rig-seat, the part of it that runs beside every agent
	@.ci/need go
	@[ -e bin/rig ] || echo 'building rig; for the first time this takes some minutes' >&2
	@CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/rig ./cmd/rig
	@CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o bin/rig-seat ./cmd/rig-seat

demo: ## a rig of simulated agents on a private tmux server, and the console on it
	@.ci/need go tmux
	@$(MAKE) build
	@exec bin/rig demo

# The end-to-end tests start the program thousands of times, and with the race detector each start costs ten times as much. So
# they run plain, and those that go through every room run once more with the detector.
E2E_RACE := TestWalkingPath|TestAgentsComeUpProven|TestConsole|TestHandoverOfAgents|TestFiftyHandoversAtOnce|TestSelfHandover

test: ## go vet, then every test, with -race; a failure does not hide what comes after it
	@.ci/need go tmux git cc pgrep
	go vet $(PACKAGES)
	@status=0; run() { echo "$$*"; "$$@" || status=1; }; \
	run go test -race -timeout 40m $$(go list $(PACKAGES) | grep -v '^rig/cmd/rig$$'); \
	run go test -timeout 40m ./cmd/rig; \
	run go test -timeout 40m -run TestDirectiveRace ./engine/runtimes; \
	run go test -race -timeout 40m -run '$(E2E_RACE)' ./cmd/rig; \
	exit $$status

lint: tools ## gofumpt and golangci-lint, at pinned versions
	@.ci/lint $(PACKAGES)

fmt: tools ## rewrite the sources as gofumpt wants them
	@"$$(.ci/tool gofumpt)" -w $$(git ls-files -co --exclude-standard '*.go')

tools:
	@.ci/tool gofumpt mvdan.cc/gofumpt $(GOFUMPT_VERSION) >/dev/null
	@.ci/tool golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint $(GOLANGCI_VERSION) >/dev/null

fuzz: ## every fuzz target for FUZZTIME (5s)
	@.ci/need go
	@.ci/fuzz $(FUZZTIME)

bench: ## every benchmark, into bin/bench.txt for benchstat
	@.ci/need go tmux
	@mkdir -p bin
	go test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) -count $(BENCHCOUNT) ./... | tee bin/bench.txt

facts: ## what the product relies on in the real Claude Code and Codex (1.2 GB on first use)
	@.ci/need go tmux jq npm
	@testdata/realcli/facts.sh

standins: build ## every script of testdata/realcli, on the stand-ins
	@.ci/need go tmux jq
	@CLAUDE="bin/rig agentsim claude" CODEX="bin/rig agentsim codex" testdata/realcli/all.sh

realcli: build ## every script of testdata/realcli against the real clients, and one table of what was proven
	@.ci/need go tmux jq npm
	@testdata/realcli/all.sh

docs: ## the generated pages of docs: verbs, settings, errors
	@.ci/need go
	@go test ./cmd/rig -run '^TestDocs$$' -update

man: build ## the man pages, into bin/man
	@bin/rig man bin/man

repro: ## build twice, in two folders, and compare: the same commit gives the same bytes
	@.ci/need go git
	@.ci/repro

measure: build ## what the console costs at SEATS (20 100 200) seats: one table row each
	@.ci/need go tmux
	@mkdir -p bin
	@go build -o bin/measure ./testdata/measure
	@header=true; for n in $(SEATS); do bin/measure -rig bin/rig -seats $$n -header=$$header; header=false; done
	@bin/measure -rig bin/rig -seats $(lastword $(SEATS)) -kind busy -header=false

pictures: build ## the README's pictures, from real frames of the demo
	@.ci/need go tmux
	@mkdir -p docs
	@testdata/picture/shoot.sh bin/rig docs

chaos: ## break everything around a fleet for some minutes, then look for what was lost (SEED=n repeats, CHAOS='-rounds 2 …')
	@.ci/need go tmux
	@mkdir -p bin
	@CGO_ENABLED=0 go build -tags chaos -o bin/rig-chaos ./cmd/rig
	@CGO_ENABLED=0 go build -o bin/chaos ./testdata/chaos
	@CGO_ENABLED=0 go build -o bin/chaos-check ./testdata/chaos/check
	@bin/chaos -rig bin/rig-chaos -check bin/chaos-check -seed $(SEED) $(CHAOS)

mutants: ## break each invariant on purpose and expect the tests to notice (MUTANT=expression chooses)
	@.ci/need go tmux
	@go run ./testdata/mutants -run '$(MUTANT)'

vuln: ## known vulnerabilities in what the program calls; skipped where the database cannot be reached
	@.ci/need go
	@status=0; GOVULNCHECK_VERSION=$(GOVULNCHECK_VERSION) .ci/vuln $(PACKAGES) || status=$$?; \
	  if [ $$status = 75 ]; then exit 0; fi; exit $$status

ci: ## test, lint, real clients
	@.ci/run

clean: ## remove build output and fetched tools
	@rm -rf bin dist
