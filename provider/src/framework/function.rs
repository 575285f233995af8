//! A function: a value made of values, and of nothing else.

use super::{Path, Type, Value, walk};

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

impl Signature {
    /// The parameter of the argument at this position, counted from 0.
    pub fn parameter(&self, at: usize) -> Option<&Parameter> {
        self.parameters.get(at).or(self.variadic.as_ref())
    }

    /// Refuses another number of arguments than it takes.
    pub fn check_count(&self, count: usize) -> Result<(), FunctionError> {
        let (least, more) = (self.parameters.len(), self.variadic.is_some());
        if count == least || (count > least && more) {
            return Ok(());
        }
        let least = match (least, more) {
            (0, _) => "no arguments".to_owned(),
            (1, false) => "one argument".to_owned(),
            (1, true) => "one argument or more".to_owned(),
            (_, false) => format!("{least} arguments"),
            (_, true) => format!("{least} arguments or more"),
        };
        Err(FunctionError::of_call(format!("The function takes {least}, not {count}.")))
    }
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
    /// ones. Unless their parameter says otherwise they are wholly known and neither null nor, in
    /// collections, with null elements; attributes of objects may be null.
    fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError>;
}

/// Calls a function as its signature says: refuses arguments that it doesn't take, doesn't call it
/// with what is unknown, and holds its result against its type.
pub fn evaluate(function: &dyn Function, arguments: &[Value]) -> Result<Value, FunctionError> {
    let signature = function.signature();
    signature.check_count(arguments.len())?;
    let parameter = |at| signature.parameter(at).filter(|parameter| !parameter.takes_null);
    for (at, argument) in arguments.iter().enumerate() {
        if let Some(parameter) = parameter(at)
            && let Some(path) = null_within(argument, &Path::root())
        {
            let place = if path.is_root() { String::new() } else { format!(", at `{path}`") };
            return Err(FunctionError::of_argument(
                at,
                format!("`{}` must not be null{place}.", parameter.name),
            ));
        }
    }
    let known = |(at, argument): (usize, &Value)| {
        argument.is_wholly_known() || signature.parameter(at).is_some_and(|p| p.takes_unknown)
    };
    if !arguments.iter().enumerate().all(known) {
        return Ok(Value::UNKNOWN);
    }
    let result = function.call(arguments)?;
    let promised = arguments.iter().all(Value::is_wholly_known);
    let result = walk::conform(&signature.returns, &result, &Path::root())
        .map_err(|(path, what)| if path.is_root() { what } else { format!("{what}, at `{path}`") })
        .and_then(|result| {
            let left_open = promised && !result.is_wholly_known();
            if left_open { Err("an unknown value of known ones".to_owned()) } else { Ok(result) }
        });
    result.map_err(|what| {
        FunctionError::of_call(format!(
            "The provider produced {what}. This is a bug in the provider; please report it."
        ))
    })
}

/// The place of a null in a value and its collections. An object's attributes may be null, and what
/// a dynamic value holds is for the function to judge.
fn null_within(value: &Value, path: &Path) -> Option<Path> {
    match value {
        Value::Null => Some(path.clone()),
        Value::Object(attributes) => attributes
            .iter()
            .filter(|(_, value)| !value.is_null())
            .find_map(|(name, value)| null_within(value, &path.child(name))),
        collection => walk::elements(collection)
            .into_iter()
            .find_map(|(step, element)| null_within(element, &path.join(step))),
    }
}
