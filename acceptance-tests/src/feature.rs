//! What a command line can do, as data: since which version of Terraform and of OpenTofu.
//!
//! A story or a case names the feature that it needs, never a version.

use anyhow::{Context, Result};

/// Whose command line it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    Terraform,
    Tofu,
}

/// A command line's family, and its major and minor version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release {
    pub family: Family,
    version: (u32, u32),
}

impl Release {
    /// Reads a version such as `1.15.5`; of a pre-release, what it will be.
    pub fn parse(family: Family, version: &str) -> Result<Self> {
        let mut numbers = version.split(['.', '-']).map(|number| number.parse().ok());
        let mut next =
            || numbers.next().flatten().with_context(|| format!("no version: {version}"));
        Ok(Self { family, version: (next()?, next()?) })
    }

    pub fn has(self, feature: Feature) -> bool {
        let since = match self.family {
            Family::Terraform => Some(feature.terraform),
            Family::Tofu => feature.tofu,
        };
        since.is_some_and(|since| self.version >= since)
    }
}

/// Something that not every command line can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feature {
    /// As cases call it.
    pub name: &'static str,
    terraform: (u32, u32),
    /// None: no OpenTofu has it.
    tofu: Option<(u32, u32)>,
}

const fn feature(name: &'static str, terraform: (u32, u32), tofu: Option<(u32, u32)>) -> Feature {
    Feature { name, terraform, tofu }
}

/// `action` blocks, and what triggers them.
pub const ACTIONS: Feature = feature("actions", (1, 14), None);
/// A plan in JSON says whether an apply would do something.
pub const APPLYABLE: Feature = feature("applyable", (1, 8), None);
/// Deprecations of attributes are shown with their own message.
pub const DEPRECATIONS: Feature = feature("deprecations", (1, 15), Some((1, 12)));
/// `ephemeral` blocks.
pub const EPHEMERAL: Feature = feature("ephemeral", (1, 10), Some((1, 11)));
/// Functions of a provider.
pub const FUNCTIONS: Feature = feature("functions", (1, 8), Some((1, 7)));
/// `-generate-config-out` asks the provider what is worth writing.
pub const GENERATED_CONFIG: Feature = feature("generated_config", (1, 14), None);
/// Identities of resources, and imports by them.
pub const IDENTITY: Feature = feature("identity", (1, 12), Some((1, 12)));
/// `moved` blocks from one type to another.
pub const MOVED_TYPES: Feature = feature("moved_types", (1, 8), Some((1, 10)));
/// `terraform query` and `list` blocks.
pub const QUERY: Feature = feature("query", (1, 14), None);
/// `removed` blocks.
pub const REMOVED: Feature = feature("removed", (1, 7), Some((1, 7)));
/// Write-only attributes.
pub const WRITE_ONLY: Feature = feature("write_only", (1, 11), Some((1, 11)));

/// All of them, by name.
pub const FEATURES: &[Feature] = &[
    ACTIONS,
    APPLYABLE,
    DEPRECATIONS,
    EPHEMERAL,
    FUNCTIONS,
    GENERATED_CONFIG,
    IDENTITY,
    MOVED_TYPES,
    QUERY,
    REMOVED,
    WRITE_ONLY,
];

impl Feature {
    pub fn named(name: &str) -> Option<Self> {
        FEATURES.iter().copied().find(|feature| feature.name == name)
    }
}

/// When something is expected: always, or depending on a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    Always,
    With(Feature),
    Without(Feature),
}

impl When {
    pub fn holds(self, release: Release) -> bool {
        match self {
            Self::Always => true,
            Self::With(feature) => release.has(feature),
            Self::Without(feature) => !release.has(feature),
        }
    }

    /// Reads `with NAME` or `without NAME`; nothing is always.
    pub fn parse(words: &[&str]) -> Result<Self> {
        let named = |name: &str| {
            let names: Vec<_> = FEATURES.iter().map(|feature| feature.name).collect();
            Feature::named(name)
                .with_context(|| format!("no feature is called `{name}`, only {names:?}"))
        };
        match words {
            [] => Ok(Self::Always),
            ["with", name] => Ok(Self::With(named(name)?)),
            ["without", name] => Ok(Self::Without(named(name)?)),
            other => {
                anyhow::bail!("`{}` is neither `with` nor `without` a feature", other.join(" "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_has_what_came_with_its_version_or_before() {
        for (family, version, feature, has) in [
            (Family::Terraform, "1.6.6", FUNCTIONS, false),
            (Family::Terraform, "1.8.4", FUNCTIONS, true),
            (Family::Terraform, "1.10.5", FUNCTIONS, true),
            (Family::Terraform, "1.14.0-beta1", ACTIONS, true),
            (Family::Terraform, "2.0.0", DEPRECATIONS, true),
            (Family::Tofu, "1.10.0", FUNCTIONS, true),
            (Family::Tofu, "1.15.0", ACTIONS, false),
        ] {
            let release = Release::parse(family, version).unwrap();
            assert_eq!(release.has(feature), has, "{release:?} {feature:?}");
            assert_eq!(When::With(feature).holds(release), has);
            assert_eq!(When::Without(feature).holds(release), !has);
        }
        for version in ["", "1", "one.two"] {
            assert!(Release::parse(Family::Tofu, version).is_err(), "{version}");
        }
    }

    #[test]
    fn features_are_sorted_and_found_by_name() {
        assert!(FEATURES.is_sorted_by_key(|feature| feature.name));
        assert_eq!(When::parse(&["with", "query"]).unwrap(), When::With(QUERY));
        assert!(When::parse(&["with", "everything"]).is_err());
        assert!(When::parse(&["query"]).is_err());
    }
}
