//! The world the acceptance tests run in.
