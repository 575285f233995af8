//! Who gets in, with what, and what hostile callers get.

use proto::runtimecloud::v1;
use tonic::{Code, Request, client::Grpc, transport::Channel};
use tonic_health::pb::health_client::HealthClient;
use tonic_types::StatusExt;

use crate::world::{
    PATIENCE, World, delete, faults, get, new_pool, new_token, quota_spec, reason, sleepers,
};

async fn channel(world: &World) -> Channel {
    Channel::from_shared(world.endpoint.clone()).unwrap().connect().await.unwrap()
}

async fn token(world: &World, name: &str, role: v1::Role) -> String {
    world.api().await.token(new_token(name, role)).await.secret
}

pub(crate) fn expiring(
    mut request: v1::CreateTokenRequest,
    seconds: i64,
) -> v1::CreateTokenRequest {
    let expires_at = Some(prost_types::Timestamp { seconds, nanos: 0 });
    request.spec.as_mut().unwrap().expires_at = expires_at;
    request
}

#[tokio::test]
async fn without_a_good_token_nothing_but_health_answers() {
    let world = World::start();
    let mut health = HealthClient::new(channel(&world).await);
    let request = tonic_health::pb::HealthCheckRequest { service: String::new() };
    health.check(request).await.unwrap();

    let mut host = v1::host_client::HostClient::new(channel(&world).await);
    let status = host.get_info(v1::GetInfoRequest {}).await.unwrap_err();
    assert_eq!((status.code(), reason(&status).as_str()), (Code::Unauthenticated, "NO_TOKEN"));
    assert!(status.message().contains("admin.token"), "{}", status.message());
    for secret in ["wrong", "rct_", &"x".repeat(5000)] {
        let mut api = world.api_as(secret).await;
        let status = api.host.get_info(v1::GetInfoRequest {}).await.unwrap_err();
        assert_eq!((status.code(), reason(&status).as_str()), (Code::Unauthenticated, "BAD_TOKEN"));
    }
    let mut reflection =
        tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient::new(
            channel(&world).await,
        );
    let status = reflection.server_reflection_info(tokio_stream::empty()).await.unwrap_err();
    assert_eq!(status.code(), Code::Unauthenticated);
}

#[tokio::test]
async fn each_role_may_what_it_says() {
    let world = World::start();
    let mut viewer = world.api_as(&token(&world, "looks", v1::Role::Viewer).await).await;
    let mut editor = world.api_as(&token(&world, "edits", v1::Role::Editor).await).await;
    viewer.quotas.list(v1::ListRequest::default()).await.unwrap();
    let create = v1::CreateQuotaRequest {
        name: "team".to_owned(),
        spec: Some(quota_spec(&[])),
        ..v1::CreateQuotaRequest::default()
    };
    let status = viewer.quotas.create(create.clone()).await.unwrap_err();
    assert_eq!((status.code(), reason(&status).as_str()), (Code::PermissionDenied, "ROLE_TOO_LOW"));
    editor.quotas.create(create).await.unwrap();
    let status = editor.tokens.list(v1::ListRequest::default()).await.unwrap_err();
    assert_eq!(status.code(), Code::PermissionDenied);
    let event = world.api().await.all_events().await.pop().unwrap();
    assert_eq!(event.actor, "edits");
}

#[tokio::test]
async fn a_revoked_token_is_refused_from_then_on() {
    let world = World::start();
    let mut admin = world.api().await;
    let mut viewer = world.api_as(&token(&world, "looks", v1::Role::Viewer).await).await;
    let watch = v1::WatchEventsRequest { follow: true, ..v1::WatchEventsRequest::default() };
    let mut stream = viewer.events.watch(watch).await.unwrap().into_inner();
    stream.message().await.unwrap().unwrap();
    let revoked = admin.tokens.delete(delete("looks")).await.unwrap().into_inner();
    assert!(revoked.observed.as_ref().unwrap().revoked_at.is_some());
    let status = viewer.host.get_info(v1::GetInfoRequest {}).await.unwrap_err();
    assert_eq!(status.code(), Code::Unauthenticated);
    assert!(status.message().contains("`looks` was revoked"), "{}", status.message());
    assert_eq!(how_it_ends(stream).await.code(), Code::Unauthenticated);
    let status = admin.tokens.delete(delete("admin")).await.unwrap_err();
    assert_eq!(reason(&status), "LAST_ADMINISTRATOR");
    let id = &revoked.metadata.as_ref().unwrap().id;
    let again = admin.tokens.delete(delete(id)).await.unwrap().into_inner();
    assert_eq!(again.metadata, revoked.metadata);
}

#[tokio::test]
async fn a_token_is_good_until_it_expires() {
    let world = World::start();
    let now = jiff::Timestamp::now().as_second();
    let token = |seconds| expiring(new_token("brief", v1::Role::Viewer), seconds);
    let mut admin = world.api().await;
    let status = admin.tokens.create(token(now - 1)).await.unwrap_err();
    assert!(faults(&status)[0].starts_with("spec.expires_at: "));
    let secret = admin.tokens.create(token(now + 2)).await.unwrap().into_inner().secret;
    let mut brief = world.api_as(&secret).await;
    crate::world::until("the token to expire", async || {
        let answer = brief.host.get_info(v1::GetInfoRequest {}).await;
        answer.err().map(|status| assert_eq!(reason(&status), "BAD_TOKEN"))
    })
    .await;
}

/// How a stream that follows something ends.
pub(crate) async fn how_it_ends<T>(mut stream: tonic::Streaming<T>) -> tonic::Status {
    let end = async {
        loop {
            match stream.message().await {
                Ok(Some(_)) => {}
                Ok(None) => panic!("the stream ended without saying why"),
                Err(status) => break status,
            }
        }
    };
    tokio::time::timeout(PATIENCE, end).await.expect("the stream ends")
}

#[tokio::test]
async fn streams_in_which_nothing_happens_end_with_their_token() {
    let world = World::start();
    let mut admin = world.api().await;
    admin.usual().await;
    admin.pools.create(new_pool("web", sleepers(1))).await.unwrap();
    admin.ready("dev/web").await;
    let worker = admin.workers_of("dev/web").await.remove(0).id;
    let mut viewer = world.api_as(&token(&world, "looks", v1::Role::Viewer).await).await;
    let logs = v1::LogsRequest { key: worker, follow: true, tail_lines: 0 };
    let logs = viewer.workers.logs(logs).await.unwrap().into_inner();
    admin.tokens.delete(delete("looks")).await.unwrap();
    assert_eq!(how_it_ends(logs).await.code(), Code::Unauthenticated);

    let end = jiff::Timestamp::now().as_second() + 3;
    let secret = admin.token(expiring(new_token("brief", v1::Role::Viewer), end)).await.secret;
    let mut brief = world.api_as(&secret).await;
    let watch = v1::WatchEventsRequest { follow: true, ..v1::WatchEventsRequest::default() };
    let events = brief.events.watch(watch).await.unwrap().into_inner();
    assert_eq!(how_it_ends(events).await.code(), Code::Unauthenticated);
}

#[tokio::test]
async fn noise_on_the_port_disturbs_nobody() {
    use tokio::io::AsyncWriteExt;
    let world = World::start();
    let address = world.endpoint.strip_prefix("http://").unwrap();
    for noise in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0; 5000], &[0xff; 5000]] {
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        stream.write_all(noise).await.unwrap();
    }
    world.api().await.host.get_info(v1::GetInfoRequest {}).await.unwrap();
}

#[tokio::test]
async fn a_request_id_goes_in_and_comes_out() {
    let world = World::start();
    let mut api = world.api().await;
    let mut request = Request::new(get("nothing"));
    request.metadata_mut().insert("x-request-id", "mine-1".parse().unwrap());
    let status = api.quotas.get(request).await.unwrap_err();
    assert_eq!(status.get_details_request_info().unwrap().request_id, "mine-1");
    assert_eq!(status.metadata().get("x-request-id").unwrap(), "mine-1");
    let response = api.host.get_info(v1::GetInfoRequest {}).await.unwrap();
    assert_eq!(response.metadata().get("x-request-id").unwrap().len(), 36);
}

#[tokio::test]
async fn hostile_fields_are_told_as_faults() {
    let world = World::start();
    let mut api = world.api().await;
    api.usual().await;
    let mut long = new_pool(&"x".repeat(100_000), sleepers(1));
    let status = api.pools.create(long.clone()).await.unwrap_err();
    assert!(status.message().len() < 1_000, "a huge name is not sent back");
    assert_eq!(faults(&status).len(), 1);
    long.name = "web\n\u{1b}[31m".to_owned();
    assert!(!faults(&api.pools.create(long).await.unwrap_err())[0].contains('\u{1b}'));

    let mut role = new_token("me", v1::Role::Viewer);
    role.spec.as_mut().unwrap().role = 77;
    assert!(faults(&api.tokens.create(role).await.unwrap_err())[0].starts_with("spec.role: "));
    let bad_time = prost_types::Timestamp { seconds: i64::MAX, nanos: -5 };
    let mut time = new_token("me", v1::Role::Viewer);
    time.spec.as_mut().unwrap().expires_at = Some(bad_time);
    let status = api.tokens.create(time).await.unwrap_err();
    assert!(faults(&status)[0].starts_with("spec.expires_at: "));
    let empty = v1::CreateQuotaRequest::default();
    assert_eq!(faults(&api.quotas.create(empty).await.unwrap_err()).len(), 2);
    let page = v1::ListRequest { page_token: "%%".to_owned(), ..v1::ListRequest::default() };
    assert_eq!(api.quotas.list(page).await.unwrap_err().code(), Code::InvalidArgument);
    let types = v1::WatchEventsRequest { types: vec!["Nothing".to_owned()], ..Default::default() };
    assert_eq!(api.events.watch(types).await.unwrap_err().code(), Code::InvalidArgument);
    let mut variables = sleepers(1);
    variables.worker.as_mut().unwrap().shape =
        Some(crate::world::amounts(&[("cpu", u64::MAX), ("memory", u64::MAX)]));
    variables.size = 2;
    let status = api.pools.create(new_pool("huge", variables)).await.unwrap_err();
    assert_eq!(faults(&status).len(), 2);
}

/// Sends bytes that are no message.
struct Bytes;

#[derive(Clone, Default)]
struct RawCodec;

impl tonic::codec::Codec for RawCodec {
    type Encode = Vec<u8>;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl tonic::codec::Encoder for RawCodec {
    type Item = Vec<u8>;
    type Error = tonic::Status;

    fn encode(
        &mut self,
        item: Vec<u8>,
        out: &mut tonic::codec::EncodeBuf<'_>,
    ) -> Result<(), tonic::Status> {
        prost::bytes::BufMut::put_slice(out, &item);
        Ok(())
    }
}

impl tonic::codec::Decoder for RawCodec {
    type Item = Bytes;
    type Error = tonic::Status;

    fn decode(
        &mut self,
        _: &mut tonic::codec::DecodeBuf<'_>,
    ) -> Result<Option<Bytes>, tonic::Status> {
        Ok(Some(Bytes))
    }
}

#[tokio::test]
async fn bytes_that_are_no_message_and_huge_messages_are_refused_and_the_host_goes_on() {
    let world = World::start();
    let mut api = world.api().await;
    let bearer = format!("Bearer {}", world.admin_token());
    let mut state = 7_u64;
    let mut random = |length| -> Vec<u8> {
        let mut byte = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state.to_le_bytes()[7]
        };
        (0..length).map(|_| byte()).collect()
    };
    for path in ["/runtimecloud.v1.WorkerPools/Create", "/runtimecloud.v1.Nothing/At/All"] {
        for length in [1, 10, 100, 10_000, 2 << 20] {
            let mut grpc = Grpc::new(channel(&world).await);
            grpc.ready().await.unwrap();
            let mut request = Request::new(random(length));
            request.metadata_mut().insert("authorization", bearer.parse().unwrap());
            let path = path.parse().unwrap();
            let answer = grpc.unary(request, path, RawCodec).await;
            assert!(answer.is_err(), "{length} random bytes were taken for a message");
        }
    }
    api.host.get_info(v1::GetInfoRequest {}).await.unwrap();
}

#[tokio::test]
async fn reflection_lists_every_service() {
    use tonic_reflection::pb::v1::{
        ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
        server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
    };
    let world = World::start();
    let bearer = crate::world::Bearer(world.admin_token());
    let mut client = ServerReflectionClient::with_interceptor(channel(&world).await, bearer);
    let list = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let mut answers =
        client.server_reflection_info(tokio_stream::once(list)).await.unwrap().into_inner();
    let answer = answers.message().await.unwrap().unwrap().message_response.unwrap();
    let MessageResponse::ListServicesResponse(services) = answer else { panic!("{answer:?}") };
    let names: Vec<_> = services.service.into_iter().map(|service| service.name).collect();
    for noun in [
        "CapacityTargets",
        "Environments",
        "Quotas",
        "ServiceAccounts",
        "Tokens",
        "WorkerPools",
        "Workers",
    ] {
        assert!(names.contains(&format!("runtimecloud.v1.{noun}")), "{noun}: {names:?}");
    }
}
