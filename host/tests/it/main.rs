//! All integration tests of the host, linked once.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails where its helpers fail")]

mod access;
mod accounts;
mod cli;
mod contract;
mod documents;
mod events;
mod leases;
mod operations;
mod pools;
mod properties;
mod quotas;
mod receiver;
#[expect(dead_code, reason = "shared with other tests")]
#[path = "../sim.rs"]
mod sim;
mod sse;
mod store;
mod subscriptions;
mod survival;
mod tidy;
mod trees;
mod world;
