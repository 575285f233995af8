//! A file of a configuration, read.
//!
//! A file that cannot be used is kept with the reason, so that a refusal can name it.

use super::{
    hcl, json,
    json::Texts,
    layout::line_start,
    node::{Body, Segment},
};
use crate::report::Place;
use std::sync::Arc;

/// What a file is written in, and what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    Native,
    Json,
    /// Values of the root module's variables.
    Variables,
    JsonVariables,
    /// Read by the function `file`.
    Plain,
}

impl Syntax {
    pub(super) fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::JsonVariables)
    }

    pub(super) fn is_variables(self) -> bool {
        matches!(self, Self::Variables | Self::JsonVariables)
    }
}

#[derive(Clone, Debug)]
pub(super) struct SourceFile {
    /// Relative to the root, with `/`.
    pub(super) path: String,
    pub(super) text: Arc<str>,
    pub(super) syntax: Syntax,
    pub(super) body: Result<Arc<Body>, String>,
}

impl SourceFile {
    pub(super) fn new(path: String, text: String, syntax: Syntax) -> Self {
        let body = match syntax {
            Syntax::Native | Syntax::Variables => hcl::parse(&text),
            Syntax::Json => json::parse(&text),
            Syntax::JsonVariables => json::parse_variables(&text),
            Syntax::Plain => Ok(Body::default()),
        };
        Self { path, text: text.into(), syntax, body: body.map(Arc::new) }
    }

    /// A file that cannot be used, and why.
    pub(super) fn unusable(path: String, syntax: Syntax, reason: String) -> Self {
        Self { path, text: "".into(), syntax, body: Err(reason) }
    }

    /// The file's name without its folder.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Override files are merged over the others.
    pub(super) fn is_override(&self) -> bool {
        let name = self.name().trim_end_matches(".json");
        let stem = name.trim_end_matches(".tofu").trim_end_matches(".tf");
        !self.syntax.is_variables() && (stem == "override" || stem.ends_with("_override"))
    }

    /// What texts at that place say.
    pub(super) fn texts(&self, at: &[Segment]) -> Texts {
        let block = || match (&self.body, at.first()) {
            (Ok(body), Some(Segment::Block(at))) => body.blocks.get(*at),
            _ => None,
        };
        match self.syntax {
            Syntax::JsonVariables => Texts::Verbatim,
            _ if block().is_some_and(|block| block.kind == "variable") => Texts::Verbatim,
            _ => Texts::Templates,
        }
    }

    pub(super) fn place(&self, at: usize) -> Place {
        let at = line_start(&self.text, at.min(self.text.len()));
        let line = self.text[..at].matches('\n').count() + 1;
        Place { file: self.path.clone(), line }
    }

    pub(super) fn problem(&self) -> Option<String> {
        let reason = self.body.as_ref().err()?;
        Some(format!("{} was left out: {reason}", self.path))
    }
}
