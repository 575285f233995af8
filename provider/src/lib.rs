//! A Terraform and OpenTofu provider for Runtime Cloud.
//!
//! Three floors: [`framework`] is plain data and pure rules, and names nothing of Runtime Cloud;
//! the wire and the server carry it over the plugin protocol; the resources are declared on top.

pub mod framework;

pub mod client;
pub mod data_sources;
pub mod provider;
pub mod resources;
