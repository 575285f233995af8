//! Tests of the provider as a library. As a process it is under test in `acceptance-tests`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails where its helpers fail")]

mod actions;
mod beside;
mod build_script;
mod client;
mod conflicts;
mod corpus;
mod crates;
mod cycle;
mod data_sources;
mod docs;
mod fake_host;
mod functions;
mod lists;
mod loans;
mod lost_sight;
mod notes;
mod planning;
mod properties;
mod provider_block;
mod resources;
mod tape;
mod tidy;
mod tokens;
mod unstored;
mod wire;
