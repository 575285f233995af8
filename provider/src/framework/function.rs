//! A function: a value made of values, and of nothing else.

use super::{Type, Value};

/// A parameter of a function.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Lower-case letters, digits and underscores.
    pub name: &'static str,
    /// Its type; arguments are converted to it.
    pub ty: Type,
    /// Markdown, in sentences.
    pub description: &'static str,
    /// Null is an argument like another. Else the CLI refuses it.
    pub takes_null: bool,
    /// The function is called with unknown arguments, too. Else its result is unknown uncalled.
    pub takes_unknown: bool,
}

impl Parameter {
    /// A parameter that takes neither null nor unknown values.
    pub const fn new(name: &'static str, ty: Type, description: &'static str) -> Self {
        Self { name, ty, description, takes_null: false, takes_unknown: false }
    }

    /// Null is an argument like another.
    pub fn takes_null(self) -> Self {
        Self { takes_null: true, ..self }
    }

    /// The function is called with unknown arguments, too.
    pub fn takes_unknown(self) -> Self {
        Self { takes_unknown: true, ..self }
    }
}

/// What a function takes and gives.
#[derive(Clone, Debug)]
pub struct Signature {
    /// One line.
    pub summary: &'static str,
    /// Markdown, in sentences.
    pub description: &'static str,
    /// In order.
    pub parameters: Vec<Parameter>,
    /// The parameter of all further arguments, none or more.
    pub variadic: Option<Parameter>,
    /// The type of the result.
    pub returns: Type,
    /// What to use instead, when it is on its way out.
    pub deprecated: Option<&'static str>,
}

/// Why a function has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionError {
    /// What is wrong, why, and what to write instead; shown at the argument.
    pub text: String,
    /// The argument it is about, counted from 0. `None`: about the call as a whole.
    pub argument: Option<usize>,
}

impl FunctionError {
    /// About one argument, counted from 0.
    pub fn of_argument(argument: usize, text: impl Into<String>) -> Self {
        Self { text: text.into(), argument: Some(argument) }
    }

    /// About the call as a whole.
    pub fn of_call(text: impl Into<String>) -> Self {
        Self { text: text.into(), argument: None }
    }
}

/// A function. It is called without a configured provider, while planning and again while applying:
/// the same arguments must give the same result, and nothing outside is asked or touched.
pub trait Function: Send + Sync {
    /// The name, such as `parse_quantity`, called as `provider::NAME::parse_quantity(...)`.
    fn name(&self) -> &'static str;

    /// What it takes and gives.
    fn signature(&self) -> Signature;

    /// The result. `arguments` has one value of its type for each parameter, and then the variadic
    /// ones.
    fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError>;
}
