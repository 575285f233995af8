//! What the command line that started the plugin was asked for, as far as the system tells.
//!
//! Before it destroys, Terraform plans the configuration as if to apply it, and does not tell the
//! provider what for. Its own arguments do. Where they can not be read (outside Linux, or with the
//! plugin attached by hand) the answer is no; a wrong yes would only put off a check to the apply.

use std::{fs, os::unix::process::parent_id};

/// Whether the command line that started this process destroys, and so applies nothing.
pub fn parent_destroys() -> bool {
    fs::read(format!("/proc/{}/cmdline", parent_id())).is_ok_and(|words| destroys(&words))
}

/// `words` end with a zero each; the first is the program.
fn destroys(words: &[u8]) -> bool {
    const ASKING: [&[u8]; 5] =
        [b"destroy", b"-destroy", b"--destroy", b"-destroy=true", b"--destroy=true"];
    words.split(|byte| *byte == 0).skip(1).any(|word| ASKING.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::destroys;

    #[test]
    fn the_command_and_its_option_are_told_from_other_words() {
        for (words, expected) in [
            ("terraform destroy -auto-approve ", true),
            ("tofu -chdir=x plan -destroy ", true),
            ("terraform apply --destroy=true ", true),
            ("terraform apply -destroy=false ", false),
            ("destroy plan ", false),
            ("terraform plan -target=a.destroy ", false),
            ("", false),
        ] {
            assert_eq!(destroys(words.replace(' ', "\0").as_bytes()), expected, "{words}");
        }
    }
}
