# Every target needs Go and make; race needs gcc too, and fmt, lint and tests
# fetch the tools that tools/go.mod pins. The rest says what it misses.

GO       ?= go
TOOL      = $(GO) tool -modfile=tools/go.mod
GOTEST    = .cache/bin/gotest
SELF     := $(MAKE)
BENCH    ?= .
COUNT    ?= 10
FUZZTIME ?= 20s
TIMEOUT  ?= 15m

# Without cgo, as the program is delivered: only the race detector needs it. One value for all, so that each package is
# compiled once with the detector and once without.
export CGO_ENABLED = 0

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/edgeproxy, static, with the commit: [VERSION=1.2.3]
	GO="$(GO)" VERSION="$(VERSION)" scripts/build.sh bin/edgeproxy

.PHONY: demo
demo: ## run the demo: proxy, origin and clients in one process
	$(GO) run ./cmd/edgeproxy demo

# --- tests ---

# make test is the quick run. make test-all is everything: each test once, with the race detector unless the test leaves itself to
# a run without it, and last, alone, the tests that measure. A test says by itself where it belongs: Slow, Plain and
# Alone in internal/test/testkit. DETECTOR=off runs all without the detector, for a machine without a C compiler.
TALLY  = .cache/tally
STEPS  = $(if $(filter off,$(DETECTOR)),undetected,race plain) measure
COMMON = -pgo=off -vet=off -shuffle=on
export GOTEST_TALLY ?= $(abspath $(TALLY))
# Quick tests wait more than they compute, so twice as many packages run at once as there are processors.
WIDE = $(shell expr 2 \* $$(getconf _NPROCESSORS_ONLN))

.PHONY: test
test: $(GOTEST) ## run the quick tests: what a change needs before each commit (only Go needed)
	@rm -f $(TALLY)
	@GOTEST_STEP=test $(GOTEST) -least 4000 -says "The quick tests: about 3 minutes the first time, on two cores, most of them to compile; 1 minute afterwards." -- \
		-short $(COMMON) -p=$(WIDE) -timeout=5m ./...

.PHONY: test-all
test-all: $(GOTEST) ## run every test: [DETECTOR=off] (needs gcc and the programs that CONTRIBUTING.md lists)
	@MAKE="$(SELF)" scripts/ci.sh $(STEPS)

.PHONY: race
race: $(GOTEST) ## run every test under the race detector that does not leave itself to plain or measure (needs gcc)
	@command -v $${CC:-gcc} >/dev/null || { echo "race: the race detector needs a C compiler: $${CC:-gcc} is not there" >&2; exit 1; }
	@CGO_ENABLED=1 GOTEST_STEP=race $(GOTEST) -again 3 -- -race $(COMMON) -timeout=20m ./...

.PHONY: undetected
undetected: $(GOTEST) ## run every test without the race detector that does not leave itself to measure
	@GOTEST_STEP=undetected $(GOTEST) -again 3 -- $(COMMON) -timeout=20m ./...

.PHONY: plain
plain: $(GOTEST) ## run the tests that the last make race left to a run without the race detector
	@GOTEST_STEP=plain $(GOTEST) -again 3 -only plain -- $(COMMON) -timeout=20m

.PHONY: measure
measure: $(GOTEST) ## run the tests that measure, one at a time: those that the last make test, race or undetected left to this
	@GOTEST_STEP=measure EDGEPROXY_TEST_MEASURE=1 $(GOTEST) -again 3 -only alone -- $(COMMON) -p=1 -parallel=1 -timeout=20m

.PHONY: arch
arch: $(GOTEST) ## check the rules of the house: imports, comments, lengths
	@GOTEST_STEP=arch $(GOTEST) -- ./internal/test/archtest

.PHONY: scenario
scenario: $(GOTEST) ## run the scenarios: origin, edge and clients in virtual time
	@GOTEST_STEP=scenario $(GOTEST) -- -shuffle=on -timeout=$(TIMEOUT) ./internal/test/edgetest/...

.PHONY: on-disk
on-disk: $(GOTEST) ## repeat the wire tests of what is stored with a disk; make plain does so too, and scenarios by themselves
	@GOTEST_STEP=on-disk $(GOTEST) -- $(COMMON) -count=1 '-run=^TestOnDisk$$' -timeout=$(TIMEOUT) ./internal/proxy

.PHONY: hostile
hostile: $(GOTEST) ## play the corpus of hostile requests and responses, also before the built program
	@GOTEST_STEP=hostile $(GOTEST) -- -count=1 ./test/hostile

.PHONY: alloc
alloc: $(GOTEST) ## hold the hit path to its number of allocations
	@GOTEST_STEP=alloc $(GOTEST) -- -count=1 -run=Alloc ./...

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (20s)
	@GO="$(GO)" FUZZTIME="$(FUZZTIME)" scripts/fuzz.sh

.PHONY: fuzz-changed
fuzz-changed: ## run the fuzz targets whose package, or one that it imports, differs from BASE: [BASE=rev]
	@GO="$(GO)" FUZZTIME="$(FUZZTIME)" BASE="$(BASE)" scripts/fuzz.sh changed

.PHONY: cover
cover: ## measure coverage, .cache/cover.html shows it
	@mkdir -p .cache
	$(GO) test -coverpkg=./... -coverprofile=.cache/cover.out ./...
	$(GO) tool cover -html=.cache/cover.out -o .cache/cover.html
	@$(GO) tool cover -func=.cache/cover.out | tail -n 1

# --- speed and load ---

.PHONY: bench
bench: ## hold a hit to 1.25 times the CPU time of a bare fasthttp handler (Linux)
	$(GO) run ./test/bench --max-ratio 1.25

.PHONY: bench-pairs
bench-pairs: ## compare the CPU time of a hit and a miss with another program or revision: make bench-pairs BASE=path|rev [PAIRS=24] [MAX=1.03] [ONLY=miss] (Linux)
	@GO="$(GO)" BASE="$(BASE)" PAIRS="$(PAIRS)" MAX="$(MAX)" ONLY="$(ONLY)" scripts/bench-pairs.sh

.PHONY: bench-log
bench-log: ## measure what a line of the access log adds to the CPU time of a hit, and to one of nginx if that is installed: make bench-log [PAIRS=24] [MAX=1.2] [ONLY=json] (Linux)
	$(GO) run ./test/bench --log --rounds $(or $(PAIRS),24) --round-time 1s --connections 64 --max-ratio $(or $(MAX),1.2) --only "$(ONLY)"

.PHONY: profile
profile: ## profile edgeproxy at hits and misses anew, for the compiler (Linux, needs h2load)
	$(GO) run ./test/bench --connections 64 --profile cmd/edgeproxy/default.pgo

.PHONY: bench-peers
bench-peers: ## compare with nginx, HAProxy, Varnish and Traffic Server, as far as they are installed: make bench-peers [ONLY=miss] (Linux)
	$(GO) run ./test/bench --peers --rounds 21 --real-time --only "$(ONLY)"

.PHONY: bench-many
bench-many: ## measure hits, the collector and memory with many small objects in the cache: make bench-many [OBJECTS=5000000] (Linux, as root)
	$(GO) run ./test/bench --many $(or $(OBJECTS),5000000) --real-time

.PHONY: bench-go
bench-go: ## run the Go benchmarks that match BENCH (all)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...

.PHONY: bench-filter
bench-filter: ## measure the filters beside the textbook's and a library's, and their rotation
	$(GO) run ./test/filterbench

.PHONY: bench-disk
bench-disk: ## measure the disk store: bytes written, reads beside writes, a start with 10 million objects: [TRACES=dir] [ONLY=part] (Linux)
	$(GO) run ./test/diskbench --only "$(ONLY)" --traces "popularity:$${TRACES:-../shared/traces}/akamai-tc-popularity.txt,objects=50000 $${TRACES:-../shared/traces}/adaptsize.tr"

.PHONY: bench-cmp
bench-cmp: ## compare benchmarks: make bench-cmp BASE=rev [HEAD=rev] [BENCH=..] [COUNT=10]
	@GO="$(GO)" BASE="$(BASE)" HEAD="$(HEAD)" BENCH="$(BENCH)" COUNT="$(COUNT)" scripts/bench-cmp.sh

.PHONY: load
load: ## replay real requests against the proxy: make load [TRACES=dir] [LIMIT=lines]
	loadtest/usual.sh

.PHONY: walk
walk: ## print the functions that a hit, and a miss that is held back, go through
	@GO="$(GO)" scripts/walk.sh

.PHONY: settings
settings: ## write what is made from the tables in config/ anew: the reference file, docs/settings.md, the JSON Schema
	$(GO) test ./config -run '^TestGeneratedFilesAreUpToDate$$' -count=1 -update

.PHONY: proofs
proofs: ## print the tables of docs/savings.md, and look at its claims: make proofs [TRACES=dir]
	$(GO) run ./test/proofs --traces "$${TRACES:-../shared/traces}"

.PHONY: tiers
tiers: ## play requests against two edges and a shield, and print what each policy costs at which tier
	@cd test/tiers && $(GO) test -run '^TestTable' -count=1 -timeout=$(TIMEOUT)

.PHONY: evict
evict: ## print what each eviction keeps of traces, models and made-up workloads, or of a disk: make evict [TRACES=dir] [DISK=yes]
	$(GO) run ./test/evict --traces "$${TRACES:-../shared/traces}" $(if $(DISK),--disk)

.PHONY: sweep
sweep: ## print how windows of many lengths do, and which the rule picks: make sweep [TRACES=dir]
	$(GO) run ./test/sweep --traces "$${TRACES:-../shared/traces}" --out test/sweep/testdata

.PHONY: smoke
smoke: ## run the built binary once
	scripts/smoke.sh

.PHONY: conformance
conformance: ## play the public suite of HTTP caches: [UPDATE=1] [FAILING=1] [SUITE_DIR=dir] [ONLY=ids [TRACE=1]] (needs node and npm)
	@$(GO) run ./test/conformance $(if $(SUITE_DIR),-suite "$(SUITE_DIR)") $(if $(ONLY),-only "$(ONLY)") $(if $(UPDATE),-update) $(if $(FAILING),-failing) $(if $(TRACE),-trace)

.PHONY: axe
axe: $(GOTEST) ## have axe-core look at the dashboard in Chromium (needs npm)
	@GOTEST=$(GOTEST) scripts/axe.sh

.PHONY: screenshots
screenshots: ## make the screenshots of the dashboard for docs/ anew (needs Chromium)
	@mkdir -p docs/images
	$(GO) test -count=1 -run '^TestInChromium$$/^the_curves' ./internal/ops/dashboard -screenshots "$$PWD/docs/images"

.PHONY: readme
readme: ## run the commands of the README and of docs/first-hour.md (needs curl), check the links and the README's length
	@scripts/readme-links.sh
	@GO="$(GO)" scripts/readme-commands.sh
	@GO="$(GO)" scripts/readme-commands.sh docs/first-hour.md

.PHONY: soak-disk
soak-disk: ## write 20 times its size to the disk store on ext4 and xfs, 90 % full: [SIZE=1600] MB (Linux, root, mkfs of both)
	@GO="$(GO)" SIZE="$(SIZE)" scripts/soak-disk.sh

.PHONY: kill-disk
kill-disk: ## kill the built binary under load, with a disk tier, and look at what it serves afterwards: [N=100]
	EDGEPROXY_KILLS=$(or $(N),100) $(GO) test -run '^TestNothingWrongIsServedAfterAKill$$' -count=1 -v -timeout=$(TIMEOUT) ./cmd/edgeproxy

.PHONY: soak-keys
soak-keys: ## ask the built binary for a million distinct keys, and look at its memory
	$(GO) test -tags soak -run '^TestMillionKeys$$' -count=1 -v -timeout=$(TIMEOUT) ./cmd/edgeproxy

.PHONY: h2load
h2load: ## load the built binary over TLS by h2load, HTTP/2 and HTTP/1.1 in turn, and print its numbers
	$(GO) test -tags soak -run '^TestH2load$$' -count=1 -v -timeout=$(TIMEOUT) ./cmd/edgeproxy

.PHONY: soak-drain
soak-drain: ## stop the built binary 20 times under 1,000 requests
	$(GO) test -tags soak -run '^TestSIGTERMUnderLoad' -count=1 -v -timeout=$(TIMEOUT) ./cmd/edgeproxy

.PHONY: soak
soak: ## break the network before the built binary under load for EDGEPROXY_SOAK (2m), and want all back
	$(GO) test -tags soak -run '^TestSoak$$' -count=1 -v -timeout=0 ./test/faults

.PHONY: soak-floods
soak-floods: ## flood the built binary with 2,000 slow clients, and compare the p99 of a hit
	$(GO) test -tags soak -run '^TestFlood' -count=1 -v -timeout=$(TIMEOUT) ./test/faults

.PHONY: soak-fair
soak-fair: ## attack the built binary, and print what an honest client gets meanwhile: [ONLY=pattern]
	$(GO) test -tags soak -run '^TestFair$$$(if $(ONLY),/$(ONLY))' -count=1 -v -timeout=30m ./test/fair

# --- packages ---

.PHONY: deb
deb: ## build the Debian package in .cache/deb: [VERSION=1.2.3] [ARCH=arm64]
	@GO="$(GO)" VERSION="$(VERSION)" scripts/package.sh deb .cache/deb $(ARCH)

.PHONY: module
module: ## rename the module in go.mod and all imports, for go install by name: MODULE=example.com/team/edgeproxy
	@scripts/module.sh "$(MODULE)"

.PHONY: rpm
rpm: ## build the RPM package in .cache/rpm: [VERSION=1.2.3] [ARCH=arm64]
	@GO="$(GO)" VERSION="$(VERSION)" scripts/package.sh rpm .cache/rpm $(ARCH)

.PHONY: image
image: ## lay out .cache/image, of which docker build makes the image: [VERSION=1.2.3] [ARCH=arm64]
	@GO="$(GO)" VERSION="$(VERSION)" scripts/image.sh .cache/image $(ARCH)

.PHONY: release
release: ## make the files of a release in .cache/release, twice, and compare them: [VERSION=1.2.3]
	@GO="$(GO)" VERSION="$(VERSION)" scripts/release.sh .cache/release

.PHONY: release-check
release-check: $(GOTEST) ## make a release of both architectures, twice, and look into its files
	@EDGEPROXY_RELEASE=twice GOTEST_STEP=release-check $(GOTEST) -- -count=1 '-run=^TestTheRelease' -timeout=30m ./test/packaging

# --- checks ---

# What is only looked at is compiled as the tests are.
NOPGO = $(shell $(GO) env GOFLAGS) -pgo=off

.PHONY: fmt
fmt: ## format the source
	$(TOOL) golangci-lint fmt

.PHONY: fmt-check
fmt-check: ## fail if fmt would change anything
	@GOFLAGS="$(NOPGO)" $(TOOL) golangci-lint fmt --diff

.PHONY: lint
lint: ## run the linters
	@GOFLAGS="$(NOPGO)" $(TOOL) golangci-lint run

.PHONY: vet
vet: ## run go vet on what the linters do not see: files of other tags and systems
	@$(GO) vet -pgo=off -tags walk ./cmd/edgeproxy # built by make walk alone
	@$(GO) vet -pgo=off -tags soak ./cmd/edgeproxy ./test/faults ./test/fair
	@$(GO) -C tools run ./typecheck .. linux/386 ./internal/conn/nonblock ./internal/front/http1 ./internal/origin ./internal/cache/disk/device # where calls of the system differ
	@$(GO) -C tools run ./typecheck .. darwin/arm64 ./cmd/... ./config/... ./internal/... ./loadtest/...

.PHONY: tidy-check
tidy-check: ## fail if go mod tidy would change anything
	@$(GO) mod tidy -diff
	@$(GO) -C tools mod tidy -diff
	@$(GO) -C tools/collector mod tidy -diff
	@$(GO) -C tools/image mod tidy -diff

.PHONY: ci
ci: $(GOTEST) ## run every check, as the hosted one does
	@MAKE="$(SELF)" scripts/ci.sh

$(GOTEST): $(wildcard scripts/gotest/*.go) go.mod
	@mkdir -p $(@D)
	@$(GO) build -o $@ ./scripts/gotest
