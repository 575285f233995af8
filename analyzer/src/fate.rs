//! What an apply would make of a value that was changed outside.
//!
//! Three values meet: the last known one (S), the real one (R) and the desired one (D). S and R
//! differ, or there would be no drift; D decides.

use crate::{diff::alike, value::Value};

/// The outcome for one attribute, from the mildest to the gravest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// D is R: the state takes over what is real.
    Absorbed,
    /// D is S: apply puts back what was there.
    Reverted,
    /// Two states or two plans differ here: nothing says what an apply would make of it.
    Observed,
    /// D is not known before apply, or the plan does not say.
    Undecidable,
    /// D is neither: apply overwrites the outside change with something else.
    Conflict,
}

impl Fate {
    /// Every fate, sorted by name.
    pub const ALL: &[Self] =
        &[Self::Absorbed, Self::Conflict, Self::Observed, Self::Reverted, Self::Undecidable];

    /// Decides from the three values; `None` is a value that is not there.
    pub fn decide(last: Option<&Value>, real: Option<&Value>, desired: Option<&Value>) -> Self {
        // What differs in form only is alike; when that counts, the exact value decides.
        let is_old = desired == last && desired != real;
        if alike(desired, real) && !is_old {
            Self::Absorbed
        } else if alike(desired, last) {
            Self::Reverted
        } else {
            Self::Conflict
        }
    }

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Absorbed => "absorbed",
            Self::Reverted => "reverted",
            Self::Observed => "observed",
            Self::Undecidable => "undecidable",
            Self::Conflict => "conflict",
        }
    }

    /// What it is, for `driftgate explain`.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Absorbed => {
                "The value was changed outside and the configuration agrees with it, ignores it \
                 (ignore_changes) or leaves it to the provider. The next apply only records it."
            }
            Self::Reverted => {
                "The value was changed outside and the configuration still asks for the old one. \
                 The next apply puts the old value back. To keep the outside change, adopt it in \
                 the configuration."
            }
            Self::Observed => {
                "The value differs between the two states or plans that were compared. No plan \
                 was asked what apply would make of it."
            }
            Self::Undecidable => {
                "The value was changed outside, but the plan does not tell what apply will make \
                 of it: the new value is known only after apply, or the plan has no entry for the \
                 resource (refresh-only, targeted or deferred)."
            }
            Self::Conflict => {
                "The value was changed outside, and the configuration asks for something that is \
                 neither the old nor the real value. Somebody should decide before the next apply."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::text::value;

    #[test]
    fn the_three_values_decide() {
        for (last, real, desired, fate) in [
            ("1", "2", "1", Fate::Reverted),
            ("1", "2", "1.0", Fate::Reverted),
            ("1", "2", "2", Fate::Absorbed),
            ("1", "2", "3", Fate::Conflict),
            ("[1,2]", "[1]", "[2,1]", Fate::Reverted),
            ("null", "\"x\"", "\"\"", Fate::Reverted),
        ] {
            let [last, real, desired] = [last, real, desired].map(|text| value(text.as_bytes()));
            assert_eq!(Fate::decide(Some(&last), Some(&real), Some(&desired)), fate);
        }
    }
}
