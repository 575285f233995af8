//! All integration tests of the host, linked once.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails where its helpers fail")]

mod contract;
mod pools;
mod world;
