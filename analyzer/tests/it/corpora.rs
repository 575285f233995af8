//! What the fuzzing targets found worth keeping is tried again: inputs that reach new places, and
//! those that once broke something.

use crate::generated::Dice;
use std::{fs, path::PathBuf};

#[expect(unreachable_pub, reason = "it is a library, to the fuzzing targets")]
#[expect(clippy::expect_used, reason = "what does not hold ends the run")]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

type Target = fn(&[u8]);

#[test]
fn every_target_takes_its_corpus() {
    let targets: [(&str, Target); 9] = [
        ("address", fuzz::address),
        ("compare", fuzz::compare),
        ("configuration", fuzz::configuration),
        ("envelope", fuzz::envelope),
        ("events", fuzz::events),
        ("plan", fuzz::plan),
        ("redacted", fuzz::redacted),
        ("schemas", fuzz::schemas),
        ("state", fuzz::state),
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

#[test]
fn files_of_configuration_may_be_damaged_anywhere() {
    let seeds = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/configuration");
    let mut seeds: Vec<PathBuf> =
        fs::read_dir(seeds).unwrap().map(|entry| entry.unwrap().path()).collect();
    seeds.sort();
    let seeds: Vec<String> =
        seeds.iter().filter_map(|path| fs::read_to_string(path).ok()).collect();
    let words = [
        "{",
        "}",
        "\"",
        "<<E\n",
        "\nE\n",
        "${",
        "%{",
        "\\",
        "\n",
        "\r\n",
        "#",
        "/*",
        "*/",
        "[",
        "]",
        "(",
        ")",
        ",",
        "=",
        ":",
        ".",
        "-",
        "!",
        "?",
        "each.value",
        "var.v",
        "local.b",
        "merge(",
        "jsonencode(",
        "file(\"p\")",
        "\u{feff}",
        "é",
        "\0",
        "null",
        "lifecycle {}",
        "dynamic \"r\" {}",
    ];
    let mut dice = Dice(31);
    for round in 0..150 {
        let mut text = seeds[dice.roll(seeds.len())].clone();
        for _ in 0..1 + dice.roll(3) {
            let from = text.floor_char_boundary(dice.roll(text.len() + 1));
            let to = match dice.roll(3) {
                0 => from,
                1 => text.ceil_char_boundary((from + dice.roll(4)).min(text.len())),
                _ => text.ceil_char_boundary((from + dice.roll(40)).min(text.len())),
            };
            text.replace_range(from..to, words[dice.roll(words.len())]);
        }
        let held = std::panic::catch_unwind(|| fuzz::configuration(text.as_bytes()));
        assert!(held.is_ok(), "round {round}:\n{text}");
    }
}
