//! A Terraform and OpenTofu provider for Runtime Cloud.
//!
//! Three floors: [`framework`] is plain data and pure rules, and names nothing of Runtime Cloud;
//! [`wire`], [`server`] and [`plugin`] carry it over the plugin protocol; the resources are declared
//! on top, over the [`client`] of the host.

pub mod framework;

pub mod wire;

pub mod server;

pub mod handshake;
pub mod tls;

pub mod docs;
pub mod log;
pub mod plugin;

pub mod actions;
pub mod client;
pub mod data_sources;
pub mod ephemeral_resources;
pub mod functions;
pub mod list_resources;
pub mod provider;
pub mod resources;
