//! Faults found in what a caller sent, each at its field, collected until all are known.

/// One fault. `field` is a path in the API's terms, such as `spec.worker.command`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub field: String,
    /// What is wrong and what would be right.
    pub message: String,
}

/// All faults of one call, in the order found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Violations(Vec<Violation>);

/// More than these help nobody; a hostile request could name millions.
const KEPT: usize = 50;

impl Violations {
    pub fn add(&mut self, field: &str, message: impl Into<String>) {
        if self.0.len() < KEPT {
            self.0.push(Violation { field: field.to_owned(), message: message.into() });
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn into_vec(self) -> Vec<Violation> {
        self.0
    }
}
