//! Changes of a plan from a pipe that come before its drift, kept within a bound.
//!
//! - An entry that changes nothing is kept by name only: what it wants is what is real.
//! - Past the bound everything is let go; a plan that then turns out to need it is an error.

use crate::read::Entry;

pub(super) struct Held {
    bytes_left: usize,
    over: bool,
    entries: Vec<Box<[u8]>>,
}

impl Held {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { bytes_left: bytes_max, over: false, entries: Vec::new() }
    }

    pub(super) fn push(&mut self, entry: &Entry<'_>) {
        if self.over {
            return;
        }
        let bytes = entry.essence();
        match self.bytes_left.checked_sub(bytes.len() + size_of::<Box<[u8]>>()) {
            Some(left) => {
                self.bytes_left = left;
                self.entries.push(bytes.into_boxed_slice());
            }
            None => {
                self.over = true;
                self.entries = Vec::new();
            }
        }
    }

    /// True when the bound was passed.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    pub(super) fn take(&mut self) -> Vec<Box<[u8]>> {
        std::mem::take(&mut self.entries)
    }
}
