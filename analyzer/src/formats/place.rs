//! Where formats that point into a repository say something stands.
//!
//! - Paths are relative to the repository, with `/`.
//! - What cannot be found in the configuration is said of the main file of the root module: some
//!   readers take nothing without a file.

use super::{Style, problem::Problem, visible, words};
use crate::report::{Finding, Place};

/// Of a finding, when the configuration shows it.
pub(super) fn of_finding(finding: &Finding, style: &Style) -> Option<Place> {
    words::place(finding).map(|place| in_repository(place, style))
}

/// Of another problem, when that is known.
pub(super) fn of_problem(problem: &Problem<'_>, style: &Style) -> Option<Place> {
    problem.place.map(|place| in_repository(place, style))
}

/// Where nothing better is known.
pub(super) fn fallback(style: &Style) -> Place {
    in_repository(&Place { file: "main.tf".to_owned(), line: 1 }, style)
}

/// From a place in the root module.
pub(super) fn in_repository(place: &Place, style: &Style) -> Place {
    let file = visible(&place.file);
    let file = if style.folder.is_empty() { file } else { format!("{}/{file}", style.folder) };
    // A module may stand beside the root module.
    let mut steps: Vec<&str> = Vec::new();
    for step in file.split('/') {
        match step {
            "." | "" => {}
            ".." if steps.last().is_some_and(|last| *last != "..") => drop(steps.pop()),
            step => steps.push(step),
        }
    }
    Place { file: steps.join("/"), line: place.line }
}

/// As a part of a URI: all but letters, digits and `-._~/` in hexadecimal.
pub(super) fn percent(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(byte.into());
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_from_the_repository() {
        let place = |file: &str| Place { file: file.to_owned(), line: 3 };
        let style = Style { folder: "infra/prod".to_owned(), ..Style::default() };
        for (file, path) in [
            ("main.tf", "infra/prod/main.tf"),
            ("./modules/a/main.tf", "infra/prod/modules/a/main.tf"),
            ("../shared/x.tf", "infra/shared/x.tf"),
            ("../../../x.tf", "../x.tf"),
        ] {
            assert_eq!(in_repository(&place(file), &style), place(path));
        }
        assert_eq!(percent("a b/ü.tf"), "a%20b/%C3%BC.tf");
    }
}
