//! A text that must never be seen: not in a log, not in a message.
//!
//! Guarantee: only [`Secret::expose`] gives it away; `Debug` says `(sensitive)`, and there is no
//! `Display`.

use std::fmt;

/// A bearer token.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(sensitive)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_never_shows_the_text() {
        let secret = Secret::new("rct_abc");
        assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "(sensitive) Some((sensitive))");
        assert_eq!(secret.expose(), "rct_abc");
    }
}
