//! Where in a value something is, written as Terraform writes it: `worker.env["A"]`, `rules[0].to`.

use std::fmt;

/// One step into a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Into an object, by attribute or block name.
    Attribute(String),
    /// Into a list, from zero.
    Index(usize),
    /// Into a map.
    Key(String),
    /// Into some element of a set; sets have no keys, so the wire's paths end before it.
    SetElement,
}

/// Steps from the root of a resource, data source or provider block. The root is "the whole of it".
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(Vec<Step>);

impl Path {
    /// The whole block.
    pub const fn root() -> Self {
        Self(Vec::new())
    }

    /// A top-level attribute.
    pub fn attribute(name: &str) -> Self {
        Self::root().child(name)
    }

    /// Nested attributes, outermost first: `Path::attributes(["worker", "shape", "cpu"])`.
    pub fn attributes<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self(names.into_iter().map(|name| Step::Attribute(name.to_owned())).collect())
    }

    /// This path and one attribute more.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        self.join(Step::Attribute(name.to_owned()))
    }

    /// This path and one list index more.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.join(Step::Index(index))
    }

    /// This path and one map key more.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        self.join(Step::Key(key.to_owned()))
    }

    /// This path and one step more.
    #[must_use]
    pub fn join(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// Whether this is the whole block.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The steps, outermost first.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }
}

impl From<&str> for Path {
    /// A top-level attribute.
    fn from(name: &str) -> Self {
        Self::attribute(name)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Attribute(name) if at == 0 => f.write_str(name)?,
                Step::Attribute(name) => write!(f, ".{name}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) => write!(f, "[{key:?}]")?,
                Step::SetElement => f.write_str("[*]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_as_in_the_configuration() {
        let path = Path::attribute("worker").child("env").key("A").index(2);
        assert_eq!(path.to_string(), r#"worker.env["A"][2]"#);
        assert_eq!(Path::root().to_string(), "");
        assert_eq!(Path::attributes(["a", "b"]).join(Step::SetElement).to_string(), "a.b[*]");
    }
}
