//! The call of a function.

use super::Server;
use crate::{
    framework::{Function, FunctionError, Parameter, Provider, Value, evaluate},
    wire,
};
use proto::tfplugin6::{self as pb, DynamicValue};

impl<P: Provider> Server<P> {
    pub(super) fn call(
        &self,
        request: &pb::call_function::Request,
    ) -> Result<DynamicValue, FunctionError> {
        let function = self.function(&request.name)?;
        let signature = function.signature();
        signature.check_count(request.arguments.len())?;
        let parameters = signature.parameters.iter().chain(signature.variadic.iter().cycle());
        let read = |(at, (argument, parameter)): (usize, (&DynamicValue, &Parameter))| {
            wire::decode(&parameter.ty, Some(argument))
                .map_err(|error| FunctionError::of_argument(at, format!("The CLI sent {error}.")))
        };
        let arguments = request.arguments.iter().zip(parameters).enumerate().map(read);
        let arguments: Vec<Value> = arguments.collect::<Result<_, _>>()?;
        let result = evaluate(function, &arguments)?;
        wire::encode(&signature.returns, &result).map_err(|error| {
            FunctionError::of_call(format!(
                "The provider produced {error}. This is a bug in the provider; please report it."
            ))
        })
    }

    fn function(&self, name: &str) -> Result<&'static dyn Function, FunctionError> {
        let found = self.provider.functions().iter().find(|f| f.name() == name);
        found.copied().ok_or_else(|| {
            FunctionError::of_call(format!(
                "This version of the provider has no function `{name}`. Check the name, or the \
                 version constraint of the provider."
            ))
        })
    }
}
