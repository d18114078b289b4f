# Commands of this repository; `make` without a target lists them.

# One profile for the demo, the tests and the lints: cargo compiles the dependencies once per profile, and a fresh clone
# builds only this one.
PROFILE ?= demo
CARGO ?= cargo

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo web dev test test-one test-resilience e2e tour lighthouse check lint doc bench soak docx-corpus pdf-ua weak describe keep release deb dist image play-debian play-nginx advisories mutants clean-data

help: ## List what can be made
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# npm builds the web client, and only after its sources changed; cargo never calls npm.
WEB_CLIENT := web/dist/index.html
WEB_SOURCES := crates/rich-text/schema.json $(shell find web -type f -not -path '*/node_modules/*' -not -path 'web/dist/*' -not -path 'web/e2e/*')
# Generated Prisma clients for the Node servers of `make bench`.
BENCH_PEER := bench/peer/generated/.made
# Tests wait half of their time, so there are more threads than cores.
TEST_THREADS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 2)))
RUST_TESTS = PATH="$(CURDIR)/target/tools:$$PATH" RUST_TEST_THREADS=$(TEST_THREADS) scripts/postgres run -- $(CARGO) test --profile $(PROFILE) --workspace
# Builds the binaries with the features of the tests: with `-p`, cargo would choose other features and compile the
# dependencies a second time.
BUILD = $(CARGO) build --profile $(PROFILE) --workspace --bins
# The binary that the browser tests start.
GROUPWORK_BINARY ?= $(abspath $(or $(CARGO_TARGET_DIR),target))/$(PROFILE)/groupwork

demo: $(WEB_CLIENT) ## Run the service with a demo school and print its address and sign-ins
	$(BUILD)
	$(GROUPWORK_BINARY) demo

web: $(WEB_CLIENT) ## Build the web client alone

dev: web/node_modules/.installed ## A demo school with the client from its sources, reloaded at each change: http://localhost:5173
	$(BUILD)
	trap 'kill 0' EXIT; (cd web && npm run dev) & \
	$(GROUPWORK_BINARY) demo --listen 127.0.0.1:3000 --page http://localhost:5173

$(WEB_CLIENT): web/node_modules/.installed $(WEB_SOURCES)
	cd web && npm run build

web/node_modules/.installed: web/package-lock.json
	cd web && npm ci --no-audit --no-fund
	touch $@

test: ## Run the tests: the service on SQLite and on a temporary PostgreSQL, the client, and both in a browser
	scripts/setup-tests
	scripts/run-all \
	  'web client' 'make $(WEB_CLIENT)' \
	  'web checks' 'cd web && npm run check' \
	  'Rust tests' '$(RUST_TESTS) --no-fail-fast' \
	  'browser tests' '$(CARGO) test --profile $(PROFILE) --workspace --no-run && cd web && GROUPWORK_BINARY=$(GROUPWORK_BINARY) npm run e2e'

test-one: ## Run the Rust tests whose name contains NAME, long ones too; BINARY=api compiles one binary: make test-one NAME=courses
	@test -n "$(NAME)" || { echo 'usage: make test-one NAME=part_of_a_name [BINARY=api]' >&2; exit 2; }
	$(RUST_TESTS) $(if $(BINARY),--test $(BINARY)) -- --include-ignored $(NAME)

test-resilience: ## Run the long tests: crashes, outages, crowds, hostile input, several instances
	scripts/setup-tests
	$(RUST_TESTS) --no-fail-fast -- --ignored

mutants: ## Apply each fault of scripts/mutants.toml and require that its test fails (an hour on two cores)
	scripts/setup-tests
	scripts/postgres run -- scripts/mutants --together

e2e: $(WEB_CLIENT) ## The browser tests alone
	scripts/setup-tests
	$(BUILD)
	cd web && GROUPWORK_BINARY=$(GROUPWORK_BINARY) npm run e2e

tour: $(WEB_CLIENT) ## Take screenshots of every screen, in target/tour; TOUR="lesson board" for some areas, TOUR=--readme for docs/images too
	scripts/setup-tests
	$(BUILD)
	cd web && GROUPWORK_BINARY=$(GROUPWORK_BINARY) npm run tour -- $(TOUR)

check: lint doc test ## What to run before pushing: formatting, lints, documentation, tests

lint: web/node_modules/.installed ## Formatting, style of comments and docs, and lints
	$(CARGO) fmt --all --check
	cd web && npm run --silent lint
	scripts/prose --check
	$(CARGO) clippy --profile $(PROFILE) --workspace --all-targets -- -D warnings

play-debian: ## Play docs/debian.md word by word with the binary of the tests, in a copy of this machine (root, Debian)
	$(CARGO) build --profile $(PROFILE) -p groupwork
	scripts/play-debian $(GROUPWORK_BINARY)

play-nginx: ## Play two instances behind nginx with PostgreSQL and an object store: restarts, kills, a new secret (root, Debian)
	$(CARGO) build --profile $(PROFILE) --workspace --bins --example object-store
	scripts/play-nginx $(GROUPWORK_BINARY) $(dir $(GROUPWORK_BINARY))examples/object-store

advisories: ## Compare the crates with published advisories, where cargo deny or cargo audit and their database are at hand
	scripts/check-advisories

doc: ## Build the documentation of the code; a warning fails
	RUSTDOCFLAGS="-D warnings -A rustdoc::private-intra-doc-links" $(CARGO) doc --profile $(PROFILE) --workspace --no-deps --document-private-items

bench: $(BENCH_PEER) ## Run the benchmarks in a release build, compared with Node and nginx (not a test); BENCH="--quick" for a trial run
	scripts/postgres run -- $(CARGO) run --release -p groupwork-bench -- $(BENCH)

# The Node servers that the benchmarks compare with; without npm they are skipped with a message.
$(BENCH_PEER): bench/peer/package-lock.json bench/peer/models.prisma bench/peer/generate.mjs
	@command -v npm >/dev/null || { echo "npm not found: the Node servers will not be measured"; exit 0; }; \
	cd bench/peer && npm ci --ignore-scripts --no-audit --no-fund && npm rebuild better-sqlite3 && npm run generate && \
	touch $(abspath $@)

soak: ## The long variants of the tests, in a release build
	scripts/setup-tests
	GROUPWORK_SOAK=1 scripts/postgres run -- $(CARGO) test --release --workspace -- --include-ignored
	$(MAKE) docx-corpus
	$(MAKE) pdf-ua
	$(MAKE) mutants
	$(MAKE) weak
	$(MAKE) lighthouse

docx-corpus: ## Open what the built-in editor saves of tests/corpus in LibreOffice and python-docx
	scripts/check-docx-corpus

pdf-ua: ## Check the PDFs of tests/corpus with veraPDF as PDF/UA-1
	scripts/check-pdf-ua

weak: $(WEB_CLIENT) ## Measure the first visit on a slow machine: CPU throttled by six, 10 Mbit/s
	scripts/setup-tests
	$(CARGO) build --release -p groupwork
	cd web && GROUPWORK_BINARY=$(abspath $(or $(CARGO_TARGET_DIR),target))/release/groupwork node e2e/weak.mjs

lighthouse: $(WEB_CLIENT) web/e2e/lighthouse/node_modules/.installed ## Lighthouse: accessibility and best practices of the first screens are 100
	scripts/setup-tests
	$(BUILD)
	cd web && GROUPWORK_BINARY=$(GROUPWORK_BINARY) node e2e/lighthouse/check.mjs

web/e2e/lighthouse/node_modules/.installed: web/e2e/lighthouse/package-lock.json
	cd web/e2e/lighthouse && npm ci --ignore-scripts --no-audit --no-fund
	touch $@

describe: web/node_modules/.installed ## Write docs/openapi.json, docs/events.json, docs/access.md, docs/privacy.md and the client's types
	@mkdir -p docs target
	$(BUILD) --quiet
	$(GROUPWORK_BINARY) openapi >target/openapi.json
	$(GROUPWORK_BINARY) events >target/events.json
	$(GROUPWORK_BINARY) access >target/access.md
	$(GROUPWORK_BINARY) privacy >target/privacy.md
	mv target/openapi.json target/events.json target/access.md target/privacy.md docs/
	cd web && npm run types

keep: ## Write releases/<version>.json, the schema requirements of this version, before it is tagged
	@mkdir -p releases target
	$(BUILD) --quiet
	$(GROUPWORK_BINARY) statements >target/statements.json
	mv target/statements.json releases/$$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1).json

release: $(WEB_CLIENT) ## The release binary with the web client, manual and shell completions, in target/
	$(CARGO) build --locked --release -p groupwork
	@mkdir -p target/man target/completions
	target/release/groupwork man --folder target/man
	target/release/groupwork completions bash >target/completions/groupwork.bash
	target/release/groupwork completions zsh >target/completions/_groupwork
	target/release/groupwork completions fish >target/completions/groupwork.fish

deb: release ## A package for Debian, in target/debian/
	scripts/third-party target/dist
	THIRD_PARTY=target/dist/third-party.txt packaging/build-deb target/release/groupwork target/man target/completions target/debian

dist: deb ## Everything that a release consists of, in target/dist/: package, archive, SBOM, license texts, checksums
	packaging/build-dist target/release/groupwork target/man target/completions target/debian target/dist

image: dist ## The container image in target/dist, with a compose.yaml that names images by digest (docker, or CONTAINER_TOOL=podman)
	packaging/build-image target/dist

clean-data: ## Delete the demo data in ./data
	rm -rf data
