//! What a worker prints can be read.

use futures_util::StreamExt;
use host::drivers::{CapacityDriver, DriverError, LogOptions};

use super::fixture::{Fixture, new_id, shell};

pub(super) async fn both_streams_are_kept_in_order(fixture: Fixture) {
    let id = fixture.start(&shell("echo 1; echo 2 >&2; echo 3; exec sleep 1000")).await;
    assert_eq!(fixture.until_printed(id, "3\n").await, "1\n2\n3\n");
}

pub(super) async fn a_follower_sees_all_output_across_files(fixture: Fixture) {
    let script = "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); echo line $i; [ $((i % 20)) = 0 ] && sleep 0.02; done; exec sleep 1000";
    let id = fixture.start(&shell(script)).await;
    let mut pieces = fixture.driver.logs(id, LogOptions { follow: true, tail_lines: None });
    let mut seen = String::new();
    while !seen.ends_with("line 1000\n") {
        let piece = pieces.next().await.expect("the worker still runs").unwrap();
        seen.push_str(std::str::from_utf8(&piece).unwrap());
    }
    let expected: String = (1..=1000).map(|line| format!("line {line}\n")).collect();
    assert_eq!(seen, expected);
    let kept = fixture.printed(id, None).await;
    assert!(kept.len() < 4_000 && kept.ends_with("line 1000\n"), "{} bytes are kept", kept.len());
}

pub(super) async fn a_tail_is_the_last_lines(fixture: Fixture) {
    let script = "i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo line $i; done; exec sleep 1000";
    let id = fixture.start(&shell(script)).await;
    fixture.until_printed(id, "line 300\n").await;
    assert_eq!(fixture.printed(id, Some(0)).await, "");
    assert_eq!(fixture.printed(id, Some(1)).await, "line 300\n");
    let many = fixture.printed(id, Some(150)).await;
    let lines: Vec<_> = many.lines().collect();
    assert_eq!((lines.len(), lines[0]), (150, "line 151"));
    let all = fixture.printed(id, None).await;
    assert_eq!(fixture.printed(id, Some(100_000)).await, all);
}

pub(super) async fn a_follower_of_a_stopped_worker_comes_to_an_end(fixture: Fixture) {
    let template = shell("trap 'echo bye; exit' TERM; echo up; while :; do sleep 0.01; done");
    let id = fixture.start(&template).await;
    fixture.until_printed(id, "up").await;
    let options = LogOptions { follow: true, tail_lines: Some(1) };
    let (printed, _) = tokio::join!(fixture.collect(id, options), fixture.stop(id));
    assert!(printed.ends_with("bye\n"), "{printed}");
}

pub(super) async fn output_of_an_unknown_worker_is_refused(fixture: Fixture) {
    let id = new_id();
    let options = LogOptions { follow: true, tail_lines: None };
    let pieces: Vec<_> = fixture.driver.logs(id, options).collect().await;
    assert!(matches!(&pieces[..], [Err(DriverError::Unknown(of))] if *of == id));
}
