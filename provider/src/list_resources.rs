//! The list resources: one for each managed type, so that a query finds what is not yet in code.

use crate::{client::Client, framework::List};

/// All list resources, sorted by type.
pub static LIST_RESOURCES: &[&dyn List<Client>] = &[];
