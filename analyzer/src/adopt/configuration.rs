//! A configuration folder as data: files by module.
//!
//! - Loading is the only part that touches the disk; modules are followed through local sources.
//! - A file that cannot be used is kept with the reason, so that a refusal can name it.
//! - What lies outside the folder is never read: a patch could not change it either.

use super::edit::parse;
use hcl_edit::structure::{Block, Body};
use std::{collections::BTreeMap, fs, io, path::Path};

/// Module calls nest no deeper than this.
const DEPTH_MAX: usize = 16;

/// Chains of module calls grow exponentially with their depth: of more than this nothing is edited.
const CALLS_MAX: usize = 10_000;

/// The files of a configuration, ready for edits.
#[derive(Debug)]
pub struct Configuration {
    /// Files by folder; folders relative to the root, with `/`, the root itself being empty.
    pub(super) folders: BTreeMap<String, Vec<SourceFile>>,
    /// What each chain of module calls leads to.
    pub(super) modules: BTreeMap<Vec<String>, Module>,
}

#[derive(Debug)]
pub(super) struct SourceFile {
    /// Relative to the root, with `/`.
    pub(super) path: String,
    pub(super) text: String,
    pub(super) body: Result<Body, String>,
}

impl SourceFile {
    /// Override files are merged over the others.
    pub(super) fn is_override(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        let stem = name.trim_end_matches(".tofu").trim_end_matches(".tf");
        stem == "override" || stem.ends_with("_override")
    }
}

/// Where a module call leads.
#[derive(Clone, Debug)]
pub(super) enum Module {
    Local {
        folder: String,
        repetition: Repetition,
    },
    /// Not ours to edit, and why.
    Closed(String),
}

impl Configuration {
    /// Reads the root module and all local modules below it.
    pub fn load(root: &Path) -> io::Result<Self> {
        let mut configuration = Self { folders: BTreeMap::new(), modules: BTreeMap::new() };
        configuration.load_module(root, &[], "", Repetition::Once)?;
        if configuration.modules.len() > CALLS_MAX {
            // Whether a module is called once is not known any more.
            let reason = format!("the configuration has more than {CALLS_MAX} module calls");
            let modules = configuration.modules.values_mut();
            modules.for_each(|module| *module = Module::Closed(reason.clone()));
        }
        Ok(configuration)
    }

    fn load_module(
        &mut self,
        root: &Path,
        calls: &[String],
        folder: &str,
        repetition: Repetition,
    ) -> io::Result<()> {
        if !self.folders.contains_key(folder) {
            self.folders.insert(folder.to_owned(), load_folder(root, folder)?);
        }
        let below = self.module_calls(folder);
        let module = Module::Local { folder: folder.to_owned(), repetition };
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
                        Some(below) if root.join(&below).is_dir() => {
                            let repetition = repetition.max(call.repetition);
                            match self.load_module(root, &path, &below, repetition) {
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
            .any(|module| matches!(module, Module::Local { folder: other, .. } if other == folder))
    }

    fn module_calls(&self, folder: &str) -> Vec<ModuleCall> {
        let files = self.folders.get(folder).map_or(&[][..], Vec::as_slice);
        let bodies = files.iter().filter_map(|file| file.body.as_ref().ok());
        bodies.flat_map(|body| body.get_blocks("module")).filter_map(ModuleCall::of).collect()
    }
}

struct ModuleCall {
    name: String,
    source: Option<String>,
    repetition: Repetition,
}

impl ModuleCall {
    fn of(block: &Block) -> Option<Self> {
        let source = block.body.get_attribute("source");
        Some(Self {
            name: block.labels.first()?.as_str().to_owned(),
            source: source.and_then(|source| source.value.as_str()).map(str::to_owned),
            repetition: Repetition::of(block),
        })
    }
}

/// How many objects a block stands for; of a module, what is so for any call on the way to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Repetition {
    Once,
    /// It has `count` or `for_each`.
    Repeated,
}

impl Repetition {
    pub(super) fn of(block: &Block) -> Self {
        if block.body.has_attribute("count") || block.body.has_attribute("for_each") {
            Self::Repeated
        } else {
            Self::Once
        }
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

fn load_folder(root: &Path, folder: &str) -> io::Result<Vec<SourceFile>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        // A name that is no text cannot stand in a patch.
        if let Some(name) = entry.file_name().to_str()
            && is_configuration(name)
            && !entry.file_type()?.is_dir()
        {
            names.push(name.to_owned());
        }
    }
    names.sort();
    // OpenTofu reads x.tofu in place of x.tf.
    let shadowed = |name: &str| {
        name.strip_suffix(".tf").is_some_and(|stem| names.contains(&format!("{stem}.tofu")))
    };
    let mut files = Vec::new();
    for name in names.iter().filter(|name| !shadowed(name)) {
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let (text, body) = match read(&root.join(&path)) {
            Ok(text) if name.ends_with(".json") => {
                (text, Err("configuration in JSON is not edited".to_owned()))
            }
            Ok(text) => {
                let body = parse(&text);
                (text, body)
            }
            Err(reason) => (String::new(), Err(reason)),
        };
        files.push(SourceFile { path, text, body });
    }
    Ok(files)
}

/// The text of a file, or why there is none.
fn read(path: &Path) -> Result<String, String> {
    let unreadable = |error: io::Error| format!("it cannot be read: {error}");
    // A named pipe would keep us waiting.
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err("it is not a file".to_owned());
    }
    let bytes = fs::read(path).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|_| "the file is not UTF-8".to_owned())
}

/// Names of configuration files that Terraform reads: no hidden ones, no editor's backups.
fn is_configuration(name: &str) -> bool {
    let plain = !name.starts_with('.') && !name.contains(|c: char| c.is_control() || c == '"');
    let known = [".tf", ".tofu", ".tf.json", ".tofu.json"];
    plain && known.iter().any(|ending| name.ends_with(ending))
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
