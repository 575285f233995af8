//! Why a plan proves less than it should.

/// Why the absence of drift is not proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    Deferred,
    DestroyPlan,
    Encrypted,
    Errored,
    Incomplete,
    NoDriftSection,
    Redacted,
    Targeted,
    TooOld,
    Truncated,
}

impl Reason {
    /// Every reason, sorted by name.
    pub const ALL: &[Self] = &[
        Self::Deferred,
        Self::DestroyPlan,
        Self::Encrypted,
        Self::Errored,
        Self::Incomplete,
        Self::NoDriftSection,
        Self::Redacted,
        Self::Targeted,
        Self::TooOld,
        Self::Truncated,
    ];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deferred => "deferred",
            Self::DestroyPlan => "destroy-plan",
            Self::Encrypted => "encrypted",
            Self::Errored => "errored",
            Self::Incomplete => "incomplete",
            Self::NoDriftSection => "no-drift-section",
            Self::Redacted => "redacted",
            Self::Targeted => "targeted",
            Self::TooOld => "too-old",
            Self::Truncated => "truncated",
        }
    }

    /// What it means and what to do.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Deferred => {
                "Changes of some resources are deferred, so the plan leaves them open. Apply what \
                 they wait for, then plan again."
            }
            Self::DestroyPlan => {
                "The plan destroys everything, and such a plan does not list what was changed \
                 outside. Plan again without -destroy."
            }
            Self::Encrypted => {
                "The input is encrypted by OpenTofu, so nothing of it could be read. Give the \
                 output of `tofu show -json FILE`, run where the key is configured."
            }
            Self::Errored => {
                "Planning ended with an error, so the plan holds only a part. Mend the error that \
                 the plan command printed, then plan again."
            }
            Self::Incomplete => {
                "The plan says that it does not cover everything: it was made with -target, or \
                 something was deferred. Plan again without -target."
            }
            Self::NoDriftSection => {
                "Terraform before 0.15.4 does not write changes made outside into the plan. Make \
                 the plan with a newer version."
            }
            Self::Redacted => {
                "This is HCP Terraform's redacted plan: sensitive values are replaced, so that \
                 their changes cannot be seen, and it does not say whether planning failed. Check \
                 the unredacted JSON plan of the run."
            }
            Self::Targeted => {
                "The plan was made with -target, so it covers only a part. Plan again without \
                 -target."
            }
            Self::TooOld => {
                "The plan is older than --max-age allows, or nobody knows how old it is. Plan \
                 again."
            }
            Self::Truncated => {
                "The input ends before it is complete: whatever wrote it stopped early or has a \
                 size limit. Write it to a file, then check that."
            }
        }
    }
}
