//! The provider as a process: what a CLI meets before and beside the calls on resources.

#![expect(clippy::unwrap_used, reason = "a test fails where its helpers fail")]

mod debug;
mod handshake;
mod log;
mod protocol;
