//! A configuration folder as data: files by module.
//!
//! - Modules are followed through local sources; what is read comes from a [`Storage`].
//! - A file that cannot be used is kept with the reason, so that a refusal can name it.
//! - What lies outside the folder is never read: a patch could not change it either.

use super::{
    file::{SourceFile, Syntax},
    node::{Block, Body, Kind},
};
use crate::schemas::Schemas;
use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    fmt::Display,
    sync::Arc,
};

/// Module calls nest no deeper than this.
const DEPTH_MAX: usize = 16;

/// Chains of module calls grow exponentially with their depth: of more than this nothing is edited.
const CALLS_MAX: usize = 10_000;

/// Where files come from. Paths are relative to the root, with `/`.
pub(super) trait Storage {
    type Error: Display;
    /// The names of the files in a folder.
    fn names(&self, folder: &str) -> Result<Vec<String>, Self::Error>;
    fn is_folder(&self, path: &str) -> bool;
    /// The text of a file, or why there is none.
    fn text(&self, path: &str) -> Result<String, String>;
}

/// Files that are no files.
struct Memory(BTreeMap<String, String>);

impl Storage for Memory {
    type Error = Infallible;

    fn names(&self, folder: &str) -> Result<Vec<String>, Infallible> {
        let inside = |path: &String| {
            let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
            (parent == folder).then(|| name.to_owned())
        };
        Ok(self.0.keys().filter_map(inside).collect())
    }

    fn is_folder(&self, path: &str) -> bool {
        path.is_empty() || self.0.keys().any(|it| it.starts_with(&format!("{path}/")))
    }

    fn text(&self, path: &str) -> Result<String, String> {
        self.0.get(path).cloned().ok_or_else(|| "it is not there".to_owned())
    }
}

/// The files of a configuration, ready for edits.
#[derive(Debug, Default)]
pub struct Configuration {
    /// Files by folder; folders relative to the root, with `/`, the root itself being empty.
    pub(super) folders: BTreeMap<String, Vec<SourceFile>>,
    /// What each chain of module calls leads to.
    pub(super) modules: BTreeMap<Vec<String>, Module>,
    /// Files whose whole text is a value, by path.
    pub(super) plain: BTreeMap<String, SourceFile>,
    /// What the providers take, when somebody said.
    pub(super) schemas: Option<Arc<Schemas>>,
}

/// Where a module call leads.
#[derive(Clone, Debug)]
pub(super) enum Module {
    Local {
        folder: String,
    },
    /// Not ours to edit, and why.
    Closed(String),
}

impl Configuration {
    /// Takes texts of files by path, relative to the root and with `/`.
    pub fn of(files: BTreeMap<String, String>) -> Self {
        match Self::from_storage(&Memory(files)) {
            Ok(configuration) => configuration,
            Err(never) => match never {},
        }
    }

    /// With what the providers take: attributes that only they set are never written.
    pub fn with_schemas(self, schemas: Option<Arc<Schemas>>) -> Self {
        Self { schemas, ..self }
    }

    /// Reads the root module and all local modules below it.
    pub(super) fn from_storage<S: Storage>(storage: &S) -> Result<Self, S::Error> {
        let mut configuration = Self::default();
        configuration.load_module(storage, &[], "")?;
        configuration.load_plain(storage);
        if configuration.modules.len() > CALLS_MAX {
            // Whether a module is called once is not known any more.
            let reason = format!("the configuration has more than {CALLS_MAX} module calls");
            let modules = configuration.modules.values_mut();
            modules.for_each(|module| *module = Module::Closed(reason.clone()));
        }
        Ok(configuration)
    }

    fn load_module<S: Storage>(
        &mut self,
        storage: &S,
        calls: &[String],
        folder: &str,
    ) -> Result<(), S::Error> {
        if !self.folders.contains_key(folder) {
            self.folders.insert(folder.to_owned(), load_folder(storage, folder)?);
        }
        let below = self.module_calls(folder);
        let module = Module::Local { folder: folder.to_owned() };
        self.modules.insert(calls.to_vec(), module);
        for call in below {
            if self.modules.len() > CALLS_MAX {
                break;
            }
            let mut path = calls.to_vec();
            path.push(call.name);
            let module = match call.source {
                _ if self.modules.contains_key(&path) => {
                    Module::Closed("two module calls have the name of its module".to_owned())
                }
                Some(source) if source.starts_with("./") || source.starts_with("../") => {
                    match join(folder, &source) {
                        Some(below) if self.is_on_the_way(calls, &below) => {
                            Module::Closed("its module calls itself".to_owned())
                        }
                        Some(_) if path.len() > DEPTH_MAX => {
                            Module::Closed(format!("it lies more than {DEPTH_MAX} modules deep"))
                        }
                        Some(below) if storage.is_folder(&below) => {
                            match self.load_module(storage, &path, &below) {
                                Ok(()) => continue,
                                Err(error) => Module::Closed(format!(
                                    "its module `{below}` cannot be read: {error}"
                                )),
                            }
                        }
                        Some(below) => Module::Closed(format!("its module `{below}` is not there")),
                        None => Module::Closed(format!(
                            "its module `{source}` lies outside the folder given by --config-dir"
                        )),
                    }
                }
                // A source may carry a token, so it is not named.
                Some(_) => Module::Closed(
                    "its module comes from elsewhere and is no part of this configuration".into(),
                ),
                None => Module::Closed("the source of its module is not literal".to_owned()),
            };
            self.modules.insert(path, module);
        }
        Ok(())
    }

    /// True when one of the calls that lead to `calls`, the last one included, is of `folder`.
    fn is_on_the_way(&self, calls: &[String], folder: &str) -> bool {
        (0..=calls.len())
            .filter_map(|length| self.modules.get(&calls[..length]))
            .any(|module| matches!(module, Module::Local { folder: other } if other == folder))
    }

    fn module_calls(&self, folder: &str) -> Vec<ModuleCall> {
        let files = self.folders.get(folder).map_or(&[][..], Vec::as_slice);
        let bodies = files.iter().filter_map(|file| file.body.as_ref().ok());
        let blocks = bodies.flat_map(|body: &Arc<Body>| body.blocks_of("module"));
        blocks.filter_map(|(_, block)| ModuleCall::of(block)).collect()
    }

    /// Reads the files that the function `file` reads, as far as they lie below the root.
    fn load_plain(&mut self, storage: &impl Storage) {
        let mut paths = BTreeSet::new();
        for (folder, files) in &self.folders {
            for body in files.iter().filter_map(|file| file.body.as_ref().ok()) {
                body.walk(&mut |node| {
                    if let Kind::Call { function, arguments } = &node.kind
                        && function == "file"
                        && let [argument] = arguments.as_slice()
                    {
                        paths.extend(file_path(folder, &argument.kind));
                    }
                });
            }
        }
        for path in paths {
            if let Ok(text) = storage.text(&path) {
                self.plain.insert(path.clone(), SourceFile::new(path, text, Syntax::Plain));
            }
        }
    }
}

/// The path below the root that an argument of `file` names; `None` when it is computed.
pub(super) fn file_path(folder: &str, argument: &Kind) -> Option<String> {
    let (folder, path) = match argument {
        // Relative to where the command runs: the root.
        Kind::Text(path) => ("", path),
        Kind::ModulePath(path) => (folder, path),
        _ => return None,
    };
    let plain = !path.starts_with('/') && !path.contains(|c: char| c.is_control() || c == '"');
    join(folder, path).filter(|joined| plain && !joined.is_empty())
}

struct ModuleCall {
    name: String,
    source: Option<String>,
}

impl ModuleCall {
    fn of(block: &Block) -> Option<Self> {
        let source = block.body.entry("source").map(|entry| &entry.value.kind);
        let source = match source {
            Some(Kind::Text(source)) => Some(source.clone()),
            _ => None,
        };
        Some(Self { name: block.labels.first()?.clone(), source })
    }
}

/// Joins a local source to a folder; `None` when it leaves the root.
fn join(folder: &str, source: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in source.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

fn load_folder<S: Storage>(storage: &S, folder: &str) -> Result<Vec<SourceFile>, S::Error> {
    let mut names = storage.names(folder)?;
    names.retain(|name| syntax(name, folder).is_some());
    names.sort();
    // OpenTofu reads x.tofu in place of x.tf.
    let shadowed = |name: &str| {
        let twin = |ending: &str, other: &str| {
            name.strip_suffix(ending).is_some_and(|stem| names.contains(&format!("{stem}{other}")))
        };
        twin(".tf", ".tofu") || twin(".tf.json", ".tofu.json")
    };
    let mut files = Vec::new();
    for name in names.iter().filter(|name| !shadowed(name)) {
        let Some(syntax) = syntax(name, folder) else { continue };
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        files.push(match storage.text(&path) {
            Ok(text) => SourceFile::new(path, text, syntax),
            Err(reason) => SourceFile::unusable(path, syntax, reason),
        });
    }
    Ok(files)
}

/// What files of that name are for: no hidden ones, no editor's backups. Values of variables are
/// read in the root folder only.
fn syntax(name: &str, folder: &str) -> Option<Syntax> {
    if name.starts_with('.') || name.contains(|c: char| c.is_control() || c == '"') {
        return None;
    }
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    let is_root = folder.is_empty();
    match name {
        "terraform.tfvars" if is_root => Some(Syntax::Variables),
        "terraform.tfvars.json" if is_root => Some(Syntax::JsonVariables),
        _ if ends(&[".auto.tfvars"]) && is_root => Some(Syntax::Variables),
        _ if ends(&[".auto.tfvars.json"]) && is_root => Some(Syntax::JsonVariables),
        _ if ends(&[".tf", ".tofu"]) => Some(Syntax::Native),
        _ if ends(&[".tf.json", ".tofu.json"]) => Some(Syntax::Json),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_stay_inside_the_root() {
        assert_eq!(join("", "./modules/a/"), Some("modules/a".to_owned()));
        assert_eq!(join("modules/a", "../b"), Some("modules/b".to_owned()));
        assert_eq!(join("modules/a", "../../../b"), None);
    }
}
