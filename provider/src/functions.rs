//! The functions: values made of values, one a file. The host is never asked.

use crate::framework::Function;

/// All functions, sorted by name.
pub static FUNCTIONS: &[&dyn Function] = &[];
