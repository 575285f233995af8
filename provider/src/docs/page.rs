//! One page: what it is about, examples, the block's arguments, and how to import.

use super::{Examples, block};
use crate::framework::{IdentitySchema, Schema};
use std::fmt::Write as _;

/// An example, and where it stands on the page.
pub(super) struct Listing {
    path: String,
    /// The sentence before it; in the section on imports, then.
    lead: Option<&'static str>,
}

impl Listing {
    /// An example of use.
    pub(super) fn usage(path: &str) -> Self {
        Self { path: path.to_owned(), lead: None }
    }

    /// An example of an import.
    pub(super) fn import(type_name: &str, file: &str, lead: &'static str) -> Self {
        Self { path: format!("resources/{type_name}/{file}"), lead: Some(lead) }
    }

    /// The example between fences, if there is one.
    pub(super) fn fenced(&self, examples: Examples<'_>) -> Option<String> {
        let text = examples(&self.path)?;
        let language = if self.path.ends_with(".sh") { "shell" } else { "terraform" };
        Some(format!("```{language}\n{}\n```\n", text.trim_end()))
    }
}

/// What a page is made of.
pub(super) struct Page<'a> {
    pub(super) title: String,
    pub(super) schema: &'a Schema,
    pub(super) listings: &'a [Listing],
    pub(super) identity: Option<IdentitySchema>,
}

impl Page<'_> {
    /// The page of a block without imports.
    pub(super) fn of(
        title: String,
        schema: &Schema,
        usage: &Listing,
        examples: Examples<'_>,
    ) -> String {
        let listings = std::slice::from_ref(usage);
        Page { title, schema, listings, identity: None }.render(examples)
    }

    pub(super) fn render(&self, examples: Examples<'_>) -> String {
        let mut page = head(&self.title, self.schema.description, self.schema.deprecated);
        for text in self.usages().filter_map(|usage| usage.fenced(examples)) {
            page.push_str("\n## Example Usage\n\n");
            page.push_str(&text);
        }
        page.push_str("\n## Schema\n");
        page.push_str(&block::render(&self.schema.attributes));
        self.render_import(examples, &mut page);
        page
    }

    fn usages(&self) -> impl Iterator<Item = &Listing> {
        self.listings.iter().filter(|listing| listing.lead.is_none())
    }

    fn render_import(&self, examples: Examples<'_>, page: &mut String) {
        let imports = self.listings.iter().filter_map(|l| Some((l.lead?, l.fenced(examples)?)));
        for (at, (lead, text)) in imports.enumerate() {
            let heading = if at == 0 { "\n## Import\n" } else { "" };
            let _ = write!(page, "{heading}\n{lead}\n\n{text}");
        }
        let Some(identity) = &self.identity else { return };
        page.push_str("\n### Identity\n\n");
        for attribute in &identity.attributes {
            let need = if attribute.required_for_import { "required" } else { "optional" };
            let ty = block::type_name(&attribute.ty);
            let (name, description) = (attribute.name, attribute.description);
            let _ = writeln!(page, "- `{name}` ({ty}, {need} for import) {description}");
        }
    }
}

/// The front matter, the heading and the description.
pub(super) fn head(title: &str, description: &str, deprecated: Option<&str>) -> String {
    let brief = first_sentence(description);
    let mut head = format!(
        "---\npage_title: \"{title}\"\nsubcategory: \"\"\ndescription: |-\n  {brief}\n---\n\n\
         # {title}\n\n{description}\n"
    );
    if let Some(instead) = deprecated {
        let _ = write!(head, "\n~> **Deprecated.** {instead}\n");
    }
    head
}

fn first_sentence(text: &str) -> &str {
    let text = text.lines().next().unwrap_or_default();
    text.find(". ").map_or(text, |end| &text[..=end])
}

#[cfg(test)]
mod tests {
    use super::first_sentence;

    #[test]
    fn the_first_sentence_ends_at_its_full_stop() {
        for (text, expected) in [
            ("One. Two.", "One."),
            ("One of 1.5 things.", "One of 1.5 things."),
            ("One\n\nTwo.", "One"),
            ("", ""),
        ] {
            assert_eq!(first_sentence(text), expected);
        }
    }
}
