//! A page of documentation for each rule and each proposal, with an example that the program
//! itself prints.
//!
//! `UPDATE=1 cargo test -p analyzer pages` writes them to `docs/driftgate`.

use crate::case;
use driftgate::{proposal::ProposalKind, rule::RULES};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// What is shown, the case that shows it, and the arguments; the program runs in the case's folder,
/// or in that of this name in `tests/pages`.
const EXAMPLES: &[(&str, &str, &str)] = &[
    ("absorbed", "absorbed", "check plan.json"),
    ("adopt", "reverted", "propose plan.json --config-dir config"),
    ("appeared", "two_states", "diff before.json after.json"),
    ("changed-between", "two_states", "diff before.json after.json"),
    ("check-failed", "conditions", "check plan.json"),
    ("check-unknown", "conditions", "check plan.json"),
    ("conflict", "conflict", "check plan.json"),
    ("deleted-outside", "deleted_outside", "check plan.json"),
    ("ignore", "reverted", "propose plan.json --config-dir config --kind ignore"),
    (
        "import",
        "deleted_outside",
        "propose plan.json --config-dir config --kind import --only aws_s3_bucket.kept --id kept",
    ),
    ("move", "renamed", "propose plan.json --config-dir config --kind move"),
    ("one-way-door", "one_way", "check plan.json"),
    ("record", "absorbed", "check plan.json"),
    ("remove", "reverted", "propose plan.json --config-dir config --kind remove"),
    ("revert", "reverted", "check plan.json"),
    ("reverted", "reverted", "check plan.json"),
    ("undecidable", "refresh_only", "check plan.json"),
    ("vanished", "two_states", "diff before.json after.json"),
];

/// A page that is to be: its path below `docs/driftgate`, and its text.
type Pages = BTreeMap<PathBuf, String>;

#[test]
fn every_rule_and_proposal_has_a_page_that_is_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/driftgate");
    let pages = pages();
    if case::is_update() {
        for (path, text) in &pages {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), text).unwrap();
        }
    }
    for (path, text) in &pages {
        let found = fs::read_to_string(root.join(path)).unwrap_or_default();
        assert!(
            found == *text,
            "docs/driftgate/{} is not fresh: `UPDATE=1 cargo test -p analyzer pages` writes it",
            path.display()
        );
    }
    let known: BTreeSet<PathBuf> = pages.into_keys().collect();
    for folder in ["rules", "proposals"] {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let path = Path::new(folder).join(entry.unwrap().file_name());
            assert!(known.contains(&path), "docs/driftgate/{} explains nothing", path.display());
        }
    }
}

fn pages() -> Pages {
    let mut pages = Pages::new();
    let mut list = String::from(
        "# Rules\n\nA finding is named by the gravest rule that applies to it.\n\n\
         | rule | severity | what it says |\n| --- | --- | --- |\n",
    );
    for rule in RULES {
        let severity = rule.severity.name();
        writeln!(list, "| [`{0}`]({0}.md) | {severity} | {1} |", rule.id, rule.title).unwrap();
        let text = format!(
            "# {}\n\n{}. Severity: {severity}, unless the configuration says otherwise.\n\n{}\n\n\
             ## What to do\n\n{}\n\n{}",
            rule.id,
            rule.title,
            folded(rule.meaning),
            folded(rule.remedy),
            example(rule.id),
        );
        pages.insert(Path::new("rules").join(format!("{}.md", rule.id)), text);
    }
    pages.insert("rules/README.md".into(), list);
    let mut list = String::from(
        "# Proposals\n\nWhat can be done about a finding, each with its risk and its commands.\n\n",
    );
    for kind in ProposalKind::ALL {
        let name = kind.name();
        writeln!(list, "- [`{name}`]({name}.md)").unwrap();
        let text = format!("# {name}\n\n{}\n\n{}", folded(kind.meaning()), example(name));
        pages.insert(Path::new("proposals").join(format!("{name}.md")), text);
    }
    pages.insert("proposals/README.md".into(), list);
    pages
}

/// What the program prints for the example of a topic.
fn example(topic: &str) -> String {
    let found = EXAMPLES.iter().find(|(name, ..)| *name == topic);
    let (_, case, arguments) = found.ok_or_else(|| format!("no example shows `{topic}`")).unwrap();
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut folder = tests.join("cases").join(case);
    if !folder.exists() {
        folder = tests.join("pages").join(case);
    }
    let run = |more: &str| {
        let arguments = format!("{arguments}{more}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_driftgate"));
        command.args(arguments.split(' ')).current_dir(&folder).env("COLUMNS", "100");
        command.output().unwrap()
    };
    let ran = run("");
    let printed = String::from_utf8(ran.stdout).unwrap();
    let told = String::from_utf8_lossy(&ran.stderr);
    assert!(matches!(ran.status.code(), Some(0 | 2)), "{topic}: {told}");
    if arguments.starts_with("propose") {
        assert!(!printed.is_empty(), "the example of `{topic}` prints nothing: {told}");
    } else {
        let report = String::from_utf8(run(" --format json").stdout).unwrap();
        let named = format!(": \"{topic}\"");
        assert!(report.contains(&named), "`{topic}` is not in its example:\n{report}");
    }
    let about = fs::read_to_string(folder.join("about.md")).unwrap();
    let code = ran.status.code().unwrap();
    format!(
        "## Example\n\n{}\n\n```console\n$ driftgate {arguments}\n{}\n```\n\nIt ends with exit code \
         {code}.\n",
        folded(about.trim()),
        printed.trim_end(),
    )
}

/// Lines of at most a hundred columns.
fn folded(text: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > 100 {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}
