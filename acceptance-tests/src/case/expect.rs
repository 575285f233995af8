//! What a case expects, read from its `expect.txt`.
//!
//! A heading names a step or `import`, and may say when it counts: `2_sum.tf with functions`. Lines
//! under a heading are indented by two spaces, those about a command that is run by four; lines that
//! begin with `#` are comments.

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::{
    feature::{Feature, IDENTITY, Release, When},
    plan::{Action, Actions},
};

/// All that `expect.txt` holds, in order.
#[derive(Debug, Default)]
pub struct Expected {
    steps: Vec<(String, When, Step)>,
    imports: Vec<(When, Import)>,
}

/// What one step of a case does.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Step {
    pub actions: Actions,
    /// Said by the plan, which succeeds.
    pub says: Vec<String>,
    /// Said by the plan, which fails; nothing is applied then.
    pub fails: Vec<String>,
    /// Outputs by name.
    pub outputs: Vec<(String, Value)>,
    /// Address, path of names separated by dots, and value in the state.
    pub values: Vec<(String, String, Value)>,
    /// Commands that are run after the apply.
    pub runs: Vec<Run>,
}

/// A command of Terraform's that is run after an apply.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Run {
    pub arguments: Vec<String>,
    pub says: Vec<String>,
    /// It fails, saying this.
    pub fails: Vec<String>,
}

/// How a resource is imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    pub address: String,
    pub by: Key,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// The text for `terraform import`; the resource's id is tried as well.
    Name(String),
    /// Arguments of an identity, each `NAME=VALUE` with an expression.
    Identity(Vec<(String, String)>),
}

impl Expected {
    /// `steps` are the names that headings may have.
    pub fn parse(text: &str, steps: &[&str]) -> Result<Self> {
        let mut expected = Self::default();
        let mut section = Section::None;
        let lines = text.lines().map(str::trim_end);
        for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let read = if line.starts_with(' ') {
                expected.line(&section, line)
            } else {
                expected.heading(line, steps).map(|heading| section = heading)
            };
            read.with_context(|| format!("cannot read `{line}`"))?;
        }
        for step in steps {
            let has_heading = expected.steps.iter().any(|(name, _, _)| name == step);
            ensure!(has_heading, "step `{step}` has no heading");
        }
        Ok(expected)
    }

    fn heading(&mut self, line: &str, steps: &[&str]) -> Result<Section> {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or_default();
        let when = When::parse(&words.collect::<Vec<_>>())?;
        if name == "import" {
            return Ok(Section::Import(when));
        }
        ensure!(steps.contains(&name), "`{name}` is neither a step nor `import`");
        self.steps.push((name.to_owned(), when, Step::default()));
        Ok(Section::Step)
    }

    fn line(&mut self, section: &Section, line: &str) -> Result<()> {
        let text = line.trim_start();
        let (first, rest) = text.split_once(' ').context("it has one word")?;
        match section {
            Section::None => bail!("it stands under no heading"),
            Section::Import(when) => {
                self.imports.push((*when, Import::parse(first, rest)?));
                Ok(())
            }
            Section::Step => {
                let (_, _, step) = self.steps.last_mut().context("it belongs to no step")?;
                if line.starts_with("    ") {
                    step.runs.last_mut().context("it belongs to no command")?.line(first, rest)
                } else {
                    step.line(first, rest)
                }
            }
        }
    }

    /// What holds of a step with this command line; none: the step is not for it.
    pub fn step(&self, name: &str, release: Release) -> Option<Step> {
        let mine = self.steps.iter().filter(|(step, when, _)| step == name && when.holds(release));
        mine.map(|(_, _, step)| step.clone()).reduce(Step::and)
    }

    pub fn imports(&self, release: Release) -> Vec<&Import> {
        let mine = self.imports.iter().filter(|(when, import)| {
            let can = matches!(import.by, Key::Name(_)) || release.has(IDENTITY);
            when.holds(release) && can
        });
        mine.map(|(_, import)| import).collect()
    }

    /// The features that some step waits for.
    pub fn needs(&self) -> Vec<Feature> {
        let needed = self.steps.iter().filter_map(|(_, when, _)| match when {
            When::With(feature) => Some(*feature),
            When::Always | When::Without(_) => None,
        });
        needed.collect()
    }
}

/// Where the next lines belong.
enum Section {
    None,
    /// The last of the steps.
    Step,
    Import(When),
}

impl Step {
    fn line(&mut self, first: &str, rest: &str) -> Result<()> {
        let text = rest.to_owned();
        match first {
            "says" => self.says.push(text),
            "fails" => self.fails.push(text),
            "output" => {
                let (name, value) = rest.split_once(' ').context("`output NAME JSON` is meant")?;
                self.outputs.push((name.to_owned(), serde_json::from_str(value)?));
            }
            "value" => {
                let mut words = rest.splitn(3, ' ').map(str::to_owned);
                let mut next = || words.next().context("`value ADDRESS PATH JSON` is meant");
                self.values.push((next()?, next()?, serde_json::from_str(&next()?)?));
            }
            "runs" => {
                let arguments = rest.split_whitespace().map(str::to_owned).collect();
                self.runs.push(Run { arguments, ..Run::default() });
            }
            _ => {
                let action = Action::parse(first).with_context(|| format!("no verb: `{first}`"))?;
                self.actions.insert(text, action);
            }
        }
        Ok(())
    }

    /// Two sections that hold of one step.
    fn and(mut self, other: Self) -> Self {
        self.actions.extend(other.actions);
        self.says.extend(other.says);
        self.fails.extend(other.fails);
        self.outputs.extend(other.outputs);
        self.values.extend(other.values);
        self.runs.extend(other.runs);
        self
    }
}

impl Run {
    fn line(&mut self, first: &str, rest: &str) -> Result<()> {
        match first {
            "says" => self.says.push(rest.to_owned()),
            "fails" => self.fails.push(rest.to_owned()),
            _ => bail!("a command `says` or `fails`"),
        }
        Ok(())
    }
}

impl Import {
    fn parse(address: &str, key: &str) -> Result<Self> {
        let by = if key.contains('=') {
            let pairs = key.split_whitespace().map(|pair| {
                let (name, value) = pair.split_once('=').context("an argument has no `=`")?;
                Ok((name.to_owned(), value.to_owned()))
            });
            Key::Identity(pairs.collect::<Result<_>>()?)
        } else {
            Key::Name(key.to_owned())
        };
        Ok(Self { address: address.to_owned(), by })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::{FUNCTIONS, Family};

    fn release(version: &str) -> Release {
        Release::parse(Family::Terraform, version).unwrap()
    }

    const TEXT: &str = "\
# A comment.
1_create.tf
  create x.one
  runs query -json
    says x.one

2_sum.tf with functions
  output total 3
2_sum.tf without functions
  fails no such function

import
  x.one dev/one
  x.one name=\"one\" environment=\"dev\"
";

    #[test]
    fn sections_count_where_their_feature_is_or_is_not() {
        let expected = Expected::parse(TEXT, &["1_create.tf", "2_sum.tf"]).unwrap();
        let (old, new) = (release("1.6.6"), release("1.15.5"));
        let create = expected.step("1_create.tf", old).unwrap();
        assert_eq!(create.actions["x.one"], Action::Create);
        assert_eq!(create.runs[0].arguments, ["query", "-json"]);
        assert_eq!(create.runs[0].says, ["x.one"]);
        assert_eq!(expected.step("2_sum.tf", new).unwrap().outputs, [("total".into(), 3.into())]);
        assert_eq!(expected.step("2_sum.tf", old).unwrap().fails, ["no such function"]);
        assert_eq!(expected.imports(old).len(), 1);
        let Key::Identity(pairs) = &expected.imports(new)[1].by else { panic!("no identity") };
        assert_eq!(pairs[1], ("environment".to_owned(), "\"dev\"".to_owned()));
        assert_eq!(expected.needs(), [FUNCTIONS]);
    }

    #[test]
    fn a_step_whose_sections_all_wait_for_something_is_not_for_those_without() {
        let expected = Expected::parse("1.tf with actions\n  create x.one\n", &["1.tf"]).unwrap();
        assert_eq!(expected.step("1.tf", release("1.13.5")), None);
        assert!(expected.step("1.tf", release("1.14.9")).is_some());
    }

    #[test]
    fn what_means_nothing_is_refused() {
        for text in [
            "",
            "2.tf\n",
            "1.tf since 1.8\n",
            "1.tf with magic\n",
            "  create x.one\n",
            "1.tf\n  make x.one\n",
            "1.tf\n  create\n",
            "1.tf\n  output total three\n",
            "1.tf\n    says hello\n",
            "1.tf\nimport\n  x.one\n",
        ] {
            assert!(Expected::parse(text, &["1.tf"]).is_err(), "{text:?}");
        }
    }
}
