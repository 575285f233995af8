//! The rules by which findings are named and weighed.
//!
//! - A rule's id is a promise: it stands in reports, in ignore rules and in SARIF.
//! - A new rule is one line of [`RULES`]; `driftgate explain` and the documentation derive from it.

use std::str::FromStr;

/// How grave something is, from the mildest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Info,
    Low,
    Medium,
    High,
    Critical,
}

impl Severity {
    /// Every severity, from the mildest.
    pub const ALL: &[Self] = &[Self::Info, Self::Low, Self::Medium, Self::High, Self::Critical];

    /// The name in reports and in configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// The severity of that name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|severity| severity.name() == name)
    }
}

impl FromStr for Severity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::find(text).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|severity| severity.name()).collect();
            format!("`{text}` is no severity; there are {}", names.join(", "))
        })
    }
}

/// What kind of thing was found.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    pub id: &'static str,
    /// Unless the configuration says otherwise.
    pub severity: Severity,
    /// In a few words, for headings.
    pub title: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}

/// All rules, sorted by id.
pub static RULES: &[Rule] = &[
    Rule {
        id: "absorbed",
        severity: Severity::Info,
        title: "Changed outside, and the configuration agrees",
        meaning: "Every attribute that was changed outside has the value that the configuration \
                  wants, is ignored by it, or is left to the provider. Apply only records it.",
        remedy: "Record it with a refresh-only apply, or leave it to the next apply.",
    },
    Rule {
        id: "appeared",
        severity: Severity::Medium,
        title: "Only in the second of the two",
        meaning: "The object is in the second state and not in the first; or a change of it is \
                  planned in the second plan only.",
        remedy: "Find out who created it, or which commit asks for it.",
    },
    Rule {
        id: "changed-between",
        severity: Severity::Medium,
        title: "Differs between the two",
        meaning: "The object is in both states with other values, or its planned change is another \
                  one in the second plan.",
        remedy: "Look at the attributes; plan with the second state to see what apply makes of them.",
    },
    Rule {
        id: "check-failed",
        severity: Severity::Medium,
        title: "A condition of the configuration does not hold",
        meaning: "A check block, a pre- or postcondition or a validation is false, or could not be \
                  computed, with the values that are real now.",
        remedy: "Read its message, then mend what it complains about.",
    },
    Rule {
        id: "check-unknown",
        severity: Severity::Info,
        title: "A condition is known only after apply",
        meaning: "A check block, a pre- or postcondition depends on values that are not known yet.",
        remedy: "Nothing: apply decides it.",
    },
    Rule {
        id: "conflict",
        severity: Severity::High,
        title: "Changed outside, and the configuration asks for a third value",
        meaning: "An attribute was changed outside, and the configuration asks for neither the \
                  old value nor the real one. Apply overwrites what somebody did.",
        remedy: "Find out why it was changed, then decide: adopt the real value, or apply.",
    },
    Rule {
        id: "deleted-outside",
        severity: Severity::High,
        title: "Deleted outside",
        meaning: "The object is in the state and no longer exists.",
        remedy: "Apply to create it again, or remove it from the configuration.",
    },
    Rule {
        id: "one-way-door",
        severity: Severity::Critical,
        title: "Apply would destroy what was changed outside",
        meaning: "The object was changed outside, and apply would destroy it, or destroy and \
                  create it again. What it holds does not come back.",
        remedy: "Never apply this unseen. Adopt the real values, or ignore the attribute that \
                 forces the replacement.",
    },
    Rule {
        id: "reverted",
        severity: Severity::Medium,
        title: "Changed outside, and apply undoes it",
        meaning: "An attribute was changed outside, and the configuration still asks for the old \
                  value. Apply puts it back.",
        remedy: "Apply to undo the outside change, or adopt it.",
    },
    Rule {
        id: "undecidable",
        severity: Severity::Medium,
        title: "Changed outside, and the outcome is open",
        meaning: "An attribute was changed outside, and the plan does not say what apply makes \
                  of it: the value is known only after apply, or the plan leaves the object out.",
        remedy: "Make a full plan, without -target and -refresh-only.",
    },
    Rule {
        id: "vanished",
        severity: Severity::High,
        title: "Only in the first of the two",
        meaning: "The object is in the first state and not in the second: it was destroyed, removed \
                  from the state or moved; or a change of it is planned in the first plan only.",
        remedy: "If nobody meant to remove it, import it again or restore the earlier state.",
    },
];

/// The rule of that id.
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_sorted_and_single() {
        assert!(RULES.is_sorted_by(|left, right| left.id < right.id));
    }
}
