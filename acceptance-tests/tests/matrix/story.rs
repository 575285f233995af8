//! What a trial is made of.

use acceptance_tests::{
    cli::Cli,
    feature::{Feature, Release},
};
use anyhow::Result;

/// Something to try with one command line.
pub(crate) type Story = Box<dyn Fn(&Cli) -> Result<()> + Send>;

/// A story in code: what holds, what a command line must have for it, and how it is tried.
#[derive(Clone, Copy)]
pub(crate) struct CodedStory {
    name: &'static str,
    needs: Option<Feature>,
    run: fn(&Cli) -> Result<()>,
}

/// A story for every command line. Where a feature only changes how it goes, ask [`Cli::has`].
pub(crate) const fn story(name: &'static str, run: fn(&Cli) -> Result<()>) -> CodedStory {
    CodedStory { name, needs: None, run }
}

impl CodedStory {
    /// The story is only for command lines that have this.
    pub(crate) const fn needing(self, feature: Feature) -> Self {
        Self { needs: Some(feature), ..self }
    }

    pub(crate) fn told(self, release: Option<Release>) -> Told {
        Told {
            name: self.name.to_owned(),
            lacks: self.needs.and_then(|feature| lacks(release, feature)),
            story: Box::new(self.run),
        }
    }
}

/// A trial of one command line.
pub(crate) struct Told {
    pub name: String,
    /// What the command line would have to have, but has not.
    pub lacks: Option<String>,
    pub story: Story,
}

/// The feature's name where it is missing. A command line that is not there lacks nothing.
pub(crate) fn lacks(release: Option<Release>, feature: Feature) -> Option<String> {
    release.is_some_and(|release| !release.has(feature)).then(|| feature.name.to_owned())
}

/// A trial that every command line goes through.
pub(crate) fn told(name: String, run: impl Fn(&Cli) -> Result<()> + Send + 'static) -> Told {
    Told { name, lacks: None, story: Box::new(run) }
}
