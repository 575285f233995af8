//! The 36 calls of the protocol, each led to the place that answers it.
//!
//! State stores, which no provider here has, answer "unimplemented", which both CLIs take for "has
//! none".

use super::{
    Server, action,
    guard::{Subject, answer, answer_function},
};
use crate::framework::{Diagnostics, Provider};
use proto::tfplugin6::{self as pb, provider_server};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming, async_trait};

type Answer<T> = Result<Response<T>, Status>;
type Nothing<T> = tokio_stream::Empty<Result<T, Status>>;

/// Answers with what a method of the server makes of the request.
macro_rules! call {
    (
        $server:ident.$method:ident, $rpc:literal,
        $kind:ident $(($name:ident))?, $request:ident $(, $await:tt)?
    ) => {{
        let request = $request.into_inner();
        let subject = Subject::$kind$((request.$name.clone()))?;
        answer($rpc, subject, async move {
            let mut diagnostics = Diagnostics::new();
            let result = call!(@run $server.$method(request, &mut diagnostics) $(, $await)?);
            (result, diagnostics)
        })
        .await
    }};
    (@run $server:ident.$method:ident($request:ident, $diagnostics:expr)) => {
        $server.$method(&$request, $diagnostics)
    };
    (@run $server:ident.$method:ident($request:ident, $diagnostics:expr), await) => {
        $server.$method($request, $diagnostics).await
    };
}

fn unserved<T>() -> Answer<T> {
    Err(Status::unimplemented("this provider has nothing of this kind"))
}

#[async_trait]
impl<P: Provider> provider_server::Provider for Server<P> {
    async fn get_metadata(
        &self,
        _request: Request<pb::get_metadata::Request>,
    ) -> Answer<pb::get_metadata::Response> {
        answer("GetMetadata", Subject::Provider, async {
            (Ok(self.metadata()), Diagnostics::new())
        })
        .await
    }

    async fn get_provider_schema(
        &self,
        _request: Request<pb::get_provider_schema::Request>,
    ) -> Answer<pb::get_provider_schema::Response> {
        answer("GetProviderSchema", Subject::Provider, async {
            (Ok(self.provider_schema()), Diagnostics::new())
        })
        .await
    }

    async fn get_resource_identity_schemas(
        &self,
        _request: Request<pb::get_resource_identity_schemas::Request>,
    ) -> Answer<pb::get_resource_identity_schemas::Response> {
        answer("GetResourceIdentitySchemas", Subject::Provider, async {
            (Ok(self.identity_schemas()), Diagnostics::new())
        })
        .await
    }

    async fn validate_provider_config(
        &self,
        request: Request<pb::validate_provider_config::Request>,
    ) -> Answer<pb::validate_provider_config::Response> {
        call!(self.validate_provider, "ValidateProviderConfig", Provider, request)
    }

    async fn validate_resource_config(
        &self,
        request: Request<pb::validate_resource_config::Request>,
    ) -> Answer<pb::validate_resource_config::Response> {
        call!(self.validate_resource, "ValidateResourceConfig", Resource(type_name), request)
    }

    async fn validate_data_resource_config(
        &self,
        request: Request<pb::validate_data_resource_config::Request>,
    ) -> Answer<pb::validate_data_resource_config::Response> {
        call!(
            self.validate_data_source,
            "ValidateDataResourceConfig",
            DataSource(type_name),
            request
        )
    }

    async fn configure_provider(
        &self,
        request: Request<pb::configure_provider::Request>,
    ) -> Answer<pb::configure_provider::Response> {
        call!(self.configure, "ConfigureProvider", Provider, request, await)
    }

    async fn upgrade_resource_state(
        &self,
        request: Request<pb::upgrade_resource_state::Request>,
    ) -> Answer<pb::upgrade_resource_state::Response> {
        call!(self.upgrade, "UpgradeResourceState", Resource(type_name), request)
    }

    async fn read_resource(
        &self,
        request: Request<pb::read_resource::Request>,
    ) -> Answer<pb::read_resource::Response> {
        call!(self.read, "ReadResource", Resource(type_name), request, await)
    }

    async fn plan_resource_change(
        &self,
        request: Request<pb::plan_resource_change::Request>,
    ) -> Answer<pb::plan_resource_change::Response> {
        call!(self.plan, "PlanResourceChange", Resource(type_name), request, await)
    }

    async fn apply_resource_change(
        &self,
        request: Request<pb::apply_resource_change::Request>,
    ) -> Answer<pb::apply_resource_change::Response> {
        call!(self.apply, "ApplyResourceChange", Resource(type_name), request, await)
    }

    async fn import_resource_state(
        &self,
        request: Request<pb::import_resource_state::Request>,
    ) -> Answer<pb::import_resource_state::Response> {
        call!(self.import, "ImportResourceState", Resource(type_name), request, await)
    }

    async fn generate_resource_config(
        &self,
        request: Request<pb::generate_resource_config::Request>,
    ) -> Answer<pb::generate_resource_config::Response> {
        call!(self.generate, "GenerateResourceConfig", Resource(type_name), request)
    }

    async fn move_resource_state(
        &self,
        request: Request<pb::move_resource_state::Request>,
    ) -> Answer<pb::move_resource_state::Response> {
        call!(self.move_state, "MoveResourceState", Resource(target_type_name), request)
    }

    async fn read_data_source(
        &self,
        request: Request<pb::read_data_source::Request>,
    ) -> Answer<pb::read_data_source::Response> {
        call!(self.read_data_source, "ReadDataSource", DataSource(type_name), request, await)
    }

    async fn stop_provider(
        &self,
        _request: Request<pb::stop_provider::Request>,
    ) -> Answer<pb::stop_provider::Response> {
        self.stop();
        Ok(Response::new(Default::default()))
    }

    async fn get_functions(
        &self,
        _request: Request<pb::get_functions::Request>,
    ) -> Answer<pb::get_functions::Response> {
        answer("GetFunctions", Subject::Provider, async {
            let functions = self.functions();
            let response = pb::get_functions::Response { functions, ..Default::default() };
            (Ok(response), Diagnostics::new())
        })
        .await
    }

    type ListResourceStream = ReceiverStream<Result<pb::list_resource::Event, Status>>;

    async fn list_resource(
        &self,
        request: Request<pb::list_resource::Request>,
    ) -> Answer<Self::ListResourceStream> {
        Ok(Response::new(self.list(request.get_ref())))
    }

    type InvokeActionStream = action::Events;

    async fn invoke_action(
        &self,
        request: Request<pb::invoke_action::Request>,
    ) -> Answer<Self::InvokeActionStream> {
        Ok(Response::new(self.invocation(request.get_ref())))
    }

    type ReadStateBytesStream = Nothing<pb::read_state_bytes::Response>;

    async fn read_state_bytes(
        &self,
        _request: Request<pb::read_state_bytes::Request>,
    ) -> Answer<Self::ReadStateBytesStream> {
        unserved()
    }

    async fn write_state_bytes(
        &self,
        _request: Request<Streaming<pb::write_state_bytes::RequestChunk>>,
    ) -> Answer<pb::write_state_bytes::Response> {
        unserved()
    }

    async fn validate_ephemeral_resource_config(
        &self,
        request: Request<pb::validate_ephemeral_resource_config::Request>,
    ) -> Answer<pb::validate_ephemeral_resource_config::Response> {
        call!(
            self.validate_ephemeral,
            "ValidateEphemeralResourceConfig",
            EphemeralResource(type_name),
            request
        )
    }

    async fn validate_list_resource_config(
        &self,
        request: Request<pb::validate_list_resource_config::Request>,
    ) -> Answer<pb::validate_list_resource_config::Response> {
        call!(self.validate_list, "ValidateListResourceConfig", ListResource(type_name), request)
    }

    async fn validate_action_config(
        &self,
        request: Request<pb::validate_action_config::Request>,
    ) -> Answer<pb::validate_action_config::Response> {
        call!(self.validate_action, "ValidateActionConfig", Action(type_name), request)
    }

    async fn upgrade_resource_identity(
        &self,
        request: Request<pb::upgrade_resource_identity::Request>,
    ) -> Answer<pb::upgrade_resource_identity::Response> {
        call!(self.upgrade_identity, "UpgradeResourceIdentity", Resource(type_name), request)
    }

    async fn open_ephemeral_resource(
        &self,
        request: Request<pb::open_ephemeral_resource::Request>,
    ) -> Answer<pb::open_ephemeral_resource::Response> {
        call!(self.open, "OpenEphemeralResource", EphemeralResource(type_name), request, await)
    }

    async fn renew_ephemeral_resource(
        &self,
        request: Request<pb::renew_ephemeral_resource::Request>,
    ) -> Answer<pb::renew_ephemeral_resource::Response> {
        call!(self.renew, "RenewEphemeralResource", EphemeralResource(type_name), request, await)
    }

    async fn close_ephemeral_resource(
        &self,
        request: Request<pb::close_ephemeral_resource::Request>,
    ) -> Answer<pb::close_ephemeral_resource::Response> {
        call!(self.close, "CloseEphemeralResource", EphemeralResource(type_name), request, await)
    }

    async fn call_function(
        &self,
        request: Request<pb::call_function::Request>,
    ) -> Answer<pb::call_function::Response> {
        let request = request.into_inner();
        Ok(answer_function(request.name.clone(), || self.call(&request)))
    }

    async fn plan_action(
        &self,
        request: Request<pb::plan_action::Request>,
    ) -> Answer<pb::plan_action::Response> {
        call!(self.plan_of_action, "PlanAction", Action(action_type), request, await)
    }

    async fn validate_state_store_config(
        &self,
        _request: Request<pb::validate_state_store::Request>,
    ) -> Answer<pb::validate_state_store::Response> {
        unserved()
    }

    async fn configure_state_store(
        &self,
        _request: Request<pb::configure_state_store::Request>,
    ) -> Answer<pb::configure_state_store::Response> {
        unserved()
    }

    async fn lock_state(
        &self,
        _request: Request<pb::lock_state::Request>,
    ) -> Answer<pb::lock_state::Response> {
        unserved()
    }

    async fn unlock_state(
        &self,
        _request: Request<pb::unlock_state::Request>,
    ) -> Answer<pb::unlock_state::Response> {
        unserved()
    }

    async fn get_states(
        &self,
        _request: Request<pb::get_states::Request>,
    ) -> Answer<pb::get_states::Response> {
        unserved()
    }

    async fn delete_state(
        &self,
        _request: Request<pb::delete_state::Request>,
    ) -> Answer<pb::delete_state::Response> {
        unserved()
    }
}
