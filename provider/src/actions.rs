//! The actions: what is done on demand and leaves no state, one type a file.

use crate::{client::Client, framework::Action};

/// All actions, sorted by type.
pub static ACTIONS: &[&dyn Action<Client>] = &[];
