# What people do with this repository, one word each; `make` alone lists them.

# One profile for the demo, the tests and the lints: cargo keeps a tree of compiled dependencies per profile,
# and this is the only one that a fresh clone has to build.
PROFILE ?= demo
CARGO ?= cargo

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help deb release demo test check lint doc bench soak describe keep clean-data

help: ## List what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Once there is a web client, it is built first, and only when something in it has changed since.
WEB_CLIENT := $(if $(wildcard web/package.json),web/dist/index.html)
WEB_SOURCES := $(if $(WEB_CLIENT),$(shell find web -type f -not -path 'web/node_modules/*' -not -path 'web/dist/*'))

demo: $(WEB_CLIENT) ## Run the service with a demo school and print its address and sign-ins
	$(CARGO) run --profile $(PROFILE) -p groupwork -- demo

web/dist/index.html: web/node_modules/.installed $(WEB_SOURCES)
	cd web && npm run build

web/node_modules/.installed: web/package-lock.json
	cd web && npm ci --no-audit --no-fund
	touch $@

test: ## Run every test on SQLite and on a throw-away PostgreSQL
	scripts/setup-tests
	scripts/postgres run -- $(CARGO) test --profile $(PROFILE) --workspace --no-fail-fast

check: lint doc test ## What to run before pushing: formatting, lints, documentation, tests

lint: ## Formatting and lints only
	$(CARGO) fmt --all --check
	$(CARGO) clippy --profile $(PROFILE) --workspace --all-targets -- -D warnings

doc: ## Build the documentation of the code; a warning fails
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --profile $(PROFILE) --workspace --no-deps

bench: ## Measure the hot routes in a release build (not a test)
	$(CARGO) run --release --manifest-path bench/Cargo.toml

soak: ## The tests again in their long size, in a release build
	scripts/setup-tests
	GROUPWORK_SOAK=1 scripts/postgres run -- $(CARGO) test --release --workspace

describe: ## Write docs/openapi.json, docs/access.md and docs/privacy.md anew
	@mkdir -p docs target
	$(CARGO) run --quiet --profile $(PROFILE) -p groupwork -- openapi >target/openapi.json
	$(CARGO) run --quiet --profile $(PROFILE) -p groupwork -- access >target/access.md
	$(CARGO) run --quiet --profile $(PROFILE) -p groupwork -- privacy >target/privacy.md
	mv target/openapi.json target/access.md target/privacy.md docs/

keep: ## Write releases/<version>.json, what this version needs of the schema, before it is tagged
	@mkdir -p releases target
	$(CARGO) run --quiet --profile $(PROFILE) -p groupwork -- statements >target/statements.json
	mv target/statements.json releases/$$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1).json

release: $(WEB_CLIENT) ## The binary that is given away, with its client, its manual and its completions, in target/
	$(CARGO) build --locked --release -p groupwork
	@mkdir -p target/man target/completions
	target/release/groupwork man --folder target/man
	target/release/groupwork completions bash >target/completions/groupwork.bash
	target/release/groupwork completions zsh >target/completions/_groupwork
	target/release/groupwork completions fish >target/completions/groupwork.fish

deb: release ## A package for Debian, in target/debian/ (needs cargo-deb: cargo install --locked cargo-deb)
	$(CARGO) deb -p groupwork --no-build --locked

clean-data: ## Forget what the demo stored in ./data
	rm -rf data
