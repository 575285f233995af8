//! The address of a block of the configuration, which may stand for many objects.

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
    /// The names of the module calls in `module.a["k"].module.b[0]`: a key may hold dots, quotes
    /// and brackets, so it is skipped as the quoted text it is.
    pub(crate) fn module_names(address: &str) -> Vec<String> {
        let mut names = Vec::new();
        let mut rest = address;
        while let Some(begin) = rest.strip_prefix("module.") {
            let end = begin.find(['.', '[']).unwrap_or(begin.len());
            names.push(begin[..end].to_owned());
            rest = skip_key(&begin[end..]);
            rest = rest.strip_prefix('.').unwrap_or(rest);
        }
        names
    }
}

/// Skips `[0]` or `["any text"]`.
fn skip_key(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('[') else { return text };
    let mut escaped = false;
    let mut quoted = false;
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quoted = !quoted,
            b']' if !quoted => return &inner[at + 1..],
            _ => {}
        }
    }
    ""
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
