//! RuntimeCloudHost: the control plane of Runtime Cloud.
//!
//! *Decide purely, act dumbly*: a call is decided by [`admission`], what follows from it by
//! [`planner`]; both are pure and run within the store's transaction. [`executor`] and [`tasks`]
//! only do what was decided.

// Heart: plain data and pure functions.
pub mod accounts;
pub mod admission;
pub mod capacity;
pub mod conditions;
pub mod environments;
pub mod events;
pub mod ids;
pub mod leases;
pub mod observed;
pub mod operations;
pub mod planner;
pub mod pools;
pub mod records;
pub mod resource;
pub mod tokens;
pub mod violations;

// Glue.
pub mod board;
pub mod causes;
pub mod executor;
pub mod places;
pub mod server;
pub mod subscriptions;
pub mod tasks;

// Edge.
pub mod api;
pub mod cli;
pub mod clock;
pub mod config;
pub mod drivers;
pub mod store;
pub mod supervisor;
