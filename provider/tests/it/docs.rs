//! The reference in `docs/` is what the schemas and examples say.

use std::path::Path;

use provider::{docs, provider::RuntimeCloud};

#[test]
fn the_reference_is_fresh() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let examples = root.join("examples");
    let examples = docs::examples_in(&examples);
    let stale = docs::differences(&RuntimeCloud::new(|_| None), &examples, &root.join("docs"));
    assert!(stale.is_empty(), "run `make docs`, which renews {stale:?}");
}

#[test]
fn a_page_shows_what_the_block_holds() {
    let pages = docs::pages(&RuntimeCloud::new(|_| None), &|path| {
        path.ends_with("resource.tf").then(|| "resource {}\n".to_owned())
    });
    let page = &pages["resources/worker_pool.md"];
    for part in [
        "page_title: \"runtimecloud_worker_pool (Resource)\"",
        "## Example Usage\n\n```terraform\nresource {}\n```",
        "### Required\n\n- `environment` (String) ",
        "- `worker` (Attributes) ",
        "### Nested Schema for `worker`\n\nRequired:\n\n- `command` (List of String) ",
        "### Read-Only\n\n- `id` (String) ",
    ] {
        assert!(page.contains(part), "{part:?} is not in\n{page}");
    }
    assert!(!page.contains("## Import\n"), "an import without an example");
}

#[test]
fn pages_that_lost_their_source_go() {
    let folder = tempfile::tempdir().unwrap();
    let (old, own) = (folder.path().join("resources/old.md"), folder.path().join("own.md"));
    std::fs::create_dir(old.parent().unwrap()).unwrap();
    for file in [&old, &own] {
        std::fs::write(file, "text").unwrap();
    }
    let provider = RuntimeCloud::new(|_| None);
    assert!(docs::differences(&provider, &|_| None, folder.path()).contains(&old));
    docs::write(&provider, &|_| None, folder.path()).unwrap();
    assert!(own.is_file() && !old.exists());
    assert!(docs::differences(&provider, &|_| None, folder.path()).is_empty());
}
