//! Capacity leases: a holder's right to an amount of an environment's quota, for a time.
//!
//! Invariants, each tested:
//! - What is granted fits every hard limit, together with all pools and other leases.
//! - All amounts of a lease are granted, or none.
//! - A fencing token is higher than all that were granted before it, whatever became of them.
//! - In line, nobody is overtaken by a later one of the same or of a lower priority.
//! - A lease ends once, and never lives again.
//! - Only who agreed to it gives back what it borrows, and only to who stays within its own share.

pub mod admit;
pub mod api;
pub mod conditions;
pub mod index;
pub mod line;
pub mod model;
mod reclaim;
pub mod rules;
pub mod settle;
pub mod wire;
