//! Policies: expressions in CEL that say what a plan must not do.
//!
//! - An expression only sees values that the plan does not mark as sensitive, and every message is
//!   cleared of secrets like any other text.
//! - Evaluation is bounded in steps, not in time, so that the same plan gives the same answer.
//! - What cannot be evaluated counts as broken: a gate must not pass because a policy failed.

mod budget;
mod library;
mod value;

pub use library::{BuiltIn, LIBRARY};
pub(crate) use value::{from_shown, from_value, list, map, text};

use crate::{
    config::{Each, Policy, Wildcard},
    rule::Severity,
};
use budget::Budget;
use cel::{Context, Env, ExecutionError, IdedExpr, Value};
use std::{collections::BTreeMap, fmt, sync::Arc};

/// Policies that can be evaluated.
pub struct Policies {
    environment: Arc<Env>,
    policies: Vec<Compiled>,
}

struct Compiled {
    name: String,
    each: Each,
    expression: IdedExpr,
    message: String,
    severity: Severity,
    no_op: bool,
    params: Value,
}

impl fmt::Debug for Policies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.policies.iter().map(|policy| &policy.name)).finish()
    }
}

/// A broken policy, before its texts are cleared of secrets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Broken {
    pub(crate) policy: String,
    pub(crate) address: String,
    pub(crate) deposed: String,
    pub(crate) message: String,
    pub(crate) severity: Severity,
}

/// What an expression is asked for, with the values of its variables.
pub(crate) struct Subject {
    pub(crate) each: Each,
    /// Empty for the plan as a whole.
    pub(crate) address: String,
    pub(crate) deposed: String,
    /// True when nothing would be done.
    pub(crate) is_idle: bool,
    pub(crate) variables: BTreeMap<&'static str, Value>,
}

impl Policies {
    /// Makes policies of what is configured, or tells what is wrong with them.
    pub fn compile(configured: &[Policy]) -> Result<Self, Vec<String>> {
        let mut policies: Vec<Compiled> = Vec::new();
        let mut faults = Vec::new();
        for (position, policy) in configured.iter().enumerate() {
            let fault = match compile(policy) {
                Ok(made) if policies.iter().any(|known| known.name == made.name) => {
                    format!("another policy is named `{}`", made.name)
                }
                Ok(made) => {
                    policies.push(made);
                    continue;
                }
                Err(fault) => fault,
            };
            faults.push(format!("[[policy]] {}: {fault}", position + 1));
        }
        if faults.is_empty() {
            Ok(Self { environment: Arc::new(Env::stdlib()), policies })
        } else {
            Err(faults)
        }
    }

    /// True when some policy is asked for each of these.
    pub fn ask_for(&self, each: Each) -> bool {
        self.policies.iter().any(|policy| policy.each == each)
    }

    /// True when some policy is asked for objects that do not change too.
    pub(crate) fn ask_for_idle(&self) -> bool {
        self.policies.iter().any(|policy| policy.no_op)
    }

    /// The policies that the subject breaks.
    pub(crate) fn broken_by(&self, subject: &Subject) -> Vec<Broken> {
        let asked = self
            .policies
            .iter()
            .filter(|policy| policy.each == subject.each && (policy.no_op || !subject.is_idle));
        let mut broken = Vec::new();
        for policy in asked {
            broken.extend(policy.messages(&subject.variables, &self.environment).into_iter().map(
                |message| Broken {
                    policy: policy.name.clone(),
                    address: subject.address.clone(),
                    deposed: subject.deposed.clone(),
                    message,
                    severity: policy.severity,
                },
            ));
        }
        broken
    }
}

impl Compiled {
    fn messages(
        &self,
        variables: &BTreeMap<&'static str, Value>,
        environment: &Arc<Env>,
    ) -> Vec<String> {
        let budget = Budget::default();
        let mut context = Context::with_env(Arc::clone(environment));
        let mut outcome = budget.attach(&mut context);
        outcome = outcome.and_then(|()| context.add_function("like", like));
        if let Err(error) = outcome {
            return vec![format!("the policy cannot be evaluated: {error}")];
        }
        context.add_variable_from_value("params", self.params.clone());
        for (name, value) in variables {
            context.add_variable_from_value(*name, value.clone());
        }
        let value = Value::resolve(&self.expression, &context);
        if budget.is_spent() {
            return vec![format!(
                "the policy cannot be evaluated: it takes more than {} steps",
                budget::STEPS_MAX
            )];
        }
        match value {
            Ok(Value::Bool(false) | Value::Null) => Vec::new(),
            Ok(Value::Bool(true)) => vec![self.message.clone()],
            Ok(Value::String(message)) if message.is_empty() => Vec::new(),
            Ok(Value::String(message)) => vec![message.to_string()],
            Ok(Value::List(items)) => self.list(&items),
            Ok(other) => vec![not_a_verdict(&other)],
            Err(error) => {
                vec![format!("the policy cannot be evaluated: {}", without_values(&error))]
            }
        }
    }

    /// Of maps the order is open, so messages are sorted.
    fn list(&self, items: &[Value]) -> Vec<String> {
        let mut messages: Vec<String> = items
            .iter()
            .map(|item| match item {
                Value::String(message) => message.to_string(),
                other => not_a_verdict(other),
            })
            .collect();
        messages.sort();
        messages.dedup();
        messages
    }
}

fn not_a_verdict(value: &Value) -> String {
    format!(
        "the policy cannot be evaluated: it gives a {}, and should give true, false, a message or \
         a list of messages",
        value.type_of()
    )
}

/// What went wrong, without the values that it went wrong with.
fn without_values(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(key) => {
            format!("there is no `{key}`; ask first whether it is there, as `has(after.{key})`")
        }
        ExecutionError::NoSuchOverload(overload) => overload.to_string(),
        ExecutionError::UndeclaredReference(name) => format!("nothing is called `{name}`"),
        ExecutionError::UnexpectedType { got, want } => {
            format!("a {got} stands where a {want} should")
        }
        ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) => {
            "it divides by zero".to_owned()
        }
        ExecutionError::Overflow(..) => "a number grows too large".to_owned(),
        ExecutionError::IndexOutOfBounds(_) => "a list is shorter than it expects".to_owned(),
        ExecutionError::FunctionError { function, .. } => format!("`{function}` fails"),
        _ => "a value has another type than it expects".to_owned(),
    }
}

/// `like(text, pattern)`, where `*` stands for any text.
#[expect(clippy::needless_pass_by_value, reason = "functions of expressions take values")]
fn like(text: Arc<String>, pattern: Arc<String>) -> bool {
    Wildcard::new(&pattern).hits(&text)
}

fn compile(policy: &Policy) -> Result<Compiled, String> {
    let built_in = policy.built_in.as_deref().map(library::find).transpose()?;
    let mut params = BTreeMap::new();
    let (name, each, source, message) = match (built_in, &policy.deny) {
        (Some(_), Some(_)) => return Err("it has both `use` and `deny`: one of them".to_owned()),
        (None, None) => return Err("it has neither `use` nor `deny`".to_owned()),
        (Some(built_in), None) => {
            if policy.each.is_some() {
                return Err(format!("`{}` says itself what it is asked for", built_in.name));
            }
            params = library::params(built_in, &policy.params)?;
            let message = policy.message.as_deref().unwrap_or(built_in.summary);
            (built_in.name, built_in.each, built_in.deny, message)
        }
        (None, Some(deny)) => {
            let each = policy.each.ok_or("it lacks `each`: \"change\", \"finding\" or \"plan\"")?;
            let name = policy.name.as_deref().ok_or("it lacks a `name`")?;
            params.extend(policy.params.clone());
            (name, each, deny.as_str(), policy.message.as_deref().unwrap_or("it is not allowed"))
        }
    };
    let name = policy.name.as_deref().unwrap_or(name).to_owned();
    let parsed =
        budget::parse(source).map_err(|fault| format!("`{name}` is no expression: {fault}"))?;
    let (expression, free) = budget::charged(&parsed);
    let unknown = free.iter().find(|name| {
        *name != "params" && !each.variables().contains(&name.as_str()) && !budget::is_type(name)
    });
    if let Some(unknown) = unknown {
        return Err(format!(
            "`{name}` names `{unknown}`; for each {} there are params, {}",
            each.name(),
            each.variables().join(", ")
        ));
    }
    let severity = policy.severity.or(built_in.map(|it| it.severity)).unwrap_or(Severity::High);
    let params = serde_json::Value::from_iter(params);
    Ok(Compiled {
        name,
        each,
        expression,
        message: message.to_owned(),
        severity,
        no_op: policy.no_op,
        params: value::from_json(&params),
    })
}
