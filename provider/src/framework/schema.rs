//! What a block of configuration looks like, as plain data.
//!
//! An [`Attribute`] is written shape first, then mode, then the rest:
//! `Attribute::string("name", "Unique name.").required().replace()`. Attributes are optional until
//! said otherwise.

use super::{Validator, Value};
use std::collections::BTreeMap;

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Type {
    /// A boolean.
    Bool,
    /// An exact number.
    Number,
    /// A string.
    String,
    /// Any type; the value carries it.
    Dynamic,
    /// A list of one type.
    List(Box<Self>),
    /// A set of one type.
    Set(Box<Self>),
    /// A map from strings to one type.
    Map(Box<Self>),
    /// Named values of their own types.
    Object(BTreeMap<String, Self>),
    /// Values of their own types by position; only under [`Type::Dynamic`].
    Tuple(Vec<Self>),
}

/// Who sets an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The user, always.
    Required,
    /// The user, or nobody: null.
    Optional,
    /// The provider.
    Computed,
    /// The user, else the provider.
    OptionalComputed,
}

/// How many objects a nested attribute or block holds, and how they are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nesting {
    /// One object.
    Single,
    /// Objects by position.
    List,
    /// Objects by content.
    Set,
    /// Objects by name.
    Map,
    /// One object that is always there, with what is in it absent when nobody writes it. Blocks only.
    Group,
}

/// The shape of an attribute.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A value of a type.
    Value(Type),
    /// Objects written with `=`.
    Nested(Nesting, Vec<Attribute>),
    /// Objects written as blocks. Prefer [`Kind::Nested`]: blocks can be neither null nor computed.
    Block(Nesting, Vec<Attribute>),
}

/// What a change of an attribute's value asks for.
#[derive(Clone, Copy, Debug)]
pub enum OnChange {
    /// An update in place.
    Update,
    /// A new object in place of the old one.
    Replace,
    /// A new object where the change is one that this says `true` to, given the prior and the
    /// planned value; the latter may be unknown.
    ReplaceIf(fn(&Value, &Value) -> bool),
    /// A new object where the configuration has a value: taking it out is an update.
    ReplaceIfConfigured,
}

/// What becomes of a computed value in an update that doesn't configure it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepPrior {
    /// It is not known.
    Never,
    /// It stays as it is, null too.
    Always,
    /// It stays as it is, if it is not null.
    UnlessNull,
}

/// Whether two known, non-null leaves of an attribute mean the same.
pub type Equal = fn(&Value, &Value) -> bool;

/// One attribute or nested block.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Lower-case letters, digits and underscores.
    pub name: &'static str,
    /// Its shape.
    pub kind: Kind,
    /// Who sets it.
    pub mode: Mode,
    /// Markdown, in sentences: what it is, its unit, what happens when it is left out.
    pub description: &'static str,
    /// Hidden in output.
    pub sensitive: bool,
    /// Given to the provider and never stored.
    pub write_only: bool,
    /// What to use instead, when it is on its way out.
    pub deprecated: Option<&'static str>,
    /// The value when the configuration has none. The mode is then [`Mode::OptionalComputed`].
    pub default: Option<Value>,
    /// What a change asks for.
    pub on_change: OnChange,
    /// Whether an update leaves it as it is, so that it stays known in plans.
    pub keep_prior: KeepPrior,
    /// While it is unknown, it is known not to be null.
    pub never_null: bool,
    /// The attribute beside it whose change has this write-only value sent again.
    pub resent_by: Option<&'static str>,
    /// Rules for known values.
    pub validators: Vec<Validator>,
    /// Equality by meaning, applied to each leaf (each element of a list, map or set, too).
    pub equal: Option<Equal>,
}

/// A resource's, data source's or provider's block.
#[derive(Clone, Debug)]
pub struct Schema {
    /// Version of the stored state's form; raise it together with an upgrade.
    pub version: i64,
    /// Markdown, in sentences.
    pub description: &'static str,
    /// What to use instead, when the whole is on its way out.
    pub deprecated: Option<&'static str>,
    /// Attributes and blocks, in the order of the documentation.
    pub attributes: Vec<Attribute>,
    /// Rules between top-level attributes.
    pub validators: Vec<Validator>,
}

impl Type {
    /// A list of `element`.
    pub fn list(element: Self) -> Self {
        Self::List(Box::new(element))
    }

    /// A set of `element`.
    pub fn set(element: Self) -> Self {
        Self::Set(Box::new(element))
    }

    /// A map of `element`.
    pub fn map(element: Self) -> Self {
        Self::Map(Box::new(element))
    }
}

impl Mode {
    /// Whether the user may set it.
    pub const fn is_configurable(self) -> bool {
        !matches!(self, Self::Computed)
    }

    /// Whether the provider may set it.
    pub const fn is_computed(self) -> bool {
        matches!(self, Self::Computed | Self::OptionalComputed)
    }
}

impl Nesting {
    /// The type of so many `object`s.
    pub fn of(self, object: Type) -> Type {
        match self {
            Self::Single | Self::Group => object,
            Self::List => Type::list(object),
            Self::Set => Type::set(object),
            Self::Map => Type::map(object),
        }
    }
}

/// Shapes.
impl Attribute {
    /// A string.
    pub const fn string(name: &'static str, description: &'static str) -> Self {
        Self::value(name, Type::String, description)
    }

    /// A number.
    pub const fn number(name: &'static str, description: &'static str) -> Self {
        Self::value(name, Type::Number, description)
    }

    /// A boolean.
    pub const fn bool(name: &'static str, description: &'static str) -> Self {
        Self::value(name, Type::Bool, description)
    }

    /// A value of any type: `Attribute::value("labels", Type::map(Type::String), "...")`.
    pub const fn value(name: &'static str, ty: Type, description: &'static str) -> Self {
        Self::new(name, Kind::Value(ty), description)
    }

    /// Objects written with `=`; see [`Nesting`].
    pub fn nested(
        name: &'static str,
        nesting: Nesting,
        description: &'static str,
        attributes: impl IntoIterator<Item = Self>,
    ) -> Self {
        Self::new(name, Kind::Nested(nesting, attributes.into_iter().collect()), description)
    }

    /// One object written with `=`.
    pub fn object(
        name: &'static str,
        description: &'static str,
        attributes: impl IntoIterator<Item = Self>,
    ) -> Self {
        Self::nested(name, Nesting::Single, description, attributes)
    }

    /// Objects written as blocks.
    pub fn block(
        name: &'static str,
        nesting: Nesting,
        description: &'static str,
        attributes: impl IntoIterator<Item = Self>,
    ) -> Self {
        Self::new(name, Kind::Block(nesting, attributes.into_iter().collect()), description)
    }

    const fn new(name: &'static str, kind: Kind, description: &'static str) -> Self {
        Self {
            name,
            kind,
            mode: Mode::Optional,
            description,
            sensitive: false,
            write_only: false,
            deprecated: None,
            default: None,
            on_change: OnChange::Update,
            keep_prior: KeepPrior::Never,
            never_null: false,
            resent_by: None,
            validators: Vec::new(),
            equal: None,
        }
    }
}

/// Modes and the rest.
impl Attribute {
    /// The user must set it.
    pub fn required(self) -> Self {
        Self { mode: Mode::Required, ..self }
    }

    /// The user may set it; else it is null.
    pub fn optional(self) -> Self {
        Self { mode: Mode::Optional, ..self }
    }

    /// The provider sets it.
    pub fn computed(self) -> Self {
        Self { mode: Mode::Computed, ..self }
    }

    /// The user may set it; else the provider does.
    pub fn optional_computed(self) -> Self {
        Self { mode: Mode::OptionalComputed, ..self }
    }

    /// The user may set it; else it is this.
    pub fn default(self, value: impl Into<Value>) -> Self {
        Self { mode: Mode::OptionalComputed, default: Some(value.into()), ..self }
    }

    /// A change needs a new object.
    pub fn replace(self) -> Self {
        Self { on_change: OnChange::Replace, ..self }
    }

    /// A change needs a new object if this says so, given the prior and the planned value. The
    /// latter may be unknown: what is said of it then must hold when it is known.
    pub fn replace_if(self, needs: fn(&Value, &Value) -> bool) -> Self {
        Self { on_change: OnChange::ReplaceIf(needs), ..self }
    }

    /// A change needs a new object, but not when the configuration has no value any more.
    pub fn replace_if_configured(self) -> Self {
        Self { on_change: OnChange::ReplaceIfConfigured, ..self }
    }

    /// Computed once, and stays as it is in updates: ids, creation times.
    pub fn keep_prior(self) -> Self {
        Self { keep_prior: KeepPrior::Always, ..self }
    }

    /// As [`Attribute::keep_prior`], but what was null may get a value in an update: what is computed
    /// late, or in elements that are added.
    pub fn keep_prior_unless_null(self) -> Self {
        Self { keep_prior: KeepPrior::UnlessNull, ..self }
    }

    /// The provider always gives it a value, so conditions on its being null are known in plans. An
    /// `id` at the top needs no such word.
    pub fn never_null(self) -> Self {
        Self { never_null: true, ..self }
    }

    /// Hidden in output.
    pub fn sensitive(self) -> Self {
        Self { sensitive: true, ..self }
    }

    /// Given to the provider and never stored.
    pub fn write_only(self) -> Self {
        Self { write_only: true, ..self }
    }

    /// Given to the provider and never stored; so a change of it is seen only by `version`, the
    /// attribute beside it, and one isn't set without the other. Gives both.
    pub fn write_only_with(self, version: Self) -> [Self; 2] {
        [Self { resent_by: Some(version.name), ..self.write_only() }, version]
    }

    /// On its way out; says what to use instead.
    pub fn deprecated(self, instead: &'static str) -> Self {
        Self { deprecated: Some(instead), ..self }
    }

    /// Adds a rule.
    pub fn check(mut self, validator: Validator) -> Self {
        self.validators.push(validator);
        self
    }

    /// Leaves that mean the same are the same.
    ///
    /// A list, set or map of such leaves is the prior one when all of them mean the same, and else
    /// the configured one. Where single elements may come from other resources, and so be unknown
    /// while planning, prefer a nested attribute: its leaves are judged one by one.
    pub fn equal(self, equal: Equal) -> Self {
        Self { equal: Some(equal), ..self }
    }
}

impl Attribute {
    /// The type of its value.
    pub fn value_type(&self) -> Type {
        match &self.kind {
            Kind::Value(ty) => ty.clone(),
            Kind::Nested(nesting, attributes) | Kind::Block(nesting, attributes) => {
                nesting.of(object_type(attributes))
            }
        }
    }

    /// The attributes of its objects, if it is nested.
    pub fn children(&self) -> &[Self] {
        match &self.kind {
            Kind::Value(_) => &[],
            Kind::Nested(_, attributes) | Kind::Block(_, attributes) => attributes,
        }
    }

    /// Whether it is a block.
    pub const fn is_block(&self) -> bool {
        matches!(self.kind, Kind::Block(..))
    }
}

impl Schema {
    /// An empty block.
    pub const fn new(description: &'static str) -> Self {
        Self {
            version: 0,
            description,
            deprecated: None,
            attributes: Vec::new(),
            validators: Vec::new(),
        }
    }

    /// With these attributes and blocks.
    #[must_use]
    pub fn attributes(self, attributes: impl IntoIterator<Item = Attribute>) -> Self {
        Self { attributes: attributes.into_iter().collect(), ..self }
    }

    /// With this version of the stored form.
    #[must_use]
    pub fn version(self, version: i64) -> Self {
        Self { version, ..self }
    }

    /// With a rule between top-level attributes.
    #[must_use]
    pub fn check(mut self, validator: Validator) -> Self {
        self.validators.push(validator);
        self
    }

    /// The type of the whole block's value.
    pub fn value_type(&self) -> Type {
        object_type(&self.attributes)
    }

    /// The top-level attribute of this name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|a| a.name == name)
    }
}

fn object_type(attributes: &[Attribute]) -> Type {
    Type::Object(attributes.iter().map(|a| (a.name.to_owned(), a.value_type())).collect())
}
