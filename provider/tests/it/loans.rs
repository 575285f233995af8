//! A provider of loans and words: the test subject of ephemeral resources and functions. A loan's
//! name says what happens to it: `refused`, `panics`, `hangs`, `forgets` (a value), `lies` (about
//! its name), `slow` (to renew, until a stop is noted) or `overdue` (renewed at a time that has passed).

use provider::framework::{
    Attribute, BoxFuture, Configure, Context, DataSource, Diagnostics, Ephemeral, Function,
    FunctionError, Opened, Parameter, Path, Provider, Renewed, Reported, Resource, Schema,
    Signature, Type, Validator, Value, open_timeout,
};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

/// What was done to loans, in order.
pub(crate) type Ledger = Arc<Mutex<Vec<String>>>;

#[derive(Default)]
pub(crate) struct Library {
    pub(crate) ledger: Ledger,
}

impl Provider for Library {
    type Client = Ledger;

    fn address(&self) -> &'static str {
        "registry.terraform.io/example/library"
    }

    fn schema(&self) -> Schema {
        Schema::new("Loans and words.")
    }

    fn configure<'a>(
        &'a self,
        _request: Configure<'a>,
        _diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Option<Ledger>, Reported>> {
        Box::pin(async move { Ok(Some(self.ledger.clone())) })
    }

    fn resources(&self) -> &'static [&'static dyn Resource<Ledger>] {
        &[]
    }

    fn data_sources(&self) -> &'static [&'static dyn DataSource<Ledger>] {
        &[]
    }

    fn ephemeral_resources(&self) -> &'static [&'static dyn Ephemeral<Ledger>] {
        &[&Loan]
    }

    fn functions(&self) -> &'static [&'static dyn Function] {
        &[&Broken, &Describe, &Join]
    }
}

/// After which loans are to be renewed.
pub(crate) const DUE: Duration = Duration::from_secs(1_000_000);

struct Loan;

impl Loan {
    fn note(
        context: &Context<Ledger>,
        what: String,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), Reported> {
        context.client(diagnostics)?.lock().unwrap().push(what);
        Ok(())
    }
}

impl Ephemeral<Ledger> for Loan {
    fn type_name(&self) -> &'static str {
        "library_loan"
    }

    fn schema(&self) -> Schema {
        Schema::new("A loan.").attributes([
            Attribute::string("name", "Of the book.").required().check(Validator::length(1..=10)),
            Attribute::string("shelf", "Where it stood.").optional_computed(),
            Attribute::string("key", "Opens it.").computed().sensitive(),
            open_timeout(),
        ])
    }

    fn validate(&self, config: &Value, diagnostics: &mut Diagnostics) {
        if config.get("shelf").is_set() && config.get("shelf") == config.get("name") {
            diagnostics.error("shelf", "Same", "A book is no shelf.");
        }
    }

    fn open<'a>(
        &'a self,
        context: &'a Context<Ledger>,
        config: &'a Value,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Opened, Reported>> {
        Box::pin(async move {
            let name = config.text("name");
            Self::note(context, format!("open {name}"), diagnostics)?;
            let mut result = Value::object([("key", format!("key of {name}").into())]);
            if config.get("shelf").is_null() {
                result.set_attribute("shelf", "A");
            }
            match name {
                "refused" => return Err(diagnostics.error("name", "Lent", "Someone has it.")),
                "panics" => panic!("no such shelf"),
                "hangs" => {
                    context.stopped().await;
                    return Err(diagnostics.error(Path::root(), "Interrupted", "It is not lent."));
                }
                "forgets" => result.set_attribute("key", Value::UNKNOWN),
                "lies" => result.set_attribute("name", "another"),
                _ => {}
            }
            let pause = if name == "overdue" { Duration::ZERO } else { DUE };
            Ok(Opened { result, renew_after: Some(pause), private: name.as_bytes().to_vec() })
        })
    }

    fn renew<'a>(
        &'a self,
        context: &'a Context<Ledger>,
        private: &'a [u8],
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Renewed, Reported>> {
        Box::pin(async move {
            let name = String::from_utf8_lossy(private);
            Self::note(context, format!("renew {name}"), diagnostics)?;
            if name == "slow" {
                while !context.client(diagnostics)?.lock().unwrap().contains(&"stop".to_owned()) {
                    tokio::task::yield_now().await;
                }
                assert!(!context.is_stopped(), "renewing is not interrupted");
            }
            if name.ends_with("..") {
                return Err(diagnostics.error(Path::root(), "Enough", "Twice is enough."));
            }
            Ok(Renewed { renew_after: Some(DUE), private: format!("{name}.").into_bytes() })
        })
    }

    fn close<'a>(
        &'a self,
        context: &'a Context<Ledger>,
        private: &'a [u8],
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Reported>> {
        Box::pin(async move {
            let name = String::from_utf8_lossy(private);
            assert!(!context.is_stopped(), "closing is not interrupted");
            Self::note(context, format!("close {name}"), diagnostics)
        })
    }
}

/// Joins words; `!` panics.
struct Join;

impl Function for Join {
    fn name(&self) -> &'static str {
        "join"
    }

    fn signature(&self) -> Signature {
        Signature {
            summary: "Joins words.",
            description: "The words in between of each two of which the first one stands.",
            parameters: vec![
                Parameter::new("between", Type::String, "What stands between words."),
                Parameter::new("first", Type::list(Type::String), "The first words."),
            ],
            variadic: Some(Parameter::new("more", Type::String, "Further words.")),
            returns: Type::String,
            deprecated: None,
        }
    }

    fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError> {
        let [between, first, more @ ..] = arguments else { panic!("fewer than promised") };
        let words = first.elements().iter().chain(more);
        let words: Vec<&str> = words.map(|word| word.as_str().unwrap()).collect();
        assert!(!words.contains(&"!"), "no such word");
        match more.iter().position(|word| word.as_str() == Some("")) {
            Some(at) => Err(FunctionError::of_argument(2 + at, "A word has letters.")),
            None => Ok(words.join(between.as_str().unwrap()).into()),
        }
    }
}

/// Says what kind of value it was given, whatever it is.
struct Describe;

impl Function for Describe {
    fn name(&self) -> &'static str {
        "describe"
    }

    fn signature(&self) -> Signature {
        let value = Parameter::new("value", Type::Dynamic, "Anything.");
        Signature {
            summary: "Describes a value.",
            description: "Its kind.",
            parameters: vec![value.takes_null().takes_unknown()],
            variadic: None,
            returns: Type::Dynamic,
            deprecated: None,
        }
    }

    fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError> {
        let kind = match &arguments[0] {
            Value::Dynamic(_, inner) => inner.kind(),
            other => other.kind(),
        };
        Ok(Value::Dynamic(Type::String, Box::new(kind.into())))
    }
}

/// Promises a number and gives what it was told to.
struct Broken;

impl Function for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }

    fn signature(&self) -> Signature {
        Signature {
            summary: "Breaks its promise.",
            description: "Not a number.",
            parameters: vec![Parameter::new("how", Type::String, "How it does.")],
            variadic: None,
            returns: Type::Number,
            deprecated: None,
        }
    }

    fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError> {
        Ok(if arguments[0].as_str() == Some("unknown") { Value::UNKNOWN } else { "1".into() })
    }
}
