//! Unified diffs that `git apply` and `patch -p1` accept.
//!
//! - Paths are relative to the configuration's root, behind `a/` and `b/`.
//! - A line that holds a secret is never printed: context is cut short in front of it, and where a
//!   patch could not do without the line, there is none, and the reason is given.

use super::{
    file::SourceFile,
    hidden::{self, Marks},
};
use crate::redact::{Secrets, sounds_secret};
use similar::{ChangeTag, TextDiff};
use std::{fmt::Write, ops::Range};

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// The diff of one file, empty when nothing changed.
pub(super) fn unified(
    old: &SourceFile,
    new: &SourceFile,
    marks: &Marks<'_>,
) -> Result<String, String> {
    let (path, secrets) = (&old.path, marks.secrets);
    // A line ends at a line feed only: for the tools that apply patches a lone carriage return is
    // a character like others.
    let [before, after] =
        [old, new].map(|file| file.text.split_inclusive('\n').collect::<Vec<_>>());
    let [old, new] = [old, new].map(|file| hidden_lines(file, marks));
    let is_hidden = |lines: &[bool], at: Option<usize>| at.is_some_and(|at| lines[at]);
    let diff = TextDiff::from_slices(&before, &after);
    let lines: Vec<Line<'_>> = diff
        .iter_all_changes()
        .map(|change| Line {
            tag: change.tag(),
            text: change.value(),
            hidden: is_hidden(&old, change.old_index()) || is_hidden(&new, change.new_index()),
        })
        .collect();
    let mut out = String::new();
    for hunk in hunks(&lines) {
        let hunk = without_secrets(&lines, hunk, secrets)?;
        write_hunk(&lines, hunk, &mut out);
    }
    if out.is_empty() {
        return Ok(out);
    }
    // A name with spaces ends at a tab, as git writes it.
    let tab = if path.contains(' ') { "\t" } else { "" };
    Ok(format!("--- a/{path}{tab}\n+++ b/{path}{tab}\n{out}"))
}

struct Line<'a> {
    tag: ChangeTag,
    text: &'a str,
    /// It sets what is sensitive.
    hidden: bool,
}

/// Of each line, whether it sets what is sensitive.
fn hidden_lines(file: &SourceFile, marks: &Marks<'_>) -> Vec<bool> {
    let places = hidden::places(file, marks);
    let mut end = 0;
    file.text
        .split_inclusive('\n')
        .map(|line| {
            let begin = end;
            end += line.len();
            places.iter().any(|place| place.start < end && begin < place.end)
        })
        .collect()
}

/// Ranges of lines around the changes; changes whose contexts touch share one.
fn hunks(lines: &[Line<'_>]) -> Vec<Range<usize>> {
    let mut hunks: Vec<Range<usize>> = Vec::new();
    for (at, _) in lines.iter().enumerate().filter(|(_, line)| line.tag != ChangeTag::Equal) {
        let range = at.saturating_sub(CONTEXT)..(at + 1 + CONTEXT).min(lines.len());
        match hunks.last_mut() {
            Some(last) if last.end >= range.start => last.end = range.end,
            _ => hunks.push(range),
        }
    }
    hunks
}

/// Cuts context lines off until no secret is left.
fn without_secrets(
    lines: &[Line<'_>],
    hunk: Range<usize>,
    secrets: &Secrets,
) -> Result<Range<usize>, String> {
    let is_change = |at: &usize| lines[*at].tag != ChangeTag::Equal;
    let (Some(first), Some(last)) = (hunk.clone().find(is_change), hunk.clone().rfind(is_change))
    else {
        return Ok(hunk);
    };
    let is_secret = |at: &usize| lines[*at].hidden || holds_secret(lines[*at].text, secrets);
    if (first..=last).any(|at| is_secret(&at)) {
        return Err("a line of the change also holds a sensitive value".to_owned());
    }
    let begin = (hunk.start..first).rfind(is_secret).map_or(hunk.start, |at| at + 1);
    let end = (last + 1..hunk.end).find(is_secret).unwrap_or(hunk.end);
    // Without a line behind it, a change is taken for the end of the file.
    if end == last + 1 && end < lines.len() {
        return Err("the line below the change holds a sensitive value".to_owned());
    }
    if begin == first && begin > 0 {
        return Err("the line above the change holds a sensitive value".to_owned());
    }
    // What is cut on one side is cut on the other: `patch` takes a hunk with less context on one
    // side for the beginning or the end of the file.
    let (above, below) = (first - begin, end - last - 1);
    let is_cut = (begin > hunk.start, end < hunk.end);
    let begin = if is_cut.1 { first - above.min(below) } else { begin };
    let end = if is_cut.0 { last + 1 + below.min(above) } else { end };
    Ok(begin..end)
}

fn holds_secret(line: &str, secrets: &Secrets) -> bool {
    if secrets.conceal(line).is_some() {
        return true;
    }
    // A literal under a telling name, which the plan may know nothing of.
    let Some((name, value)) = line.split_once('=') else { return false };
    let literal = value.trim_start().strip_prefix('"').is_some_and(|rest| !rest.starts_with('"'));
    literal && !value.contains("${") && sounds_secret(name)
}

fn write_hunk(lines: &[Line<'_>], hunk: Range<usize>, out: &mut String) {
    let count = |range: &[Line<'_>], without: ChangeTag| {
        range.iter().filter(|line| line.tag != without).count()
    };
    let (before, inside) = (&lines[..hunk.start], &lines[hunk]);
    let side = |without: ChangeTag| {
        let length = count(inside, without);
        let begin = count(before, without) + usize::from(length > 0);
        format!("{begin},{length}")
    };
    let _ = writeln!(out, "@@ -{} +{} @@", side(ChangeTag::Insert), side(ChangeTag::Delete));
    for line in inside {
        let sign = match line.tag {
            ChangeTag::Equal => ' ',
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        let _ = write!(out, "{sign}{}", line.text);
        if !line.text.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::file::Syntax, *};
    use crate::value::Value;
    use std::collections::BTreeSet;

    fn diff(old: &str, new: &str, secrets: &Secrets) -> Result<String, String> {
        let [old, new] = [old, new]
            .map(|text| SourceFile::new("m.tf".to_owned(), text.to_owned(), Syntax::Native));
        unified(&old, &new, &Marks { secrets, variables: BTreeSet::new() })
    }

    #[test]
    fn context_stops_in_front_of_a_secret() {
        let mut secrets = Secrets::default();
        secrets.learn_all(&Value::String("hunter2".to_owned()));
        let old = "x = \"hunter2\"\na = 1\nb = 2\nc = 3\nd = \"hunter2\"\n";
        let new = old.replace("b = 2", "b = 5");
        let patch = diff(old, &new, &secrets).expect("a patch");
        assert_eq!(
            patch,
            "--- a/m.tf\n+++ b/m.tf\n@@ -2,3 +2,3 @@\n a = 1\n-b = 2\n+b = 5\n c = 3\n"
        );
        let worse = old.replace("c = 3", "c = 4");
        assert!(diff(old, &worse, &secrets).is_err());
        let inside = "a = { p = \"hunter2\", q = 1 }\n";
        assert!(diff(inside, &inside.replace("q = 1", "q = 2"), &secrets).is_err());
    }

    #[test]
    fn a_lone_carriage_return_ends_no_line() {
        let old = "a = 1 /* x\ry */\nb = 2\n";
        let patch = diff(old, &old.replace("b = 2", "b = 3"), &Secrets::default());
        assert_eq!(
            patch.expect("a patch"),
            "--- a/m.tf\n+++ b/m.tf\n@@ -1,2 +1,2 @@\n a = 1 /* x\ry */\n-b = 2\n+b = 3\n"
        );
    }

    #[test]
    fn literals_under_telling_names_are_not_shown() {
        let old = "a = 1\nb = 2\nmaster_password = \"pw\"\n";
        let patch = diff(old, &old.replace("a = 1", "a = 3"), &Secrets::default());
        assert_eq!(patch.expect("a patch").matches("pw").count(), 0);
    }
}
