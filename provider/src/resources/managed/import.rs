//! Which object an import means: by id, by name, or by identity.
//!
//! Holds: what is imported has the host's id from the start, so its identity is told with it.

use super::{Kind, Managed, attributes};
use crate::{
    client::{Client, Noun},
    framework::{Context, Diagnostics, Import, Path, Reported, Value},
};

impl<K: Kind> Managed<K> {
    /// The least state that it can be read by.
    pub(super) async fn find_to_import(
        &self,
        context: &Context<Client>,
        request: Import<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<Value, Reported> {
        let id = match request {
            Import::Id(id) if is_id(id) => id.to_owned(),
            Import::Id(name) if is_name(name, K::PARENT.is_some()) => {
                let client = context.client(diagnostics)?;
                match client.get::<K::Noun>(name, context).await {
                    Ok(noun) => noun.metadata().id,
                    Err(error) => return Err(self.report(&error, diagnostics)),
                }
            }
            Import::Id(key) => return Err(not_a_key::<K>(key, diagnostics)),
            Import::Identity(identity) if is_id(identity.text("id")) => {
                identity.text("id").to_owned()
            }
            Import::Identity(identity) => {
                return Err(not_an_id::<K>(identity.text("id"), diagnostics));
            }
        };
        Ok(Value::object([("id", id.into())]))
    }
}

fn is_id(text: &str) -> bool {
    text.split_once('_').is_some_and(|(kind, rest)| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        !kind.is_empty() && !rest.is_empty() && text.bytes().all(fits)
    })
}

/// The name of a resource, with its parent's if it has one.
fn is_name(text: &str, has_parent: bool) -> bool {
    match text.split_once('/') {
        Some((parent, name)) => {
            has_parent && attributes::is_name(parent) && attributes::is_name(name)
        }
        None => !has_parent && attributes::is_name(text),
    }
}

fn not_a_key<K: Kind>(text: &str, diagnostics: &mut Diagnostics) -> Reported {
    let kind = K::Noun::KIND;
    let (form, example) = match K::PARENT {
        Some(parent) => {
            let parent = parent.replace('_', " ");
            (format!("its {parent}'s name, `/`, and its name"), "dev/web")
        }
        None => ("its name".to_owned(), "dev"),
    };
    let ty = K::TYPE;
    let shown: String = text.chars().take(80).collect();
    diagnostics.error(
        Path::root(),
        "Not an id to import",
        format!(
            "`{shown}` is neither the id of a {kind} nor {form}. Write for example: terraform \
             import {ty}.example {example}"
        ),
    )
}

fn not_an_id<K: Kind>(text: &str, diagnostics: &mut Diagnostics) -> Reported {
    let kind = K::Noun::KIND;
    let shown: String = text.chars().take(80).collect();
    diagnostics.error(
        "id",
        "Not an id",
        format!(
            "`{shown}` is not the id of a {kind}, which is what its identity consists of. \
             `runtimecloud get` shows ids. To import by name, write `id = \"NAME\"` in the import \
             block instead of `identity`."
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_names_are_keys_and_nothing_else() {
        let id = "pool_0198f000-0000-7000-8000-000000000000";
        for (text, has_parent, expected) in [
            ("dev", false, true),
            ("dev/web", true, true),
            (id, true, true),
            (id, false, true),
            ("dev", true, false),
            ("dev/web", false, false),
            ("dev/web/x", true, false),
            ("Dev", false, false),
            ("", false, false),
            ("/", true, false),
            ("_", true, false),
            ("a b", false, false),
            ("pool_\n", true, false),
        ] {
            assert_eq!(is_id(text) || is_name(text, has_parent), expected, "{text:?}");
        }
    }
}
