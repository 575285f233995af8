//! What the fuzzing targets found worth keeping is tried again: inputs that reach new places, and
//! those that once broke something.

use std::{fs, path::PathBuf};

#[expect(unreachable_pub, reason = "it is a library, to the fuzzing targets")]
#[expect(clippy::expect_used, reason = "what does not hold ends the run")]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

type Target = fn(&[u8]);

#[test]
fn every_target_takes_its_corpus() {
    let targets: [(&str, Target); 4] = [
        ("envelope", fuzz::envelope),
        ("events", fuzz::events),
        ("plan", fuzz::plan),
        ("redacted", fuzz::redacted),
    ];
    for (name, target) in targets {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
        let inputs: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(!inputs.is_empty(), "a corpus of {name}");
        for path in inputs {
            let input = fs::read(&path).unwrap();
            let held = std::panic::catch_unwind(|| target(&input));
            assert!(held.is_ok(), "{}", path.display());
        }
    }
}
