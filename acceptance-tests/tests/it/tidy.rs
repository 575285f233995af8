//! The repository keeps its own rules. Those that a lint can check are in the workspace's lints.

use std::{
    fs,
    path::{Path, PathBuf},
};

use acceptance_tests::{examples, repository};

/// Files and folders of the heart: plain data and pure functions. The host's own list stands in its
/// own tidy test. Sorted.
const HEART: &[&str] = &[
    "host/src/supervisor/life.rs",
    "proto/src/duration.rs",
    "proto/src/duration.rs",
    "proto/src/quantity.rs",
    "provider/src/framework",
    "provider/src/framework.rs",
    "provider/src/resources/amounts.rs",
    "provider/src/resources/field.rs",
    "provider/src/resources/labels.rs",
];

/// What no file of the heart may name.
const EDGE: &[&str] = &[
    "tokio",
    "tonic",
    "prost",
    "rusqlite",
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "SystemTime",
    "Instant::now",
    "Timestamp::now",
    "async ",
    "proto::runtimecloud",
    "proto::tfplugin6",
    "::api::",
    "::wire::",
];

/// The most lines that a file may have.
const LINES_MAX: usize = 600;

/// Files that are longer, and how long they may be. Only ever shorten this list and its numbers.
const LONG_FILES: &[(&str, usize)] = &[];

/// Functions beyond the lint's limit, each marked in its place with a reason. Only ever lower this.
const LONG_FUNCTIONS: usize = 0;

/// Each file of the repository, its path from the top and its text. Generated and binary files are
/// not among them.
fn files(extension: &str) -> Vec<(String, String)> {
    fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && !["target", ".git", ".terraform", "gen"].contains(&name) {
                walk(&path, found);
            } else if path.is_file() {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(repository(), &mut found);
    found.sort();
    let suits = |path: &PathBuf| path.to_str().is_some_and(|path| path.ends_with(extension));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).ok()?;
        Some((path.strip_prefix(repository()).unwrap().to_str().unwrap().to_owned(), text))
    };
    found.into_iter().filter(suits).filter_map(read).collect()
}

/// The text before the file's unit tests.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or(text)
}

/// The text without comments, so that prose may name what code must not.
fn code(text: &str) -> String {
    let lines = without_tests(text).lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn expect_none(rule: &str, offences: &[String]) {
    assert!(offences.is_empty(), "{rule}:\n  {}", offences.join("\n  "));
}

#[test]
fn the_heart_names_no_edge() {
    let sources = files(".rs");
    let mut offences = Vec::new();
    for heart in HEART {
        let mut inside = sources
            .iter()
            .filter(|(path, _)| path == heart || path.starts_with(&format!("{heart}/")))
            .peekable();
        assert!(inside.peek().is_some(), "HEART names `{heart}`, which does not exist");
        for (path, text) in inside {
            let code = code(text);
            let named = EDGE.iter().filter(|edge| code.contains(**edge));
            offences.extend(named.map(|edge| format!("{path} names `{edge}`")));
        }
    }
    expect_none("the heart names no edge", &offences);
}

#[test]
fn files_keep_their_budget() {
    let mut offences = Vec::new();
    for (path, text) in files(".rs") {
        let lines = without_tests(&text).lines().count();
        let listed = LONG_FILES.iter().find(|(long, _)| *long == path).map(|(_, lines)| *lines);
        if lines > listed.unwrap_or(LINES_MAX) {
            offences.push(format!("{path} has {lines} lines"));
        } else if listed.is_some_and(|listed| lines < listed) {
            offences.push(format!("{path} has only {lines} lines now: shorten LONG_FILES"));
        }
    }
    expect_none(&format!("a file has at most {LINES_MAX} lines without its tests"), &offences);
}

#[test]
fn functions_keep_their_budget() {
    let mark = concat!("clippy::too_many", "_lines");
    let found: usize = files(".rs").iter().map(|(_, text)| text.matches(mark).count()).sum();
    assert_eq!(found, LONG_FUNCTIONS, "shorten the function, or lower LONG_FUNCTIONS");
}

#[test]
fn each_module_says_what_it_is_for() {
    let silent = files(".rs").into_iter().filter(|(_, text)| !text.starts_with("//!"));
    expect_none("a file begins with `//!`", &silent.map(|(path, _)| path).collect::<Vec<_>>());
}

#[test]
fn no_source_file_is_forgotten() {
    let sources = files(".rs");
    let mut offences = Vec::new();
    for (path, _) in &sources {
        let path = Path::new(path);
        let (dir, stem) = (path.parent().unwrap(), path.file_stem().unwrap().to_str().unwrap());
        let tops = ["src", "tests", "benches", "fuzz_targets"];
        let at_top = tops.iter().any(|top| dir.ends_with(top));
        if ["build", "lib", "main"].contains(&stem) || at_top && !dir.ends_with("src") {
            continue;
        }
        let parents = [dir.with_extension("rs"), dir.join("main.rs"), dir.join("lib.rs")];
        let declares =
            |text: &str| text.lines().any(|line| line.ends_with(&format!("mod {stem};")));
        let declared = sources.iter().any(|(other, text)| {
            parents.iter().any(|one| one == Path::new(other)) && declares(text)
        });
        if !declared {
            offences.push(path.display().to_string());
        }
    }
    expect_none("a source file is a module of its parent", &offences);
}

#[test]
fn each_crate_follows_the_lints() {
    let free = files("Cargo.toml")
        .into_iter()
        .filter(|(path, text)| path.contains('/') && !text.contains("[lints]\nworkspace = true"));
    expect_none(
        "a crate follows the workspace's lints",
        &free.map(|(path, _)| path).collect::<Vec<_>>(),
    );
}

/// What a row of a table is sorted by: the text in it, or else the row.
fn sort_key(row: &str) -> &str {
    row.split('"').nth(1).unwrap_or(row)
}

/// Tables that are sorted by what their rows don't show have a test of their own.
#[test]
fn tables_that_say_so_are_sorted() {
    let mut offences = Vec::new();
    for (path, text) in files(".rs") {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let says_so = lines[..at]
                .iter()
                .rev()
                .take_while(|above| above.trim_start().starts_with("///"))
                .map(|above| above.to_lowercase())
                .any(|above| above.contains("sorted") && !above.contains("sorted by"));
            let is_table =
                line.ends_with("&[") && (line.contains("const ") || line.contains("static "));
            if says_so && is_table {
                let rows = lines[at + 1..].iter().take_while(|row| row.trim() != "];");
                let rows = rows.filter(|row| !row.trim_start().starts_with("//"));
                if !rows.map(|row| sort_key(row)).is_sorted() {
                    offences.push(format!("{path}:{}", at + 1));
                }
            }
        }
    }
    expect_none("a table that says it is sorted is", &offences);
}

#[test]
fn each_example_is_run() {
    let run: Vec<PathBuf> = examples();
    let forgotten = files(".tf").into_iter().map(|(path, _)| path).filter(|path| {
        path.starts_with("examples/")
            && !run.iter().any(|dir| repository().join(path).parent() == Some(dir))
    });
    expect_none(
        "an example stands in a folder that holds no other",
        &forgotten.collect::<Vec<_>>(),
    );
}

#[test]
fn paths_that_the_docs_name_exist() {
    let tops: Vec<String> = fs::read_dir(repository())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut offences = Vec::new();
    for (doc, text) in files(".md") {
        for named in text.split('`').skip(1).step_by(2) {
            let top = named.split('/').next().unwrap_or_default();
            let is_path = named.contains('/') && !named.contains([' ', '*', '{', '<']);
            if !is_path || top == "target" || !tops.iter().any(|known| known == top) {
                continue;
            }
            // NAME and the like stand for what the reader chooses.
            let fixed = named
                .split('/')
                .take_while(|part| !part.chars().any(char::is_uppercase) || part.ends_with(".md"));
            let path = fixed.fold(repository().to_owned(), |path, part| path.join(part));
            if !path.exists() {
                offences.push(format!("{doc} names `{named}`"));
            }
        }
    }
    expect_none("a path that a document names exists", &offences);
}

/// What the document's `[text](target)` lead to, outside of code.
fn link_targets(text: &str) -> Vec<&str> {
    let mut is_code = false;
    let mut targets = Vec::new();
    let mut rest = text;
    while let Some((line, after)) = rest.split_once('\n') {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            let links = line.split("](").skip(1).filter_map(|link| link.split(')').next());
            targets.extend(links);
        }
        rest = after;
    }
    targets
}

/// The anchors of a document: its headings', and those written out.
fn anchors(text: &str) -> Vec<String> {
    let heading = |line: &str| {
        let title = line.trim_start_matches('#').strip_prefix(' ')?.to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        Some(kept.collect::<String>().replace(' ', "-"))
    };
    let written = |line: &str| {
        let name = line.strip_prefix("<a id=\"")?.split_once('"')?.0;
        Some(name.to_owned())
    };
    let anchor = |line: &str| if line.starts_with('#') { heading(line) } else { written(line) };
    text.lines().filter_map(anchor).collect()
}

#[test]
fn links_of_the_docs_lead_somewhere() {
    let mut offences = Vec::new();
    for (doc, text) in files(".md") {
        let path = repository().join(&doc);
        for target in link_targets(&text) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            if file.contains("://") {
                continue;
            }
            let file = if file.is_empty() { path.clone() } else { path.with_file_name(file) };
            let has_anchor = || {
                let text = fs::read_to_string(&file).unwrap_or_default();
                anchor.is_empty() || anchors(&text).iter().any(|known| known == anchor)
            };
            if !file.exists() || !has_anchor() {
                offences.push(format!("{doc} links to `{target}`"));
            }
        }
    }
    expect_none("a link of a document leads somewhere", &offences);
}

#[test]
fn links_between_the_docs_lead_somewhere() {
    let mut offences = Vec::new();
    for (doc, text) in files(".md") {
        let folder = repository().join(&doc);
        let folder = folder.parent().unwrap();
        for link in text.split("](").skip(1) {
            let target = link.split([')', '#']).next().unwrap_or_default();
            let is_ours = !target.is_empty() && !target.contains("://");
            if is_ours && !folder.join(target).exists() {
                offences.push(format!("{doc} links to `{target}`"));
            }
        }
    }
    expect_none("a link between documents leads somewhere", &offences);
}

/// The rows of a table of promises: number, and the tests with their files.
fn promises(section: &str) -> Vec<(usize, Vec<(String, String)>)> {
    let rows = section.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        let number = cells.next()?.parse().ok()?;
        let tests = cells.nth(1)?.split(", ").map(|test| {
            let named: Vec<&str> = test.split('`').collect();
            assert!(named.len() == 5 && named[2] == " in ", "not `TEST` in `FILE`: {test}");
            (named[1].to_owned(), named[3].to_owned())
        });
        Some((number, tests.collect()))
    });
    rows.collect()
}

#[test]
fn every_promise_to_the_command_line_has_its_test() {
    let text = fs::read_to_string(repository().join("docs/protocol.md")).unwrap();
    let (protocol, complaints) = text.split_once("## What users complain of").unwrap();
    let mut offences = Vec::new();
    for (section, count) in [(protocol, 36), (complaints, 15)] {
        let rows = promises(section);
        let numbers: Vec<usize> = rows.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, (1..=count).collect::<Vec<_>>());
        offences.extend(rows.into_iter().flat_map(|(_, tests)| tests).filter_map(missing));
    }
    expect_none("a promise has its test", &offences);
}

#[test]
fn every_promise_about_capacity_has_its_test() {
    let text = fs::read_to_string(repository().join("docs/capacity.md")).unwrap();
    let rows = promises(&text);
    assert!(rows.is_sorted_by_key(|(number, _)| *number) && rows.len() > 10);
    let tests = rows.into_iter().flat_map(|(_, tests)| tests);
    expect_none("a promise has its test", &tests.filter_map(missing).collect::<Vec<_>>());
}

/// What to say when a file does not have a test.
fn missing((test, file): (String, String)) -> Option<String> {
    let code = fs::read_to_string(repository().join(&file)).unwrap_or_default();
    let has = code.contains(&format!("fn {test}("));
    (!has).then(|| format!("`{test}` is not in {file}"))
}

#[test]
fn nothing_is_left_for_later_and_no_machine_is_named() {
    let banned = [
        concat!("FIX", "ME"),
        concat!("TO", "DO"),
        concat!("XX", "X"),
        concat!("/wo", "rk/"),
        concat!("/ho", "me/"),
        concat!("/ro", "ot/"),
        concat!("py", "pi.org"),
        concat!("crates", ".io"),
    ];
    let mut offences = Vec::new();
    for extension in [".rs", ".md", ".toml", ".py", ".tf", ".proto", "Makefile", ".ci/run"] {
        for (path, text) in files(extension) {
            for (number, line) in text.lines().enumerate() {
                let found = banned.iter().filter(|banned| line.contains(**banned));
                offences.extend(found.map(|banned| format!("{path}:{}: `{banned}`", number + 1)));
            }
        }
    }
    expect_none("nothing is left for later, and no machine or registry is named", &offences);
}
