//! What a workspace is called after the file that its plan lies in.

/// Names that say nothing: then the folder names the workspace.
const PLAIN: &[&str] = &["driftgate", "plan", "report", "result", "show", "tfplan"];

/// The name for a path with `/`, relative to where the search began: without its endings, and
/// without a last part that only says that it is a plan.
pub fn workspace_of(path: &str) -> String {
    let path = path.trim_start_matches("./");
    let without = path.strip_suffix(".gz").unwrap_or(path);
    let without = without.strip_suffix(".json").unwrap_or(without);
    match without.rsplit_once('/') {
        Some((folder, last)) if PLAIN.contains(&last) && !folder.is_empty() => folder.to_owned(),
        _ if without.is_empty() || without.ends_with('/') => path.to_owned(),
        _ => without.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_is_called_after_its_path() {
        for (path, name) in [
            ("prod/eu.json", "prod/eu"),
            ("prod/eu/plan.json", "prod/eu"),
            ("prod/eu/tfplan.json.gz", "prod/eu"),
            ("plan.json", "plan"),
            ("./a.json", "a"),
            ("a/.json", "a/.json"),
            ("/plan.json", "/plan"),
        ] {
            assert_eq!(workspace_of(path), name, "{path}");
        }
    }
}
