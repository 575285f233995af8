//! The reference of a provider, as the pages that registries show: written from its tables and
//! schemas, and from examples.
//!
//! Names nothing of Runtime Cloud. The same tables and examples give the same bytes.

mod block;
mod folder;
mod function;
mod page;

pub use self::folder::{differences, examples_in, write};

use crate::framework::Provider;
use page::{Listing, Page};
use std::collections::BTreeMap;

/// Gives the text of an example by its path below the folder of examples.
pub type Examples<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Folders whose pages are all generated.
const FOLDERS: [&str; 6] =
    ["actions", "data-sources", "ephemeral-resources", "functions", "list-resources", "resources"];

/// All pages by their path below the folder of the documentation.
pub fn pages<P: Provider>(provider: &P, examples: Examples<'_>) -> BTreeMap<String, String> {
    let name = provider.address().rsplit('/').next().unwrap_or_default();
    let index = Page {
        title: format!("{name} Provider"),
        schema: &provider.schema(),
        listings: &[Listing::usage("provider/provider.tf")],
        identity: None,
    };
    let mut pages = BTreeMap::from([("index.md".to_owned(), index.render(examples))]);
    let mut add = |folder: &str, type_name: &str, page: String| {
        let short = type_name.strip_prefix(name).unwrap_or(type_name).trim_start_matches('_');
        pages.insert(format!("{folder}/{short}.md"), page);
    };

    for resource in provider.resources() {
        let ty = resource.type_name();
        let page = Page {
            title: format!("{ty} (Resource)"),
            schema: &resource.schema(),
            listings: &[
                Listing::usage(&format!("resources/{ty}/resource.tf")),
                Listing::import(ty, "import.sh", "With the command:"),
                Listing::import(
                    ty,
                    "import-by-string-id.tf",
                    "With an `import` block, as every version does:",
                ),
                Listing::import(
                    ty,
                    "import-by-identity.tf",
                    "By identity, as Terraform does from 1.12:",
                ),
            ],
            identity: resource.identity(),
        };
        add("resources", ty, page.render(examples));
    }
    for source in provider.data_sources() {
        let ty = source.type_name();
        let usage = Listing::usage(&format!("data-sources/{ty}/data-source.tf"));
        let page = Page::of(format!("{ty} (Data Source)"), &source.schema(), &usage, examples);
        add("data-sources", ty, page);
    }
    for ephemeral in provider.ephemeral_resources() {
        let ty = ephemeral.type_name();
        let usage = Listing::usage(&format!("ephemeral-resources/{ty}/ephemeral-resource.tf"));
        let title = format!("{ty} (Ephemeral Resource)");
        add("ephemeral-resources", ty, Page::of(title, &ephemeral.schema(), &usage, examples));
    }
    for list in provider.list_resources() {
        let ty = list.type_name();
        let usage = Listing::usage(&format!("list-resources/{ty}/list-resource.tfquery.hcl"));
        let title = format!("{ty} (List Resource)");
        add("list-resources", ty, Page::of(title, &list.schema(), &usage, examples));
    }
    for action in provider.actions() {
        let ty = action.type_name();
        let usage = Listing::usage(&format!("actions/{ty}/action.tf"));
        add("actions", ty, Page::of(format!("{ty} (Action)"), &action.schema(), &usage, examples));
    }
    for function in provider.functions() {
        let name = function.name();
        let usage = Listing::usage(&format!("functions/{name}/function.tf"));
        add("functions", name, function::render(name, &function.signature(), &usage, examples));
    }
    pages
}
