//! How a plugin and the CLI that starts it find each other: a cookie, the versions, one line.
//!
//! The CLI tells by environment variables what it wants; the plugin answers with one line on standard
//! output, and never writes there again.

use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};
use rustls_pki_types::{CertificateDer, pem::PemObject};
use std::path::{Path, PathBuf};

/// Proves that a CLI and no person has started the program. Not a secret.
const COOKIE: (&str, &str) =
    ("TF_PLUGIN_MAGIC_COOKIE", "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2");
/// The version of the handshake itself.
const CORE_PROTOCOL: u32 = 1;
/// The one major version of the plugin protocol that is spoken here.
pub const PROTOCOL: u32 = 6;

/// Reads a variable of the process's environment.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What the CLI asks for.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    /// The only certificate that may connect; none: no TLS.
    pub client_certificate: Option<CertificateDer<'static>>,
    /// Where the socket is made.
    pub socket: SocketPlace,
    /// Whether the line needs the field that says that connections are not multiplexed.
    multiplex_asked: bool,
}

/// Where a socket is made, and for whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketPlace {
    /// The folder.
    pub folder: PathBuf,
    /// The group that may connect, too: a name or a number.
    pub group: Option<String>,
}

/// Why the program doesn't start.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A person has started it.
    #[error(
        "This program is a provider for Terraform and OpenTofu. It is not run by hand: name it in \
         the required_providers block of a configuration, and run terraform or tofu there.\n\
         To develop or debug it, start it with --debug and export the variable that it prints."
    )]
    ByHand,
    /// The CLI speaks other versions.
    #[error(
        "The CLI offers plugin protocol {offered}, and this provider speaks {PROTOCOL}. Use \
         Terraform 1.0 or OpenTofu 1.6, or newer."
    )]
    Protocol {
        /// The versions offered.
        offered: String,
    },
    /// The certificate is none.
    #[error("The CLI's certificate (PLUGIN_CLIENT_CERT) can't be read: {0}.")]
    Certificate(String),
}

impl Request {
    /// Reads what the CLI asks for.
    pub fn read(environment: Environment<'_>) -> Result<Self, Refusal> {
        if environment(COOKIE.0).as_deref() != Some(COOKIE.1) {
            return Err(Refusal::ByHand);
        }
        let offered = environment("PLUGIN_PROTOCOL_VERSIONS").unwrap_or_default();
        let speaks = |version: &str| version.trim().parse() == Ok(PROTOCOL);
        if !offered.is_empty() && !offered.split(',').any(speaks) {
            return Err(Refusal::Protocol { offered });
        }
        let certificate = environment("PLUGIN_CLIENT_CERT").filter(|pem| !pem.is_empty());
        let client_certificate = certificate
            .map(|pem| CertificateDer::from_pem_slice(pem.as_bytes()))
            .transpose()
            .map_err(|error| Refusal::Certificate(error.to_string()))?;
        Ok(Self {
            client_certificate,
            socket: SocketPlace::read(environment),
            multiplex_asked: environment("PLUGIN_MULTIPLEX_GRPC").is_some_and(|v| !v.is_empty()),
        })
    }

    /// The line that tells the CLI where to connect, and by which certificate to know us.
    pub fn answer(&self, socket: &Path, certificate: Option<&[u8]>) -> String {
        let certificate = certificate.map(|der| STANDARD_NO_PAD.encode(der)).unwrap_or_default();
        let multiplex = if self.multiplex_asked { "|false" } else { "" };
        let socket = socket.display();
        format!("{CORE_PROTOCOL}|{PROTOCOL}|unix|{socket}|grpc|{certificate}{multiplex}")
    }
}

impl SocketPlace {
    /// Where the environment wants it; else the folder for temporary files.
    pub fn read(environment: Environment<'_>) -> Self {
        let folder = ["PLUGIN_UNIX_SOCKET_DIR", "TMPDIR"]
            .iter()
            .filter_map(|name| environment(name))
            .find(|folder| !folder.is_empty())
            .unwrap_or_else(|| "/tmp".to_owned());
        let group = environment("PLUGIN_UNIX_SOCKET_GROUP").filter(|group| !group.is_empty());
        Self { folder: PathBuf::from(folder), group }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(variables: &[(&str, &str)]) -> Result<Request, Refusal> {
        Request::read(&|name| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_person_is_told_what_the_program_is() {
        assert_eq!(request(&[]), Err(Refusal::ByHand));
        assert_eq!(request(&[(COOKIE.0, "x")]), Err(Refusal::ByHand));
    }

    #[test]
    fn versions_may_come_in_any_order_or_not_at_all() {
        for offered in ["5,6", "6,5", "6", ""] {
            assert!(request(&[COOKIE, ("PLUGIN_PROTOCOL_VERSIONS", offered)]).is_ok(), "{offered}");
        }
        let refused = request(&[COOKIE, ("PLUGIN_PROTOCOL_VERSIONS", "4,5")]);
        assert_eq!(refused, Err(Refusal::Protocol { offered: "4,5".to_owned() }));
    }

    #[test]
    fn a_certificate_that_is_none_is_refused() {
        let refused = request(&[COOKIE, ("PLUGIN_CLIENT_CERT", "not PEM")]);
        assert!(matches!(refused, Err(Refusal::Certificate(_))));
    }

    #[test]
    fn the_line_has_a_seventh_field_only_when_asked() {
        let line = |variables: &[(&str, &str)]| {
            request(variables).unwrap().answer(Path::new("/tmp/s"), Some(b"\x01\x02"))
        };
        assert_eq!(line(&[COOKIE]), "1|6|unix|/tmp/s|grpc|AQI");
        let multiplex = ("PLUGIN_MULTIPLEX_GRPC", "1");
        assert_eq!(line(&[COOKIE, multiplex]), "1|6|unix|/tmp/s|grpc|AQI|false");
    }

    #[test]
    fn the_socket_goes_where_the_environment_says() {
        let place = |variables| request(variables).unwrap().socket.folder;
        assert_eq!(place(&[COOKIE]), Path::new("/tmp"));
        assert_eq!(place(&[COOKIE, ("TMPDIR", "/var/tmp")]), Path::new("/var/tmp"));
        let both = [COOKIE, ("TMPDIR", "/var/tmp"), ("PLUGIN_UNIX_SOCKET_DIR", "/run/x")];
        assert_eq!(place(&both), Path::new("/run/x"));
    }
}
