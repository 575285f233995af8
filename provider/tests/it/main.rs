//! Tests of the provider, in one binary: as a library, and as a process that a CLI starts.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails where its helpers fail")]

mod build_script;
mod cli;
mod client;
mod configurations;
mod conflicts;
mod cycle;
mod debug;
mod docs;
mod fake_host;
mod functions;
mod handshake;
mod loans;
mod log;
mod notes;
mod properties;
mod protocol;
mod provider_block;
mod resources;
mod tape;
mod tidy;
mod unstored;
mod wire;
