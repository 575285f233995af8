//! Messages and paths as messages of the protocol.

use crate::framework::{Diagnostics, Path, Severity, Step};
use proto::tfplugin6::{
    AttributePath, Diagnostic,
    attribute_path::{self, step::Selector},
    diagnostic,
};

/// The messages, in their order.
pub fn diagnostics_to_proto(diagnostics: &Diagnostics) -> Vec<Diagnostic> {
    diagnostics
        .iter()
        .map(|diagnostic| Diagnostic {
            severity: match diagnostic.severity {
                Severity::Error => diagnostic::Severity::Error.into(),
                Severity::Warning => diagnostic::Severity::Warning.into(),
            },
            summary: diagnostic.summary.clone(),
            detail: diagnostic.detail.clone(),
            attribute: (!diagnostic.path.is_root()).then(|| path_to_proto(&diagnostic.path)),
        })
        .collect()
}

/// The path, up to the first set: the protocol has no way into one.
pub fn path_to_proto(path: &Path) -> AttributePath {
    let selector = |step: &Step| match step {
        Step::Attribute(name) => Some(Selector::AttributeName(name.clone())),
        Step::Index(index) => Some(Selector::ElementKeyInt(i64::try_from(*index).ok()?)),
        Step::Key(key) => Some(Selector::ElementKeyString(key.clone())),
        Step::SetElement => None,
    };
    let steps = path
        .steps()
        .iter()
        .map_while(|step| Some(attribute_path::Step { selector: Some(selector(step)?) }));
    AttributePath { steps: steps.collect() }
}
