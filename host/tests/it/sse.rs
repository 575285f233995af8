//! The event log as server-sent events, read as any HTTP client would.

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    net::TcpStream,
    time::timeout,
};

use crate::world::{PATIENCE, World, new_token};

struct Reader {
    lines: Lines<BufReader<TcpStream>>,
    status: u16,
    head: String,
}

#[derive(Debug, Default)]
struct Message {
    id: String,
    event: String,
    data: String,
    is_comment: bool,
}

async fn ask(world: &World, method: &str, target: &str, headers: &[(&str, &str)]) -> Reader {
    let address = world.endpoint.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut request = format!("{method} {target} HTTP/1.1\r\nhost: {address}\r\n");
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut lines = BufReader::new(stream).lines();
    let mut head = String::new();
    loop {
        let line = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
        if line.is_empty() {
            break;
        }
        head.push_str(&format!("{}\n", line.to_lowercase()));
    }
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Reader { lines, status, head }
}

async fn open(world: &World, token: &str, target: &str, more: &[(&str, &str)]) -> Reader {
    let bearer = format!("Bearer {token}");
    let headers: Vec<_> =
        [("authorization", bearer.as_str())].into_iter().chain(more.to_vec()).collect();
    ask(world, "GET", target, &headers).await
}

impl Reader {
    async fn line(&mut self) -> Option<String> {
        timeout(PATIENCE, self.lines.next_line()).await.unwrap().unwrap()
    }

    /// The next message; none at the end of the stream.
    async fn message(&mut self) -> Option<Message> {
        let mut message = Message::default();
        loop {
            // Lengths of chunks stand between.
            let line = self.line().await?;
            match line.split_once(": ").or(line.split_once(':')) {
                Some(("id", value)) => message.id = value.to_owned(),
                Some(("event", value)) => message.event = value.to_owned(),
                Some(("data", value)) => message.data = value.to_owned(),
                Some(("", _)) => message.is_comment = true,
                _ if line.is_empty() && (!message.data.is_empty() || message.is_comment) => {
                    return Some(message);
                }
                _ => {}
            }
        }
    }

    async fn event(&mut self) -> (Message, Value) {
        loop {
            let message = self.message().await.unwrap();
            if message.event.is_empty() && !message.data.is_empty() {
                let event = serde_json::from_str(&message.data).unwrap();
                return (message, event);
            }
        }
    }

    /// A refusal's problem.
    async fn problem(mut self) -> Value {
        assert!(self.head.contains("content-type: application/problem+json"), "{}", self.head);
        loop {
            let line = self.line().await.unwrap();
            if let Ok(problem @ Value::Object(_)) = serde_json::from_str(&line) {
                return problem;
            }
            // Without a line's end there is no line.
            assert!(!line.starts_with('{'), "{line}");
        }
    }
}

#[tokio::test]
async fn a_stream_goes_on_from_the_last_id_that_its_reader_has() {
    let world = World::start();
    let mut api = world.api().await;
    api.quota("first", &[]).await;
    let admin = world.admin_token();
    let mut stream = open(&world, &admin, "/v1/events?after=0", &[]).await;
    assert_eq!(stream.status, 200);
    assert!(stream.head.contains("content-type: text/event-stream"), "{}", stream.head);
    let first = loop {
        let (message, event) = stream.event().await;
        if event["subjectname"] == "first" {
            break message;
        }
    };
    api.quota("second", &[]).await;
    let (second, event) = stream.event().await;
    assert_eq!((&event["specversion"], &event["subjectname"]), (&"1.0".into(), &"second".into()));
    drop(stream);
    // What a browser does: the same address, and the last id in a header that goes before it.
    let more = [("last-event-id", first.id.as_str())];
    let mut again = open(&world, &admin, "/v1/events?after=0", &more).await;
    let (message, again_event) = again.event().await;
    assert_eq!((message.id, again_event), (second.id, event));
}

#[tokio::test]
async fn without_a_position_a_stream_begins_now_and_filters_what_it_sends() {
    let world = World::start();
    let mut api = world.api().await;
    api.quota("before", &[]).await;
    let target = "/v1/events?type=CapacityLeaseGranted&type=QuotaChanged";
    let mut stream = open(&world, &world.admin_token(), target, &[]).await;
    let begin = stream.message().await.unwrap();
    assert_eq!(begin.event, "bookmark");
    api.quota("after", &[("cpu", Some(5), None)]).await;
    // It fits no type, so all that comes is how far the log was read.
    let bookmark = stream.message().await.unwrap();
    if bookmark.event == "bookmark" {
        assert_ne!(bookmark.id, begin.id);
    } else {
        assert!(bookmark.data.contains("QuotaChanged"), "{bookmark:?}");
    }
}

#[tokio::test]
async fn refusals_are_statuses_of_http() {
    let world = World::start_with(&["--events-max-count", "3"]);
    let mut api = world.api().await;
    for number in 0..10 {
        api.quota(&format!("team-{number}"), &[]).await;
    }
    let admin = world.admin_token();
    let none = ask(&world, "GET", "/v1/events", &[]).await;
    assert_eq!(none.status, 401);
    assert!(none.head.contains("www-authenticate: bearer"), "{}", none.head);
    let bearer = format!("Bearer {admin}");
    let authorization = ("authorization", bearer.as_str());
    assert_eq!(ask(&world, "POST", "/v1/events", &[authorization]).await.status, 405);
    for (target, status) in [
        ("/v1/events?after=never", 400),
        ("/v1/events?type=NoSuchEvent", 400),
        ("/v1/events?typ=QuotaChanged", 400),
        ("/v1/events?subject=%ff", 400),
        ("/v1/events?after=99999", 410),
        ("/v1/other", 404),
    ] {
        assert_eq!(open(&world, &admin, target, &[]).await.status, status, "{target}");
    }
    let gone = crate::world::until("events to go", async || {
        let asked = open(&world, &admin, "/v1/events?after=1", &[]).await;
        (asked.status == 410).then_some(asked)
    })
    .await;
    let problem = gone.problem().await;
    assert_eq!(problem["reason"], "POSITION_GONE");
    assert!(problem["oldest_position"].is_string(), "{problem}");
}

#[tokio::test]
async fn a_stream_ends_when_its_token_is_revoked_and_when_the_host_does() {
    let mut world = World::start();
    let mut api = world.api().await;
    let token = api.token(new_token("looks", proto::runtimecloud::v1::Role::Viewer)).await;
    let mut stream = open(&world, &token.secret, "/v1/events", &[]).await;
    assert_eq!(stream.message().await.unwrap().event, "bookmark");
    api.tokens.delete(crate::world::delete("looks")).await.unwrap();
    let end = loop {
        let message = stream.message().await.unwrap();
        if message.event == "end" {
            break message;
        }
    };
    assert!(end.data.contains("BAD_TOKEN"), "{end:?}");
    while stream.message().await.is_some() {}
    let mut stream = open(&world, &world.admin_token(), "/v1/events", &[]).await;
    assert_eq!(stream.message().await.unwrap().event, "bookmark");
    drop(api);
    assert!(world.terminate());
    while stream.message().await.is_some() {}
}
