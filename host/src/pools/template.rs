//! What one worker of a pool runs: plain data, the same for the store, the planner and the drivers.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{resource::quoted, violations::Violations};

/// Amounts by resource: `cpu` in millicores, `memory` in bytes, others in whole units.
pub type Amounts = BTreeMap<String, u64>;

/// All that decides how a worker runs. A change of it replaces the worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerTemplate {
    /// The program and its arguments, run as they are, without a shell.
    pub command: Vec<String>,
    pub variables: BTreeMap<String, String>,
    /// Absolute; absent: a folder of the worker's own.
    pub working_dir: Option<String>,
    /// Names; each gets a free port and `PORT_NAME`.
    pub ports: Vec<String>,
    pub shape: Amounts,
    pub readiness: Option<Readiness>,
    pub restart: RestartPolicy,
    pub stop: StopPolicy,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Readiness {
    pub check: Check,
    pub interval: Duration,
    pub timeout: Duration,
    /// Failures in a row after which a ready worker is not ready.
    pub failure_threshold: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// A GET on a named port, answered with 200 to 399.
    Http { port: String, path: String },
    /// A named port accepts a connection.
    Tcp { port: String },
    /// A command, run with the worker's variables, exits with 0.
    Command(Vec<String>),
}

/// The delay before a start doubles from `delay` to `delay_max`, and begins anew after
/// `healthy_after` of life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestartPolicy {
    pub delay: Duration,
    pub delay_max: Duration,
    pub healthy_after: Duration,
}

/// `signal` goes to the process group; what is left after `grace` is killed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopPolicy {
    pub signal: StopSignal,
    pub grace: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StopSignal {
    Term,
    Int,
    Hup,
    Quit,
    Usr1,
    Usr2,
    Kill,
}

/// Names of variables that the host sets itself.
const RESERVED_PREFIX: &str = "RUNTIMECLOUD_";

const VARIABLES_BYTES_MAX: usize = 64 << 10;

/// Checks names and values of environment variables.
pub fn check_variables(field: &str, variables: &BTreeMap<String, String>, found: &mut Violations) {
    let bytes: usize = variables.iter().map(|(name, value)| name.len() + value.len() + 2).sum();
    if bytes > VARIABLES_BYTES_MAX {
        found.add(field, format!("they take {bytes} bytes: use at most {VARIABLES_BYTES_MAX}"));
        return;
    }
    for (name, value) in variables {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let shown = quoted(name);
        if name.is_empty() || name.as_bytes()[0].is_ascii_digit() || !name.bytes().all(fits) {
            found.add(
                field,
                format!(
                    "{shown} is not a variable's name: use letters, digits and `_`, not beginning \
                     with a digit"
                ),
            );
        } else if name.starts_with(RESERVED_PREFIX) {
            found.add(
                field,
                format!("{shown} is the host's own: choose a name without `{RESERVED_PREFIX}`"),
            );
        }
        if value.contains('\0') {
            found.add(&format!("{field}[{shown}]"), "a variable can not hold a zero byte");
        }
    }
}

/// The variable that hands over a port: `http` becomes `PORT_HTTP`.
pub fn port_variable(port: &str) -> String {
    format!("PORT_{}", port.to_ascii_uppercase().replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ports_name_becomes_a_variable() {
        assert_eq!(port_variable("http"), "PORT_HTTP");
        assert_eq!(port_variable("health-check"), "PORT_HEALTH_CHECK");
    }
}
