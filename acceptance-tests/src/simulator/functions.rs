//! Calls of functions: the same twice, of the type that was promised, and known of known arguments.

use anyhow::{Context, Result, bail, ensure};
use proto::tfplugin6 as pb;
use provider::{
    framework::{FunctionError, Value},
    functions::FUNCTIONS,
    wire,
};

use super::Simulator;

impl Simulator {
    /// The result of a function, or the error that its caller is shown.
    pub async fn call(&self, name: &str, given: &[Value]) -> Result<Result<Value, FunctionError>> {
        let function = FUNCTIONS.iter().find(|function| function.name() == name);
        let signature = function.with_context(|| format!("no function `{name}`"))?.signature();
        let encode = |(at, argument): (usize, &Value)| {
            let parameter = signature.parameter(at);
            let parameter = parameter.with_context(|| format!("`{name}` takes fewer arguments"))?;
            anyhow::Ok(wire::encode(&parameter.ty, argument)?)
        };
        let arguments = given.iter().enumerate().map(encode).collect::<Result<_>>()?;
        let request = pb::call_function::Request { name: name.to_owned(), arguments };
        let mut client = self.client();
        let answer = client.call_function(request.clone()).await?.into_inner();
        let again = client.call_function(request).await?.into_inner();
        ensure!(answer == again, "`{name}` gives another result for the same arguments");
        match (answer.result, answer.error) {
            (_, Some(error)) => {
                let argument = error.function_argument.map(usize::try_from).transpose()?;
                ensure!(!error.text.trim().is_empty(), "`{name}` fails without a word");
                ensure!(
                    argument.is_none_or(|argument| argument < given.len()),
                    "`{name}` finds fault with an argument that was not given: {argument:?}"
                );
                Ok(Err(FunctionError { text: error.text, argument }))
            }
            (Some(result), None) => {
                let result = wire::decode(&signature.returns, Some(&result))?;
                let is_promised = given.iter().all(Value::is_wholly_known);
                ensure!(result.is_wholly_known() || !is_promised, "`{name}` left its result open");
                Ok(Ok(result))
            }
            (None, None) => bail!("`{name}` has neither a result nor an error"),
        }
    }
}
