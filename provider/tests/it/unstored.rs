//! What leaves nothing in a state: ephemeral resources from opening to closing, and functions, through
//! the server's calls.

use crate::loans::{DUE, Ledger, Library};
use jiff::Timestamp;
use proptest::prelude::*;
use proto::tfplugin6::{self as pb, DynamicValue, provider_server::Provider as _};
use provider::{
    framework::{
        Provider as _, Schema, Type, Value,
        conformance::{check_signature, check_unstored_schema},
    },
    server::Server,
    wire,
};
use std::sync::Arc;
use tonic::Request;

struct Bench {
    server: Server<Library>,
    ledger: Ledger,
    schema: Schema,
}

impl Bench {
    async fn new() -> Self {
        let bench = Self::unconfigured();
        let request = pb::configure_provider::Request::default();
        let answer = bench.server.configure_provider(Request::new(request)).await.unwrap();
        assert_eq!(answer.into_inner().diagnostics, []);
        bench
    }

    fn unconfigured() -> Self {
        let library = Library::default();
        let (ledger, schema) = (library.ledger.clone(), library.ephemeral_resources()[0].schema());
        Self { server: Server::new(library), ledger, schema }
    }

    fn config(&self, name: impl Into<Value>) -> Option<DynamicValue> {
        let mut config =
            Value::object(self.schema.attributes.iter().map(|a| (a.name, Value::Null)));
        config.set_attribute("name", name);
        Some(wire::encode(&self.schema.value_type(), &config).unwrap())
    }

    async fn open(&self, name: &str) -> pb::open_ephemeral_resource::Response {
        let request = pb::open_ephemeral_resource::Request {
            type_name: "library_loan".to_owned(),
            config: self.config(name),
            client_capabilities: None,
        };
        self.server.open_ephemeral_resource(Request::new(request)).await.unwrap().into_inner()
    }

    async fn renew(&self, private: Vec<u8>) -> pb::renew_ephemeral_resource::Response {
        let type_name = "library_loan".to_owned();
        let request = pb::renew_ephemeral_resource::Request { type_name, private: Some(private) };
        self.server.renew_ephemeral_resource(Request::new(request)).await.unwrap().into_inner()
    }

    async fn close(&self, private: Vec<u8>) -> Vec<pb::Diagnostic> {
        let type_name = "library_loan".to_owned();
        let request = pb::close_ephemeral_resource::Request { type_name, private: Some(private) };
        let answer = self.server.close_ephemeral_resource(Request::new(request)).await.unwrap();
        answer.into_inner().diagnostics
    }

    async fn stop(&self) {
        let request = Request::new(pb::stop_provider::Request {});
        self.server.stop_provider(request).await.unwrap();
    }

    fn ledger(&self) -> Vec<String> {
        self.ledger.lock().unwrap().clone()
    }

    async fn call(&self, name: &str, arguments: &[(Type, Value)]) -> Called {
        let encode = |(ty, value): &(Type, Value)| wire::encode(ty, value).unwrap();
        let arguments = arguments.iter().map(encode).collect();
        let request = pb::call_function::Request { name: name.to_owned(), arguments };
        let answer = self.server.call_function(Request::new(request)).await.unwrap().into_inner();
        match (answer.result, answer.error) {
            (Some(result), None) => Ok(result),
            (None, Some(error)) => {
                assert!(error.text.ends_with('.'), "a sentence: {}", error.text);
                Err((error.function_argument, error.text))
            }
            both => panic!("a result or an error: {both:?}"),
        }
    }
}

/// The result, or the argument that is wrong and why.
type Called = Result<DynamicValue, (Option<i64>, String)>;

#[tokio::test]
async fn a_loan_lives_from_opening_through_renewals_to_closing() {
    let bench = Bench::new().await;
    let asked = Timestamp::now();
    let opened = bench.open("atlas").await;
    assert_eq!(opened.diagnostics, []);
    let result = wire::decode(&bench.schema.value_type(), opened.result.as_ref()).unwrap();
    let read = ["name", "shelf", "key"].map(|name| result.text(name));
    assert_eq!(read, ["atlas", "A", "key of atlas"], "configuration, and what was added to it");
    expect_due(opened.renew_at, asked);

    let private = opened.private.unwrap();
    let renewed = bench.renew(private.clone()).await;
    assert_eq!(renewed.diagnostics, []);
    expect_due(renewed.renew_at, asked);
    let renewed = bench.renew(renewed.private.unwrap()).await;
    let ended = bench.renew(renewed.private.unwrap()).await;
    assert_eq!(ended.diagnostics[0].summary, "Enough");
    assert_eq!(ended.renew_at, None, "an error ends the renewals");

    assert_eq!(bench.close(private.clone()).await, [], "closed with what opening gave");
    assert_eq!(bench.close(private).await, [], "and closed again");
    assert_eq!(
        bench.ledger(),
        [
            "open atlas",
            "renew atlas",
            "renew atlas.",
            "renew atlas..",
            "close atlas",
            "close atlas"
        ]
    );
}

/// Due at the lender's time after it was asked for.
#[track_caller]
fn expect_due(renew_at: Option<prost_types::Timestamp>, asked: Timestamp) {
    let due = due(renew_at);
    assert!((asked + DUE..=Timestamp::now() + DUE).contains(&due), "{due}");
}

#[track_caller]
fn due(renew_at: Option<prost_types::Timestamp>) -> Timestamp {
    let renew_at = renew_at.unwrap();
    Timestamp::new(renew_at.seconds, renew_at.nanos).unwrap()
}

#[tokio::test]
async fn a_renewal_is_never_due_in_the_past() {
    let bench = Bench::new().await;
    let before = Timestamp::now();
    assert!(due(bench.open("overdue").await.renew_at) > before);
}

#[tokio::test]
async fn an_opening_that_broke_a_rule_is_an_error_and_closed() {
    let bench = Bench::new().await;
    for (name, summary, attribute) in [
        ("forgets", "Value left unknown", "key"),
        ("lies", "Result differs from the configuration", "name"),
    ] {
        let opened = bench.open(name).await;
        assert_eq!(opened.diagnostics[0].summary, summary);
        assert!(opened.diagnostics[0].detail.contains(attribute), "{opened:?}");
        assert_eq!((opened.result, opened.private, opened.renew_at), (None, None, None));
        assert!(bench.ledger().contains(&format!("close {name}")), "{:?}", bench.ledger());
    }
}

#[tokio::test]
async fn what_was_not_opened_is_told_and_not_closed() {
    let bench = Bench::new().await;
    assert_eq!(bench.open("refused").await.diagnostics[0].summary, "Lent");
    assert_eq!(bench.open("panics").await.diagnostics[0].summary, "Provider crashed");
    assert_eq!(bench.ledger(), ["open refused", "open panics"]);
    assert_eq!(bench.open("atlas").await.diagnostics, [], "the process lives on");
}

#[tokio::test]
async fn an_interrupt_ends_waiting_for_an_opening_and_hinders_no_closing() {
    let bench = Arc::new(Bench::new().await);
    let private = bench.open("atlas").await.private.unwrap();
    let waiting = tokio::spawn({
        let bench = Arc::clone(&bench);
        async move { bench.open("hangs").await }
    });
    while !bench.ledger().contains(&"open hangs".to_owned()) {
        tokio::task::yield_now().await;
    }
    bench.stop().await;
    assert_eq!(waiting.await.unwrap().diagnostics[0].summary, "Interrupted");
    assert_eq!(bench.close(private).await, []);
}

#[tokio::test]
async fn an_interrupt_lets_nothing_lapse_that_the_run_still_holds() {
    let bench = Arc::new(Bench::new().await);
    let private = bench.open("slow").await.private.unwrap();
    let renewing = tokio::spawn({
        let bench = Arc::clone(&bench);
        async move { bench.renew(private).await }
    });
    while !bench.ledger().contains(&"renew slow".to_owned()) {
        tokio::task::yield_now().await;
    }
    bench.stop().await;
    bench.ledger.lock().unwrap().push("stop".to_owned());
    assert_eq!(renewing.await.unwrap().diagnostics, []);
}

#[tokio::test]
async fn a_loan_of_an_unconfigured_provider_is_refused_and_validated_all_the_same() {
    let bench = Bench::unconfigured();
    assert_eq!(bench.open("atlas").await.diagnostics[0].summary, "Provider not configured");
    for (name, told) in [
        ("a name that is too long".into(), Some("must have a length from 1 to 10")),
        (Value::UNKNOWN, None),
        ("atlas".into(), None),
    ] {
        let request = pb::validate_ephemeral_resource_config::Request {
            type_name: "library_loan".to_owned(),
            config: bench.config(name),
        };
        let request = Request::new(request);
        let answer = bench.server.validate_ephemeral_resource_config(request).await.unwrap();
        let details = answer.into_inner().diagnostics.into_iter().map(|d| d.detail);
        let details: Vec<String> = details.collect();
        match told {
            Some(told) => assert!(details[0].contains(told), "{details:?}"),
            None => assert_eq!(details, Vec::<String>::new()),
        }
    }
}

fn text(text: &str) -> (Type, Value) {
    (Type::String, text.into())
}

fn words<const N: usize>(words: [Value; N]) -> (Type, Value) {
    (Type::list(Type::String), Value::list(words))
}

#[tokio::test]
async fn a_function_is_called_unconfigured_with_any_number_of_arguments() {
    let bench = Bench::unconfigured();
    let first = words(["a".into(), "b".into()]);
    let called = bench.call("join", &[text("-"), first.clone()]).await;
    assert_eq!(called, wire::encode(&Type::String, &"a-b".into()).map_err(|_| unreachable!()));
    let called = bench.call("join", &[text("-"), first, text("c"), text("d")]).await;
    assert_eq!(called, wire::encode(&Type::String, &"a-b-c-d".into()).map_err(|_| unreachable!()));
}

#[tokio::test]
async fn errors_of_functions_point_at_the_argument() {
    let bench = Bench::unconfigured();
    let first = words(["a".into()]);
    for (name, arguments, argument, what) in [
        ("join", vec![text("-"), first.clone(), text("b"), text("")], Some(3), "has letters"),
        ("join", vec![text("-")], None, "takes 2 arguments or more, not 1"),
        ("broken", vec![text("a"), text("b")], None, "takes one argument, not 2"),
        (
            "join",
            vec![(Type::String, Value::Null), first.clone()],
            Some(0),
            "`between` must not be null",
        ),
        ("join", vec![text("-"), words([Value::Null])], Some(1), "null, at `[0]`"),
        ("join", vec![text("-"), text("a")], Some(1), "the CLI sent a string"),
        ("join", vec![text("-"), words(["!".into()])], None, "no such word"),
        ("broken", vec![text("wrong type")], None, "a string where a number belongs"),
        ("broken", vec![text("unknown")], None, "an unknown value of known ones"),
        ("absent", vec![], None, "no function `absent`"),
    ] {
        let (at, told) = bench.call(name, &arguments).await.unwrap_err();
        let found = told.to_lowercase().contains(&what.to_lowercase());
        assert!(at == argument && found, "{name}: {at:?} {told}");
    }
}

#[tokio::test]
async fn unknown_arguments_have_an_unknown_result_unless_the_function_takes_them() {
    let bench = Bench::unconfigured();
    for first in [words(["a".into(), Value::UNKNOWN]), (Type::list(Type::String), Value::UNKNOWN)] {
        let called = bench.call("join", &[text("!"), first]).await.unwrap();
        assert!(wire::decode(&Type::String, Some(&called)).unwrap().is_unknown());
    }
    let inner = Value::Dynamic(Type::Bool, Box::new(true.into()));
    for (value, kind) in
        [(Value::Null, "null"), (Value::UNKNOWN, "an unknown value"), (inner, "a boolean")]
    {
        let called = bench.call("describe", &[(Type::Dynamic, value)]).await.unwrap();
        let result = wire::decode(&Type::Dynamic, Some(&called)).unwrap();
        assert_eq!(result, Value::Dynamic(Type::String, Box::new(kind.into())));
    }
}

#[tokio::test]
async fn functions_are_declared_alike_in_the_schema_and_on_their_own() {
    let bench = Bench::unconfigured();
    let request = Request::new(pb::get_functions::Request {});
    let functions = bench.server.get_functions(request).await.unwrap().into_inner().functions;
    let request = Request::new(pb::get_provider_schema::Request {});
    let schema = bench.server.get_provider_schema(request).await.unwrap().into_inner();
    assert_eq!(functions, schema.functions);
    let join = &functions["join"];
    let names: Vec<&str> = join.parameters.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["between", "first"]);
    assert_eq!(join.variadic_parameter.as_ref().map(|p| p.name.as_str()), Some("more"));
    assert_eq!(schema.ephemeral_resource_schemas.len(), 1);
}

#[test]
fn the_test_subject_obeys_the_rules_for_schemas_and_signatures() {
    let library = Library::default();
    for ephemeral in library.ephemeral_resources() {
        assert_eq!(check_unstored_schema(&ephemeral.schema()), []);
    }
    for function in library.functions() {
        assert_eq!(check_signature(function.name(), &function.signature()), []);
    }
}

proptest! {
    /// Bytes that are no value at all get an error, and never end the process.
    #[test]
    fn any_bytes_as_arguments_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let bench = Bench::unconfigured();
            for name in ["broken", "describe", "join"] {
                let argument = DynamicValue { msgpack: bytes.clone(), json: Vec::new() };
                let arguments = vec![argument.clone(), argument];
                let request = pb::call_function::Request { name: name.to_owned(), arguments };
                let answer = bench.server.call_function(Request::new(request)).await.unwrap();
                let answer = answer.into_inner();
                assert_ne!(answer.result.is_some(), answer.error.is_some());
            }
        });
    }
}
