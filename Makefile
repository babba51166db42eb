# What people type. Everything here is a thin front for cargo; `make` alone lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# An empty CARGO_TARGET_DIR counts as none, as it does for cargo.
target := $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target)
fairwire := $(target)/release/fairwire
gateway := $(target)/release/fairwire-gateway
proof := $(target)/release/fairwire-proof

.PHONY: help
help: ## list the targets
	@echo "fairwire: shares a link fairly"
	@echo
	@sed -nE 's/^([a-z0-9-]+):[^#]*## (.*)/  make \1@\2/p' $(MAKEFILE_LIST) | awk -F@ '{ printf "%-16s %s\n", $$1, $$2 }'

.PHONY: demo
demo: build ## show fairwire at work: a simulated contest, then a live one (under two minutes after the build)
	@$(fairwire) demo

.PHONY: build
build: rust ## build the program fairwire, optimised, into target/release
	@echo "building fairwire (the first time takes three minutes on two cores)" >&2
	@cargo build --release --locked -p fairwire

.PHONY: build-gateway
build-gateway: rust ## build the program fairwire-gateway, optimised, into target/release
	@cargo build --release --locked -p fairwire-gateway

.PHONY: quick
quick: rust ## build the command quickly for trying changes: seconds per edit of a law, simulations take about twice as long
	@cargo build --profile quick --locked -p fairwire

.PHONY: test
test: rust ## test the two programs and their crates; lists skipped tests
	@.ci/test

.PHONY: prove
prove: rust ## prove them: house rules, lints, tests of the proof and the examples, optimised results, Python, pages in Chromium
	@.ci/prove

.PHONY: python
python: rust ## build the Python package into target/python and run its tests (Python 3.11; six minutes the first time)
	@.ci/python $(ARGS)

.PHONY: wheel
wheel: rust ## build the wheel of the Python package into out/dist (Python 3.11; two to four minutes the first time)
	@.ci/wheel $(ARGS)

.PHONY: python-long
python-long: rust ## test that 100 000 episodes and 10 000 runs of Python classes leak no memory or threads (five minutes)
	@FAIRWIRE_MANY_RESETS=100000 FAIRWIRE_MANY_RUNS=10000 .ci/python -s -k many

.PHONY: python-kills
python-kills: ## kill a sweep on Dask fifty times, after `make python`: no row may be lost (four minutes)
	@$(or $(CARGO_TARGET_DIR),target)/python/venv/bin/python python/tests/long/kills.py $(ARGS)

.PHONY: python-large
python-large: ## convert a million transfers and a series of 778 015 rows to Polars, pickle and read them, after `make python` (half a minute)
	@cd $(or $(CARGO_TARGET_DIR),target)/python && venv/bin/python $(CURDIR)/python/tests/long/large.py

.PHONY: python-student
python-student: ## time the tasks of a student in Python, after `make python` (two to four minutes; one needs root)
	@cd $(or $(CARGO_TARGET_DIR),target)/python && venv/bin/python $(CURDIR)/python/tests/long/student.py

.PHONY: python-reference
python-reference: rust ## write docs/python-reference.md from the signatures and docstrings of the Python package (builds the wheel)
	@FAIRWIRE_RENEW=1 .ci/python -k reference

.PHONY: web
web: ## build the pages of web/src into web/dist, which is checked in (Node 20.19 or later; seconds)
	@.ci/web

.PHONY: wasm
wasm: rust ## build the simulator for browsers into web/public, which is checked in (target wasm32-unknown-unknown)
	@.ci/wasm

.PHONY: npm
npm: ## test the JavaScript package for Node and browsers, and pack it into out/dist (Node 20; seconds)
	@.ci/npm

.PHONY: site
site: ## write the playground as a static site into out/site
	@.ci/site

.PHONY: web-test
web-test: ## test the pages in Chromium, and that web/dist is the build of web/src (Node; a minute)
	@.ci/web-test $(ARGS)

.PHONY: house
house: rust ## check only the house rules (a second)
	@cargo xtask house

.PHONY: schema
schema: build build-gateway ## write the JSON schemas of scenarios, results and gateway configurations into docs/schema
	@mkdir -p docs/schema
	@$(fairwire) schema scenario > docs/schema/scenario.json
	@$(fairwire) schema results > docs/schema/results.json
	@$(gateway) schema configuration > docs/schema/gateway.json
	@$(gateway) schema snapshot > docs/schema/snapshot.json
	@$(fairwire) schema sweep > docs/schema/sweep.json
	@git --no-pager diff --stat -- docs/schema

.PHONY: reference
reference: build ## write the reference page of each discipline into docs/reference, from the documentation in the code
	@rm -f docs/reference/*.md
	@$(fairwire) describe --out docs/reference
	@git --no-pager diff --stat -- docs/reference

.PHONY: docs
docs: rust ## build all documents as a site with offline search into out/docs (seconds; the first time mdBook is built, minutes)
	@.ci/docs

.PHONY: man
man: build build-gateway ## write the manual pages into out/man, and completions into out/completions
	@mkdir -p out/completions
	@for program in fairwire fairwire-gateway; do \
	  $(target)/release/$$program man --out out/man; \
	  $(target)/release/$$program completions bash > out/completions/$$program.bash; \
	  $(target)/release/$$program completions zsh > out/completions/_$$program; \
	  $(target)/release/$$program completions fish > out/completions/$$program.fish; \
	done

.PHONY: deb
deb: man ## make Debian packages of both programs with cargo-deb (cargo install cargo-deb)
	@cargo build --profile dist --locked -p fairwire -p fairwire-gateway
	@cargo deb -p fairwire --no-build --profile dist
	@cargo deb -p fairwire-gateway --no-build --profile dist

.PHONY: dist
dist: rust ## make static binaries for download, x86-64 and aarch64, into out/dist
	@.ci/dist $(ARGS)

.PHONY: notices
notices: rust ## write the licences of the libraries in both programs, with their texts, into out/notices (seconds)
	@mkdir -p out/notices
	@for program in fairwire fairwire-gateway; do .ci/notices $$program > out/notices/$$program.txt; done

.PHONY: deny
deny: rust ## check licences, sources and advisories of all libraries with cargo-deny (built once, in minutes)
	@.ci/deny $(ARGS)

.PHONY: c
c: rust ## build the C library into out/c: libfairwire, fairwire.h, pkg-config, manual page (under a minute; ld, objcopy)
	@.ci/c $(ARGS)

.PHONY: c-header
c-header: rust ## write foundation/c/include/fairwire.h with cbindgen
	@.ci/c-header

.PHONY: c-sanitize
c-sanitize: rust ## make 50 million random calls to the C library under sanitizers, per compiler (minutes; ARGS=1000000 for fewer)
	@.ci/c-sanitize $(ARGS)

.PHONY: c-cost
c-cost: rust ## compare the cost of a packet from C and from Rust
	@.ci/c-cost

.PHONY: dpdk
dpdk: rust ## measure packets per second in DPDK, laws by the library for C beside rte_sched (Debian's dpdk-dev; a minute)
	@.ci/dpdk $(ARGS)

.PHONY: quic
quic: build ## run QUIC of ngtcp2 over the library for C, beside the simulator (Debian's libngtcp2-crypto-gnutls-dev; seconds)
	@.ci/quic

.PHONY: go
go: rust ## test the Go module in go/ with the C library (Go 1.21, a C compiler)
	@.ci/go $(ARGS)

.PHONY: packages
packages: rust ## make all packages, unpack them elsewhere, and build and run both programs from them (ten minutes the first time)
	@.ci/packages $(ARGS)

.PHONY: check-32bit
check-32bit: rust ## build core, laws, catalogue, tcp, sim and scenario for a 32-bit target (wasm32)
	@.ci/check-32bit

.PHONY: bench
bench: build ## measure the cost per packet, and the simulator against ns-2 and ns-3 if installed
	@cargo bench --locked -p fairwire-catalogue --bench packet
	@cargo bench --locked -p fairwire --bench peers -- --only nine

.PHONY: bench-peers
bench-peers: rust ## measure the simulator from 10 to a million flows, against ns-2 and ns-3 (half an hour)
	@cargo bench --locked -p fairwire --bench peers -- $(ARGS)

.PHONY: bench-disciplines
bench-disciplines: rust ## measure each discipline: nanoseconds, instructions and state, from 10 to a million flows (minutes)
	@cargo bench --locked -p fairwire-catalogue --bench disciplines -- $(ARGS)

.PHONY: bench-gateway
bench-gateway: rust ## measure the gateway's back ends and the kernel's routing, in namespaces (root; five to eight minutes)
	@cargo bench --locked -p fairwire-service --bench forwarding -- $(ARGS)

.PHONY: oracle-linux
oracle-linux: rust ## compare our disciplines and TCPs with Linux's, in User Mode Linux (ten to twenty minutes)
	@cargo build --release --locked -p fairwire-proof -p fairwire-oracle -p fairwire-stages --bins --examples
	@$(target)/release/fairwire-oracle
	@if command -v linux.uml >/dev/null; then $(proof) run proof/suite/linux --on linux,sim; \
	else echo "SKIPPED: make oracle-linux: User Mode Linux (linux.uml) is missing; on Debian and Ubuntu: apt install user-mode-linux iproute2" >&2; fi

.PHONY: oracle-netem
oracle-netem: rust ## compare the faults of our wire with netem's, in User Mode Linux (ten minutes after the build)
	@cargo build --release --locked -p fairwire-oracle -p fairwire-experiment --bins --examples
	@$(target)/release/fairwire-oracle --out out/oracle-netem wires

.PHONY: oracle-ns2
oracle-ns2: rust ## compare our simulator with ns-2 over a grid of disciplines and transports (two or three minutes)
	@cargo build --release --locked -p fairwire-proof
	@if command -v ns > /dev/null; then $(proof) run proof/suite/ns2 --on ns2,sim $(ARGS); \
	else echo "SKIPPED: make oracle-ns2: ns-2 (ns) is missing; on Debian and Ubuntu: apt install ns2" >&2; fi

.PHONY: senders
senders: rust ## compare our TCPs with a kernel's over wires with faults (a minute); ARGS="--on linux" measures the kernel again (an hour)
	@cargo build --release --locked -p fairwire-senders -p fairwire-stages --bins --examples
	@$(target)/release/fairwire-senders $(ARGS)

.PHONY: field
field: rust ## test the gateway's promises in real networks: contests, faults, 20 000 subscribers (root; about half an hour)
	@cargo build --release --locked -p fairwire -p fairwire-gateway -p fairwire-field --bins
	@$(target)/release/fairwire-field $(ARGS)

.PHONY: field-home
field-home: rust ## measure the table of a home: rates and ping times under HTB and fairwire, as a bump and as a NAT router (root; ten minutes)
	@cargo build --release --locked -p fairwire-gateway -p fairwire-field --bins
	@$(target)/release/fairwire-field home $(ARGS)

.PHONY: field-peers
field-peers: rust ## send the same traffic through the kernel's HTB, and FQ-CoDel and CAKE in User Mode Linux (root, iproute2; about 10 minutes)
	@cargo build --release --locked -p fairwire-gateway -p fairwire-field -p fairwire-oracle -p fairwire-stages --bins --examples
	@$(target)/release/fairwire-oracle flood-fq-codel flood-cake flood-pfifo
	@$(target)/release/fairwire-field peers $(ARGS)

.PHONY: field-tunnel
field-tunnel: rust ## shape a VPN client's packets in front of modems: shares and pings (root, iproute2, BBR; a minute after the build)
	@cargo test --locked -p fairwire-gateway --test gateway a_modem -- --ignored --nocapture

.PHONY: soak
soak: rust ## run the gateway at full load with reloads for ten minutes: memory and packet conservation (root; an hour: ARGS="--minutes 60")
	@cargo build --release --locked -p fairwire-gateway -p fairwire-field --bins
	@$(target)/release/fairwire-field soak $(ARGS)

.PHONY: sensitivity
sensitivity: rust ## test the effect of the order of simultaneous events: every scenario under both tie rules
	@cargo test --locked --quiet -p fairwire-scenario --test it ties -- --ignored --nocapture

.PHONY: clean
clean: ## remove builds and the output of the demo
	@cargo clean
	@rm -rf out

.PHONY: rust
rust:
	@.ci/require-rust
