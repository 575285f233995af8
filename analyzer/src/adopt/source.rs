//! What can set a value: each kind of expression is one file and one line here.
//!
//! - A source takes the places that are its own and leaves all others; no two take the same.
//! - It says where to edit, where to look next, or why neither is possible.

pub(super) mod blocks;
mod conversion;
mod each;
mod file;
mod heredoc;
mod jsonencode;
pub(super) mod literal;
mod local;
mod merge;
mod parts;
mod variable;

use super::{
    draft::Denied,
    trail::{Next, Stop},
};

/// One kind of expression.
pub(super) struct Source {
    #[cfg_attr(not(test), expect(dead_code, reason = "the table is sorted by it"))]
    pub(super) name: &'static str,
    /// `None` when the place is another source's.
    pub(super) follow: fn(&Stop<'_>) -> Option<Result<Next, Denied>>,
}

/// All sources, sorted by name.
pub(super) const SOURCES: &[Source] = &[
    conversion::SOURCE,
    each::SOURCE,
    file::SOURCE,
    heredoc::SOURCE,
    jsonencode::SOURCE,
    literal::SOURCE,
    local::SOURCE,
    merge::SOURCE,
    parts::SOURCE,
    variable::SOURCE,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_sorted_by_name() {
        assert!(SOURCES.is_sorted_by(|left, right| left.name < right.name));
    }
}
