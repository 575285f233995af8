//! Addresses of resource instances: `module.net["eu.1"].data.aws_subnet.this[0]`.
//!
//! - Parsing what was printed gives the same address, whatever its keys hold: dots, brackets,
//!   quotes, `${`, control characters.
//! - Any text is an address or an error with the byte at which it stops being one, never a panic.

mod parse;

pub use parse::AddressError;

use std::fmt;

/// One object of a configuration, or an old one that it still has to destroy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// The module calls on the way from the root, outermost first.
    pub modules: Vec<ModuleCall>,
    pub mode: Mode,
    pub resource_type: String,
    pub name: String,
    pub key: Option<Key>,
    /// The id of a deposed object, which shares its address with its successor.
    pub deposed: Option<String>,
}

/// One instance of a module call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModuleCall {
    pub name: String,
    pub key: Option<Key>,
}

/// What kind of block an object comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    #[default]
    Managed,
    Data,
    Ephemeral,
}

impl Mode {
    /// From the word that plans and states use. `None` for kinds nobody has seen yet.
    pub fn find(word: &str) -> Option<Self> {
        match word {
            "managed" => Some(Self::Managed),
            "data" => Some(Self::Data),
            "ephemeral" => Some(Self::Ephemeral),
            _ => None,
        }
    }

    /// What stands in front of the type in an address, its dot included.
    fn prefix(self) -> &'static str {
        match self {
            Self::Managed => "",
            Self::Data => "data.",
            Self::Ephemeral => "ephemeral.",
        }
    }
}

/// What tells the instances of one block apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// With `count`, from 0.
    Number(u64),
    /// With `for_each`.
    Text(String),
    /// Of a deferred block: it is not known yet how many there are.
    Unknown,
}

impl Address {
    /// Reads an address as Terraform, OpenTofu and this program print it.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        parse::address(text)
    }

    /// `output.x`: what an output of the root module is called among objects.
    pub(crate) fn of_output(name: &str) -> Self {
        Self {
            modules: Vec::new(),
            mode: Mode::Managed,
            resource_type: "output".to_owned(),
            name: name.to_owned(),
            key: None,
            deposed: None,
        }
    }

    /// The address of the block: modules and all without the numbers of `count`, which shift when
    /// an instance goes. Keys of `for_each` name their instance and stay.
    pub(crate) fn without_numbers(mut self) -> Self {
        let is_number = |key: &Key| matches!(key, Key::Number(_));
        for call in &mut self.modules {
            call.key.take_if(|key| is_number(key));
        }
        self.key.take_if(|key| is_number(key));
        self
    }

    /// This address with each text key replaced by what `change` makes of it.
    pub(crate) fn map_keys(mut self, mut change: impl FnMut(String) -> String) -> Self {
        let keys = self.modules.iter_mut().map(|call| &mut call.key).chain([&mut self.key]);
        for key in keys {
            if let Some(Key::Text(text)) = key {
                *text = change(std::mem::take(text));
            }
        }
        self
    }
}

impl ModuleCall {
    /// Reads the address of a module; that of the root module is empty.
    pub fn parse_path(text: &str) -> Result<Vec<Self>, AddressError> {
        parse::module_path(text)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for call in &self.modules {
            write!(f, "{call}.")?;
        }
        write!(f, "{}{}.{}", self.mode.prefix(), self.resource_type, self.name)?;
        if let Some(key) = &self.key {
            write!(f, "{key}")?;
        }
        match &self.deposed {
            Some(id) => write!(f, " (deposed {id})"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for ModuleCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "module.{}", self.name)?;
        match &self.key {
            Some(key) => write!(f, "{key}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "[{number}]"),
            Self::Unknown => f.write_str("[*]"),
            Self::Text(text) => write!(f, "[\"{}\"]", Quoted(text)),
        }
    }
}

/// A text as it stands between quotes in the configuration's language.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut characters = self.0.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                // Doubled, or it would begin a template.
                '$' | '%' if characters.peek() == Some(&'{') => {
                    write!(f, "{character}{character}")?;
                }
                hidden if crate::formats::is_hidden(hidden) => match u32::from(hidden) {
                    code @ ..=0xffff => write!(f, "\\u{code:04x}")?,
                    code => write!(f, "\\U{code:08x}")?,
                },
                plain => write!(f, "{plain}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_an_address_are_told_apart() {
        for (text, modules, mode, resource_type, name, key) in [
            ("a_b.c", vec![], Mode::Managed, "a_b", "c", None),
            ("data.a_b.c[3]", vec![], Mode::Data, "a_b", "c", Some(Key::Number(3))),
            ("ephemeral.a.b", vec![], Mode::Ephemeral, "a", "b", None),
            ("module.m.data.a.b", vec!["m"], Mode::Data, "a", "b", None),
            (
                r#"module.a["x.module.y\"]"].module.b[0].t.n["${k}%{"]"#,
                vec!["a", "b"],
                Mode::Managed,
                "t",
                "n",
                Some(Key::Text("${k}%{".into())),
            ),
            (
                r#"t.n["$${k} $$${"]"#,
                vec![],
                Mode::Managed,
                "t",
                "n",
                Some(Key::Text("${k} $${".into())),
            ),
            ("t.n[*]", vec![], Mode::Managed, "t", "n", Some(Key::Unknown)),
            (
                r#"t.n["\u00e9\x1b\n\U0001f600"]"#,
                vec![],
                Mode::Managed,
                "t",
                "n",
                Some(Key::Text("é\u{1b}\n😀".into())),
            ),
            ("data.module", vec![], Mode::Managed, "data", "module", None),
        ] {
            let address = Address::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let found: Vec<&str> = address.modules.iter().map(|call| call.name.as_str()).collect();
            assert_eq!(found, modules, "{text}");
            assert_eq!((address.mode, address.key), (mode, key), "{text}");
            assert_eq!(
                (address.resource_type.as_str(), address.name.as_str()),
                (resource_type, name)
            );
        }
    }

    #[test]
    fn deposed_objects_are_read_in_both_spellings() {
        for text in ["a.b[0] (deposed 12ab34cd)", "a.b[0] (deposed object 12ab34cd)"] {
            let address = Address::parse(text).unwrap();
            assert_eq!(address.deposed.as_deref(), Some("12ab34cd"));
            assert_eq!(address.to_string(), "a.b[0] (deposed 12ab34cd)");
        }
    }

    #[test]
    fn what_is_no_address_is_an_error_with_its_byte() {
        for (text, at) in [
            ("", 0),
            ("a", 1),
            ("a.", 2),
            ("a.b.c", 3),
            ("module.m", 8),
            ("a.b[x]", 4),
            ("a.b[", 4),
            ("a.b[01x]", 6),
            ("a.b[99999999999999999999999]", 4),
            (r#"a.b["k"#, 6),
            (r#"a.b["\q"]"#, 5),
            (r#"a.b["\ud800"]"#, 5),
            ("a.b[0]x", 6),
            ("a b.c", 1),
            ("a.b (deposed )", 13),
            ("a.b (deposed 1) ", 15),
        ] {
            assert_eq!(Address::parse(text).map_err(|error| error.at), Err(at), "{text}");
        }
    }

    #[test]
    fn only_positions_are_left_out_of_an_address() {
        for (address, kept) in [
            ("module.a[0].b.c[12]", "module.a.b.c"),
            (r#"a.b["k[1]\"[2]"]"#, r#"a.b["k[1]\"[2]"]"#),
        ] {
            assert_eq!(Address::parse(address).unwrap().without_numbers().to_string(), kept);
        }
    }
}
