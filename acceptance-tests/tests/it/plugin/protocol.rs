//! Each of the 36 calls answers, in any order.

use acceptance_tests::simulator::plugin::{Plugin, client, plugin_command};
use proto::tfplugin6::{self as pb, DynamicValue};
use tonic::Code;

macro_rules! unserved {
    ($client:ident: $($method:ident($module:ident)),* $(,)?) => {$(
        let refused = $client.$method(pb::$module::Request::default()).await.map(drop);
        assert_eq!(refused.unwrap_err().code(), Code::Unimplemented, stringify!($method));
    )*};
}

#[tokio::test]
async fn kinds_that_the_provider_has_none_of_are_unimplemented() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = Plugin::start(plugin_command(folder.path(), None).unwrap()).await.unwrap();
    let channel = plugin.channel(None).await.unwrap();
    let mut client = client(channel.clone());
    unserved!(client:
        validate_state_store_config(validate_state_store),
        configure_state_store(configure_state_store),
        read_state_bytes(read_state_bytes),
        lock_state(lock_state),
        unlock_state(unlock_state),
        get_states(get_states),
        delete_state(delete_state),
    );
    let chunks = tokio_stream::once(pb::write_state_bytes::RequestChunk::default());
    let refused = client.write_state_bytes(chunks).await.map(drop);
    assert_eq!(refused.unwrap_err().code(), Code::Unimplemented);
    assert!(plugin.shut_down(channel).await.unwrap().0.success());
}

macro_rules! diagnosed {
    ($client:ident: $($method:ident($request:expr)),* $(,)?) => {$(
        let answer = $client.$method($request).await.expect(stringify!($method)).into_inner();
        assert!(!answer.diagnostics.is_empty(), stringify!($method));
    )*};
}

/// Nonsense first, without a schema call before it: a diagnostic each, and the process lives on.
#[tokio::test]
async fn nonsense_is_answered_with_diagnostics() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = Plugin::start(plugin_command(folder.path(), None).unwrap()).await.unwrap();
    let channel = plugin.channel(None).await.unwrap();
    let mut client = client(channel.clone());
    let environment = "runtimecloud_environment".to_owned();
    let nonsense = Some(DynamicValue { msgpack: b"\xdf\xff\xff\xff\xff".to_vec(), json: vec![] });
    diagnosed!(client:
        validate_resource_config(pb::validate_resource_config::Request::default()),
        validate_data_resource_config(pb::validate_data_resource_config::Request::default()),
        read_resource(pb::read_resource::Request::default()),
        plan_resource_change(pb::plan_resource_change::Request::default()),
        apply_resource_change(pb::apply_resource_change::Request::default()),
        import_resource_state(pb::import_resource_state::Request::default()),
        generate_resource_config(pb::generate_resource_config::Request::default()),
        move_resource_state(pb::move_resource_state::Request::default()),
        upgrade_resource_state(pb::upgrade_resource_state::Request::default()),
        read_data_source(pb::read_data_source::Request::default()),
        validate_ephemeral_resource_config(
            pb::validate_ephemeral_resource_config::Request::default()
        ),
        open_ephemeral_resource(pb::open_ephemeral_resource::Request::default()),
        renew_ephemeral_resource(pb::renew_ephemeral_resource::Request::default()),
        close_ephemeral_resource(pb::close_ephemeral_resource::Request::default()),
        upgrade_resource_identity(pb::upgrade_resource_identity::Request::default()),
        validate_list_resource_config(pb::validate_list_resource_config::Request::default()),
        validate_action_config(pb::validate_action_config::Request::default()),
        plan_action(pb::plan_action::Request::default()),
        validate_provider_config(pb::validate_provider_config::Request { config: nonsense.clone() }),
        configure_provider(pb::configure_provider::Request {
            config: nonsense.clone(),
            ..Default::default()
        }),
        plan_resource_change(pb::plan_resource_change::Request {
            type_name: environment.clone(),
            config: nonsense.clone(),
            ..Default::default()
        }),
        upgrade_resource_state(pb::upgrade_resource_state::Request {
            type_name: environment.clone(),
            version: 99,
            raw_state: Some(pb::RawState { json: b"{}".to_vec(), ..Default::default() }),
        }),
        upgrade_resource_state(pb::upgrade_resource_state::Request {
            type_name: environment,
            version: 0,
            raw_state: Some(pb::RawState { json: b"[1,".to_vec(), ..Default::default() }),
        }),
    );
    let request = pb::list_resource::Request::default();
    let mut events = client.list_resource(request).await.unwrap().into_inner();
    assert!(!events.message().await.unwrap().unwrap().diagnostic.is_empty());
    assert!(events.message().await.unwrap().is_none());
    let request = pb::get_metadata::Request {};
    assert!(client.get_metadata(request).await.unwrap().into_inner().diagnostics.is_empty());
    let call = client.call_function(pb::call_function::Request::default()).await.unwrap();
    assert!(call.into_inner().error.is_some());
    assert!(client.get_functions(pb::get_functions::Request {}).await.is_ok());
    let request = pb::get_resource_identity_schemas::Request {};
    assert!(client.get_resource_identity_schemas(request).await.is_ok());
    assert!(plugin.shut_down(channel).await.unwrap().0.success());
}

#[tokio::test]
async fn declared_capabilities_are_the_implemented_ones() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = Plugin::start(plugin_command(folder.path(), None).unwrap()).await.unwrap();
    let channel = plugin.channel(None).await.unwrap();
    let request = pb::get_provider_schema::Request {};
    let schema = client(channel.clone()).get_provider_schema(request).await.unwrap().into_inner();
    let capabilities = schema.server_capabilities.unwrap();
    assert!(capabilities.plan_destroy && capabilities.get_provider_schema_optional);
    assert!(capabilities.move_resource_state && capabilities.generate_resource_config);
    assert!(plugin.shut_down(channel).await.unwrap().0.success());
}
