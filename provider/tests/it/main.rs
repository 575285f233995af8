//! Tests of the provider as a library.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails where its helpers fail")]

mod client;
mod configurations;
mod conflicts;
mod fake_host;
mod resources;
mod tidy;
