//! The sub-commands.

pub mod apply;
pub mod completion;
pub mod create;
pub mod delete;
pub mod describe;
pub mod events;
pub mod get;
pub mod lease;
pub mod logs;
pub mod operate;
pub mod operations;
pub mod quota;
pub mod scale;
pub mod subscription;
pub mod token;
pub mod uncordon;
pub mod version;
pub mod workers;

/// `NAME=VALUE` as an argument.
fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("it must be NAME=VALUE".to_owned()),
    }
}
