//! Finds drift in plans.
