.PHONY: quickstart test test-matrix test-properties lint bench docs package fuzz

# The whole loop with real parts, in under a minute after the build.
quickstart:
	python3 scripts/quickstart.py

# Every test, with Terraform 1.6.6, 1.11.4 and 1.15.5.
test:
	cargo test --workspace

# The acceptance tests with every version of Terraform that can be had.
test-matrix:
	RUNTIMECLOUD_TERRAFORM_VERSIONS="1.6.6 1.8.4 1.9.8 1.10.5 1.11.4 1.12.2 1.13.5 1.14.9 1.15.5" \
	    cargo test --package acceptance-tests --test matrix

# 10,000 random configurations of each type of resources, with release builds.
test-properties:
	RUNTIMECLOUD_CONFIGURATIONS=10000 cargo test --release --package acceptance-tests --test it properties -- --nocapture

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" cargo doc --workspace --no-deps --document-private-items

# Figures of release builds, each beside its rival or its floor.
bench:
	python3 scripts/bench.py

# The reference of the provider in docs/, from its schemas and the examples.
docs:
	cargo run --quiet --package provider -- docs examples docs

# The provider packed for a release, for mirrors and for OCI registries, in target/package.
package:
	python3 scripts/package.py

# All fuzz targets, thirty minutes each (SECONDS=60: one minute). Needs a C++ compiler.
fuzz:
	python3 scripts/fuzz.py --seconds $(or $(SECONDS),1800)
