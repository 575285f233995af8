//! Texts over several lines, between two markers.
//!
//! - With `<<-` the white space that all lines share is no part of the text.
//! - Only a heredoc without templates is read; doubled signs stand for one.

/// A heredoc, taken apart.
#[derive(Debug)]
pub(super) struct Heredoc<'a> {
    /// `<<-EOT` and its line feed.
    pub(super) head: &'a str,
    /// The lines in between, as they are written.
    pub(super) body: &'a str,
    /// The closing marker with the white space in front of it.
    pub(super) tail: &'a str,
    /// How much white space is taken off each line, in characters.
    indent: usize,
}

impl<'a> Heredoc<'a> {
    /// From the opening marker to the closing one; `None` when it holds a template.
    pub(super) fn read(written: &'a str) -> Option<Self> {
        let head = written.find('\n')? + 1;
        let is_flush = written.starts_with("<<-");
        let marker = written[..head].trim_start_matches(['<', '-']).trim_end();
        let tail = written[head..].rfind('\n').map_or(head, |at| head + at + 1);
        if written[tail..].trim() != marker {
            return None;
        }
        let body = &written[head..tail];
        let bare = body.replace("$${", "").replace("%%{", "");
        if bare.contains("${") || bare.contains("%{") {
            return None;
        }
        let widths = body.split_inclusive('\n').filter(|line| !line.trim().is_empty());
        let widths = widths.map(|line| line.chars().take_while(|c| c.is_whitespace()).count());
        let indent = if is_flush { widths.min().unwrap_or(0) } else { 0 };
        Some(Self { head: &written[..head], body, tail: &written[tail..], indent })
    }

    /// What it says.
    pub(super) fn value(&self) -> String {
        let lines = self.body.split_inclusive('\n').map(|line| match self.indent {
            0 => line,
            _ if line.trim().is_empty() => line,
            indent => line.char_indices().nth(indent).map_or("", |(at, _)| &line[at..]),
        });
        lines.collect::<String>().replace("$${", "${").replace("%%{", "%{")
    }

    /// The same heredoc with another text; `None` when a heredoc cannot say it.
    pub(super) fn with(&self, value: &str) -> Option<String> {
        let body = self.body_of(value)?;
        let written = format!("{}{body}{}", self.head, self.tail);
        // A line like the closing marker would end it early.
        let marker = self.tail.trim();
        if body.lines().any(|line| line.trim() == marker) {
            return None;
        }
        let same = Heredoc::read(&written).is_some_and(|it| it.value() == value);
        same.then_some(written)
    }

    fn body_of(&self, value: &str) -> Option<String> {
        if !value.ends_with('\n') {
            return None;
        }
        let mut body = String::new();
        let indent: String = self
            .body
            .split_inclusive('\n')
            .find(|line| !line.trim().is_empty())
            .map(|line| line.chars().take(self.indent).collect())
            .unwrap_or_default();
        let escaped = value.replace("${", "$${").replace("%{", "%%{");
        for line in escaped.split_inclusive('\n') {
            if !line.trim().is_empty() {
                body.push_str(&indent);
            }
            body.push_str(line);
        }
        Some(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heredoc_reads_and_writes_the_same_text() {
        for (written, value, other, rewritten) in [
            ("<<EOT\n  a\nb\nEOT", "  a\nb\n", "x\n", "<<EOT\nx\nEOT"),
            (
                "<<-EOT\n    a\n\n      b $${c}\n  EOT",
                "a\n\n  b ${c}\n",
                "${d}\n  e\n",
                "<<-EOT\n    $${d}\n      e\n  EOT",
            ),
            ("<<-E\r\n  a\r\n  E", "a\r\n", "b\r\n", "<<-E\r\n  b\r\n  E"),
        ] {
            let heredoc = Heredoc::read(written).expect(written);
            assert_eq!(heredoc.value(), value);
            assert_eq!(heredoc.with(other).as_deref(), Some(rewritten));
            assert_eq!(heredoc.with(value).as_deref(), Some(written));
        }
        let heredoc = Heredoc::read("<<-E\n  a\n  E").expect("a heredoc");
        // No line feed at the end, a marker inside, white space that would be lost.
        for refused in ["a", "E\n", "  a\n", "a\n  E\nb\n"] {
            assert_eq!(heredoc.with(refused), None, "{refused:?}");
        }
        assert!(Heredoc::read("<<E\n${x}\nE").is_none());
    }
}
