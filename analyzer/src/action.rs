//! What a plan says it will do with one object.
//!
//! Lists of actions that nobody has seen yet are kept as [`Action::Other`]: a newer Terraform
//! must never break a gate.

/// The planned action; the symbol is the one that Terraform's users know.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    NoOp,
    Create,
    Read,
    Update,
    Delete,
    /// Destroy first, create afterwards.
    DeleteThenCreate,
    /// Create first, destroy afterwards.
    CreateThenDelete,
    /// Drop from the state, leave the object alone.
    Forget,
    /// Drop the old object from the state and create a new one.
    ForgetAndCreate,
    /// Open an ephemeral object.
    Open,
    /// Run a provider's action.
    Invoke,
    Other(String),
}

/// How many objects planned changes create, update and delete; a replacement does two of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    pub create: usize,
    pub update: usize,
    pub delete: usize,
}

impl Work {
    /// Counts one more action.
    pub fn add(&mut self, action: &Action) {
        match action {
            Action::Create | Action::ForgetAndCreate => self.create += 1,
            Action::Update => self.update += 1,
            Action::Delete => self.delete += 1,
            Action::DeleteThenCreate | Action::CreateThenDelete => {
                self.create += 1;
                self.delete += 1;
            }
            Action::NoOp
            | Action::Read
            | Action::Forget
            | Action::Open
            | Action::Invoke
            | Action::Other(_) => {}
        }
    }

    /// Counts all that another counted.
    pub(crate) fn merge(&mut self, other: Self) {
        self.create += other.create;
        self.update += other.update;
        self.delete += other.delete;
    }
}

impl Action {
    /// From the plan's list of verbs.
    pub fn parse(verbs: &[&str]) -> Self {
        match verbs {
            ["no-op"] => Self::NoOp,
            ["create"] => Self::Create,
            ["read"] => Self::Read,
            ["update"] => Self::Update,
            ["delete"] => Self::Delete,
            ["delete", "create"] => Self::DeleteThenCreate,
            ["create", "delete"] => Self::CreateThenDelete,
            ["forget"] => Self::Forget,
            ["create", "forget"] | ["forget", "create"] => Self::ForgetAndCreate,
            ["open"] => Self::Open,
            other => Self::Other(other.join("+")),
        }
    }

    /// True when carrying it out destroys the object that exists now.
    pub fn destroys(&self) -> bool {
        matches!(self, Self::Delete | Self::DeleteThenCreate | Self::CreateThenDelete)
    }

    /// True when carrying it out changes nothing outside the state.
    pub fn is_idle(&self) -> bool {
        matches!(self, Self::NoOp | Self::Read | Self::Open)
    }

    /// The symbol of Terraform's own plans.
    pub fn symbol(&self) -> &'static str {
        match self {
            Self::NoOp => "=",
            Self::Create => "+",
            Self::Read | Self::Open => "<=",
            Self::Update => "~",
            Self::Delete => "-",
            Self::DeleteThenCreate => "-/+",
            Self::CreateThenDelete => "+/-",
            Self::Forget => ".",
            Self::ForgetAndCreate => "+/.",
            Self::Invoke => "!",
            Self::Other(_) => "?",
        }
    }

    /// The word for it in reports.
    pub fn word(&self) -> &str {
        match self {
            Self::NoOp => "no change",
            Self::Create => "create",
            Self::Read => "read",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::DeleteThenCreate | Self::CreateThenDelete => "replace",
            Self::Forget => "forget",
            Self::ForgetAndCreate => "forget and create",
            Self::Open => "open",
            Self::Invoke => "invoke",
            Self::Other(verbs) => verbs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_known_pairs_are_replacements() {
        assert!(Action::parse(&["delete", "create"]).destroys());
        assert!(!Action::parse(&["create", "forget"]).destroys());
        assert_eq!(Action::parse(&["juggle", "sing"]), Action::Other("juggle+sing".into()));
        assert_eq!(Action::parse(&[]), Action::Other(String::new()));
    }
}
