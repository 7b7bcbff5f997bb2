# What can be done here: `make help`. Each target installs what it needs and this machine lacks
# (./setup), and may be run again at any time.
#
# A recipe stops at the first step that fails, so the last lines of its output name the culprit.

export PATH := $(CURDIR)/.tools/bin:$(CURDIR)/.venv/bin:$(PATH):$(HOME)/.cargo/bin

PROBE := target/release/tare-probe
# Options of the survey or of pytest: make survey ARGS='--cpus 1', make test ARGS='-k medcouple'.
ARGS :=
# Material for MkDocs advertises a successor at every build; a strict build has no room for that.
export NO_MKDOCS_2_WARNING := 1

.DEFAULT_GOAL := help
.PHONY: help survey test test-system test-slow bench docs generate fmt clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /make \1\t/p' Makefile | expand -t 20

survey: ## weigh this machine in about a minute: summary here, report in recordings/
	./setup
	cargo build --release --locked --package tare-probe
	tare survey $(ARGS)

test: ## every check and every test that needs no rights; says what it skipped and why
	./setup test
	cargo fmt --all --check
	ruff format --check
	ruff check
	uv lock --check --quiet
	mypy
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo build --release --locked --package tare-probe
	scripts/generate --check
	mkdocs build --strict --quiet
	cargo test --workspace --exclude tare-python --locked
	pytest -m 'not system and not slow' $(ARGS)

test-system: ## tests that need root, another system's linker or Wine
	./setup system
	cargo build --release --locked --package tare-probe
	pytest -m system $(ARGS)

test-slow: ## tests that take minutes: a fresh machine, long simulations
	./setup system
	cargo build --release --locked --package tare-probe
	pytest -m slow $(ARGS)

bench: ## tare's own cost, beside its peers; wants a quiet machine
	./setup test
	cargo build --release --locked --package tare-probe
	benches/run

docs: generate ## the documentation as a site, in site/
	mkdocs build --strict

generate: ## docs/reference and the other files made from the code, anew
	./setup test
	cargo build --release --locked --package tare-probe
	scripts/generate

fmt: ## format Rust and Python
	./setup test
	cargo fmt --all
	ruff format
	ruff check --fix

clean: ## everything that was installed or built inside the checkout; recordings stay
	rm -rf .tools .venv site target .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find python -name '*.so' -delete
