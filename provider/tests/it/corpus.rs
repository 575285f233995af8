//! What the fuzzing targets found worth keeping is tried again: inputs that reach new places, and
//! those that once broke something.

use std::{fs, path::PathBuf};

use tokio::task::JoinSet;

#[expect(unreachable_pub, reason = "it is a library, to the fuzzing targets")]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

/// The inputs of a target, by file name.
fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut inputs: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())
        })
        .collect();
    inputs.sort();
    assert!(inputs.len() > 20, "a corpus of {target}");
    inputs
}

#[test]
fn the_codec_takes_its_corpus() {
    for (name, input) in corpus("codec") {
        let held = std::panic::catch_unwind(|| fuzz::codec(&input));
        assert!(held.is_ok(), "fuzz/corpus/codec/{name}");
    }
}

/// All at once: they wait for the host that is not there together.
#[tokio::test]
async fn the_calls_take_their_corpus() {
    let mut running = JoinSet::new();
    for (name, input) in corpus("rpc") {
        running.spawn(async move {
            let held = tokio::spawn(async move { fuzz::rpc(&input).await }).await;
            (name, held)
        });
    }
    while let Some(done) = running.join_next().await {
        let (name, held) = done.unwrap();
        assert!(held.is_ok(), "fuzz/corpus/rpc/{name}");
    }
}
