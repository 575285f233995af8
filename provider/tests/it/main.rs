//! Tests of the provider as a library.

mod configurations;
mod fake_host;
mod resources;
