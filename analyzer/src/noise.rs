//! Differences that mean nothing: recognised, named and counted, never dropped silently.

/// Why a difference is no drift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Noise {
    JsonForm,
    MetadataOnly,
    NullEmpty,
    NumberSpelling,
    Phantom,
    Reordered,
    SensitivityOnly,
}

impl Noise {
    /// Every kind, sorted by name.
    pub const ALL: &[Self] = &[
        Self::JsonForm,
        Self::MetadataOnly,
        Self::NullEmpty,
        Self::NumberSpelling,
        Self::Phantom,
        Self::Reordered,
        Self::SensitivityOnly,
    ];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::JsonForm => "json-form",
            Self::MetadataOnly => "metadata-only",
            Self::NullEmpty => "null-empty",
            Self::NumberSpelling => "number-spelling",
            Self::Phantom => "phantom",
            Self::Reordered => "reordered",
            Self::SensitivityOnly => "sensitivity-only",
        }
    }

    /// What it is, for `driftgate explain`.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::JsonForm => {
                "Two texts hold the same JSON document with other spaces, key order or number \
                 spelling. Providers normalise such texts when they read them back."
            }
            Self::MetadataOnly => {
                "The plan lists the object as changed outside, but every attribute is the same: \
                 only the provider's private data or a schema version differ."
            }
            Self::NullEmpty => {
                "One side has no value and the other an empty text, list or map. Older providers \
                 do not tell them apart, and an upgrade of a provider often turns one into the \
                 other."
            }
            Self::NumberSpelling => "The same number written in another way, such as 1 and 1.0.",
            Self::Phantom => {
                "Terraform 0.15.4 to 1.0.0 list every object as drifted once one has drifted. \
                 This one is the same on both sides."
            }
            Self::Reordered => {
                "A list holds the same elements in another order. Sets are written as lists in a \
                 plan, and their order carries no meaning."
            }
            Self::SensitivityOnly => {
                "The values are the same; only the mark that says what is sensitive has changed."
            }
        }
    }
}
