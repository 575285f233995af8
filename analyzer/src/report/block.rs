//! The address of a block of the configuration, which may stand for many objects.

use crate::address::ModuleCall;

/// Where a resource block is to be found: modules by call name, instance keys left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BlockAddress {
    pub(crate) modules: Vec<String>,
    pub(crate) resource_type: String,
    pub(crate) name: String,
    /// How many instances of the block the plan has; 0 when it does not tell.
    pub(crate) instances: usize,
}

impl BlockAddress {
    /// As `module.a.module.b`; empty in the root module.
    pub(crate) fn module_address(&self) -> String {
        let calls: Vec<String> = self.modules.iter().map(|name| format!("module.{name}")).collect();
        calls.join(".")
    }

    /// The names of the module calls in `module.a["k"].module.b[0]`.
    pub(crate) fn module_names(address: &str) -> Vec<String> {
        let calls = ModuleCall::parse_path(address).unwrap_or_default();
        calls.into_iter().map(|call| call.name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_modules_may_hold_anything() {
        assert_eq!(
            BlockAddress::module_names(r#"module.a["x.module.y\"]"].module.b[0].module.c"#),
            ["a", "b", "c"]
        );
        assert_eq!(BlockAddress::module_names(""), [""; 0]);
    }
}
