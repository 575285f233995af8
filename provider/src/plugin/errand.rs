//! What the command line that started the plugin was asked for, as far as the system tells.
//!
//! Before it destroys, Terraform plans the configuration as if to apply it, and does not tell the
//! provider what for. Its own arguments do, and those that it takes from its environment, which is the
//! plugin's too. Where the former can not be read (outside Linux, or with the plugin attached by hand)
//! the answer is no; a wrong yes would only put off a check to the apply.

use std::{fs, os::unix::process::parent_id};

use crate::handshake::Environment;

/// Whether the command line that started this process destroys, and so applies nothing.
pub fn parent_destroys(environment: Environment<'_>) -> bool {
    fs::read(format!("/proc/{}/cmdline", parent_id()))
        .is_ok_and(|words| destroys(&String::from_utf8_lossy(&words), environment))
}

/// `words` end with a zero each; the first is the program.
fn destroys(words: &str, environment: Environment<'_>) -> bool {
    let words = || words.split('\0').skip(1);
    // What runs it may be an interpreter, with the program's path as its first word.
    let is_command = |word: &&str| !word.starts_with('-') && !word.contains('/');
    let command = words().find(is_command).unwrap_or_default();
    let more = ["TF_CLI_ARGS".to_owned(), format!("TF_CLI_ARGS_{command}")];
    let more = more.iter().filter_map(|name| environment(name));
    command == "destroy"
        || words().any(is_option)
        || more.into_iter().any(|text| text.split_whitespace().any(is_option))
}

/// Whether an argument asks to destroy, as Go reads options.
fn is_option(word: &str) -> bool {
    let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-')).unwrap_or_default();
    let (name, value) = name.split_once('=').unwrap_or((name, "true"));
    name == "destroy" && ["1", "t", "T", "true", "TRUE", "True"].contains(&value)
}

#[cfg(test)]
mod tests {
    use super::destroys;

    #[test]
    fn the_command_and_its_option_are_told_from_other_words() {
        for (words, expected) in [
            ("terraform destroy -auto-approve ", true),
            ("tofu -chdir=x plan -destroy ", true),
            ("terraform -chdir=x destroy ", true),
            ("python3 -I /opt/bin/terraform destroy ", true),
            ("python3 -I /opt/bin/terraform apply destroy ", false),
            ("terraform apply --destroy=true ", true),
            ("terraform apply -destroy=1 ", true),
            ("terraform apply -destroy=false ", false),
            ("destroy plan ", false),
            ("terraform apply destroy ", false),
            ("terraform plan -out destroy ", false),
            ("terraform plan -target=a.destroy ", false),
            ("", false),
        ] {
            assert_eq!(destroys(&words.replace(' ', "\0"), &|_| None), expected, "{words}");
        }
    }

    #[test]
    fn arguments_of_the_environment_count_for_their_command() {
        for (variable, expected) in
            [("TF_CLI_ARGS", true), ("TF_CLI_ARGS_plan", true), ("TF_CLI_ARGS_apply", false)]
        {
            let environment =
                |name: &str| (name == variable).then(|| "-input=false -destroy".to_owned());
            assert_eq!(destroys("terraform\0plan\0", &environment), expected, "{variable}");
        }
    }
}
