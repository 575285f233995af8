//! The repository keeps its own rules.
