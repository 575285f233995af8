//! From files to what somebody wants: every fault of every file is found before anything is done.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use crate::cli::{
    document::{
        self, Block, Fault,
        fields::{Fields, Found},
    },
    failure::{Exit, Failure},
    kinds::{Declared, Desired, Spec},
};

/// One declaration, and where its parts stand.
#[derive(Debug)]
pub struct Declaration {
    pub desired: Desired,
    source: usize,
    /// Where each field stands, by its path in the API's terms.
    places: BTreeMap<String, usize>,
}

/// All declarations of some files, in the order in which they need each other.
#[derive(Debug)]
pub struct Declarations {
    sources: Vec<Source>,
    pub all: Vec<Declaration>,
}

#[derive(Debug)]
struct Source {
    name: String,
    text: String,
}

impl Source {
    /// Some editors begin a file with a mark of the byte order.
    fn new(name: String, text: &str) -> Self {
        Self { name, text: text.strip_prefix('\u{feff}').unwrap_or(text).to_owned() }
    }

    fn place(&self, at: usize) -> String {
        let (line, column) = document::position(&self.text, at);
        format!("{}:{line}:{column}", self.name)
    }
}

/// Reads files; `-` is standard input, a folder stands for the `.hcl` and `.json` files in it.
pub fn read(paths: &[PathBuf]) -> Result<Declarations, Failure> {
    let mut sources = Vec::new();
    for path in paths {
        read_sources(path, &mut sources).map_err(|error| {
            Failure::new(Exit::Usage, format!("cannot read `{}`: {error}", path.display()))
        })?;
    }
    parse(sources)
}

fn read_sources(path: &Path, sources: &mut Vec<Source>) -> io::Result<()> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes)?;
        let text = String::from_utf8(bytes)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))?;
        sources.push(Source::new("standard input".to_owned(), &text));
        return Ok(());
    }
    if !path.is_dir() {
        sources.push(Source::new(path.display().to_string(), &fs::read_to_string(path)?));
        return Ok(());
    }
    let entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path()));
    let mut files = entries.collect::<io::Result<Vec<_>>>()?;
    files.retain(|file| file.extension().is_some_and(|end| end == "hcl" || end == "json"));
    files.sort();
    if files.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "no `.hcl` or `.json` file is in it"));
    }
    files.iter().try_for_each(|file| read_sources(file, sources))
}

fn parse(sources: Vec<Source>) -> Result<Declarations, Failure> {
    let (mut all, mut faults) = (Vec::new(), Vec::new());
    let mut taken = BTreeSet::new();
    for (index, source) in sources.iter().enumerate() {
        let parsed = document::parse(&source.text);
        let mut found = parsed.faults;
        for block in &parsed.blocks {
            let Some(declaration) = declare(index, block, &mut found) else { continue };
            let Desired { kind, key, .. } = &declaration.desired;
            if !taken.insert((*kind, key.clone())) {
                found.push(Fault::new(block.name.at, format!("{kind} `{key}` is declared twice")));
            }
            all.push(declaration);
        }
        found.sort_by_key(|fault| fault.at);
        faults.extend(
            found.iter().map(|fault| format!("{}: {}", source.place(fault.at), fault.message)),
        );
    }
    if !faults.is_empty() {
        let message = match faults.len() {
            1 => "there is a fault in what is declared, and nothing was done".to_owned(),
            count => format!("there are {count} faults in what is declared, and nothing was done"),
        };
        return Err(Failure { details: faults, ..Failure::new(Exit::Usage, message) });
    }
    let depths: Vec<_> = all.iter().map(|it| depth(&it.desired, &all)).collect();
    let mut sorted: Vec<_> = depths.into_iter().zip(all).collect();
    sorted.sort_by_key(|(depth, declaration)| (declaration.desired.kind, *depth));
    let all = sorted.into_iter().map(|(_, declaration)| declaration).collect();
    Ok(Declarations { sources, all })
}

fn declare(source: usize, block: &Block, faults: &mut Vec<Fault>) -> Option<Declaration> {
    let kind = match Declared::parse(&block.kind.text) {
        Ok(kind) => kind,
        Err(why) => {
            faults.push(Fault::new(block.kind.at, format!("`{}`: {why}", block.kind.text)));
            return None;
        }
    };
    let mut found = Found::default();
    let (labels, spec, environment) =
        Fields::read(("spec", block.kind.at), &block.body, &mut found, |fields| {
            let labels = fields.text_map("labels");
            let environment = match kind.has_environment() {
                true => fields.text("environment"),
                false => String::new(),
            };
            (labels, Spec::read(kind, fields), environment)
        });
    for field in ["name", "environment"] {
        found.places.entry(field.to_owned()).or_insert(block.name.at);
    }
    faults.append(&mut found.faults);
    let key = match key(kind, &block.name.text, &environment) {
        Ok(key) => key,
        Err(why) => {
            faults.push(Fault::new(block.name.at, why));
            return None;
        }
    };
    let desired = Desired { kind, key, labels, spec };
    Some(Declaration { desired, source, places: found.places })
}

/// What lies in an environment is named `ENVIRONMENT/NAME`, or by its name and the field `environment`.
/// How many declared quotas a quota lies under.
fn depth(desired: &Desired, all: &[Declaration]) -> usize {
    let parent = |desired: &Desired| match &desired.spec {
        Spec::Quota(spec) if !spec.parent.is_empty() => Some(spec.parent.clone()),
        _ => None,
    };
    let quota = |name: &String| {
        let is_it =
            |it: &&Declaration| it.desired.kind == Declared::Quota && it.desired.key == *name;
        all.iter().find(is_it)
    };
    let above = |name: &String| quota(name).and_then(|it| parent(&it.desired));
    // Those that lie under each other in a circle the host refuses.
    std::iter::successors(parent(desired), above).take(all.len()).count()
}

fn key(kind: Declared, name: &str, environment: &str) -> Result<String, String> {
    match (kind.has_environment(), name.split_once('/')) {
        (true, None) if environment.is_empty() => {
            Err(format!("the name of a {kind} is `ENVIRONMENT/NAME`, not `{name}`"))
        }
        (true, None) => Ok(format!("{environment}/{name}")),
        (true, Some((parent, _))) if !environment.is_empty() && parent != environment => {
            Err(format!("`{name}` is not in the environment `{environment}`"))
        }
        (_, _) => Ok(name.to_owned()),
    }
}

impl Declarations {
    /// Puts the place in the file before each field that the host found fault with.
    pub fn locate(&self, declaration: &Declaration, failure: Failure) -> Failure {
        let source = &self.sources[declaration.source];
        let locate = |detail: String| {
            let mut path = detail.split(": ").next().unwrap_or_default();
            loop {
                if let Some(at) = declaration.places.get(path) {
                    return format!("{}: {detail}", source.place(*at));
                }
                match path.rsplit_once('.') {
                    Some((outer, _)) => path = outer,
                    None => return detail,
                }
            }
        };
        Failure { details: failure.details.into_iter().map(locate).collect(), ..failure }
    }
}

#[cfg(test)]
mod tests;
