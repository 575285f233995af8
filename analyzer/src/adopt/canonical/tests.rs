//! The form against a real `terraform fmt`.

use super::{
    super::generated::{self, Dice},
    *,
};
use std::{fs, process::Command};

/// The judge is a real `terraform fmt`, where there is one.
#[test]
fn what_is_called_canonical_is_what_fmt_writes() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut dice = Dice(11);
    let path = |number: usize| folder.path().join(format!("{number:04}.tf"));
    let texts: Vec<String> = (0..500).map(|_| generated::native(&mut dice).text).collect();
    for (number, text) in texts.iter().enumerate() {
        // What the parser in there takes, fmt must take too.
        if super::super::hcl::parse(text).is_ok() {
            fs::write(path(number), text).expect("a file");
        }
    }
    let fmt = Command::new("terraform")
        .args(["fmt", "-list=false"])
        .arg(folder.path())
        .env("CHECKPOINT_DISABLE", "1")
        .env_remove("TF_CLI_CONFIG_FILE")
        .output();
    let Ok(fmt) = fmt else {
        println!("skipped: no terraform on the path, the form was not judged");
        return;
    };
    let said = String::from_utf8_lossy(&fmt.stderr);
    let mut judged = 0;
    for (number, text) in texts.iter().enumerate() {
        let Ok(formatted) = fs::read_to_string(path(number)) else { continue };
        let name = format!("{number:04}.tf");
        if said.contains(&name) {
            continue;
        }
        judged += 1;
        let ours = splice::apply(text, corrections(text));
        // Other than spaces, fmt also takes some templates apart.
        let dense = |text: &str| text.split_whitespace().collect::<String>();
        if dense(&ours) == dense(&formatted) {
            assert_eq!(ours, formatted, "{name}:\n{text}");
        }
        assert_eq!(corrections(&formatted), [], "{name}:\n{formatted}");
    }
    assert!(judged > 400, "only {judged} were judged: {said}");
}
