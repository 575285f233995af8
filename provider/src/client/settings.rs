//! How the host is reached.

use std::{fmt, time::Duration};

use rustls_pki_types::{CertificateDer, pem::PemObject as _};
use tonic::{
    metadata::AsciiMetadataValue,
    transport::{Certificate, ClientTlsConfig, Endpoint},
};

use super::{error::chain, secret::Secret};

/// All that a connection needs.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `http://HOST:PORT` or `https://HOST:PORT`.
    pub endpoint: String,
    pub token: Secret,
    /// Certificates (PEM) of the authorities to trust instead of the system's.
    pub ca_certificates: Option<Vec<u8>>,
    /// For one call.
    pub request_timeout: Duration,
}

/// Why settings can not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    pub argument: &'static str,
    pub why: String,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.argument, self.why)
    }
}

impl std::error::Error for SettingsError {}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// What is wrong with an endpoint, if anything: it must be an `http` or `https` URL of a host and a
/// port, and nothing more.
pub fn check_endpoint(text: &str) -> Result<(), String> {
    let uri: http::Uri = text.parse().map_err(|error| format!("`{text}` is no URL: {error}"))?;
    match uri.scheme_str() {
        Some("http" | "https") => {}
        _ => return Err(format!("`{text}` does not begin with `http://` or `https://`")),
    }
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err("a user or password has no place in it; the token is `token`".to_owned());
    }
    if uri.path_and_query().is_some_and(|path| path.as_str() != "/") {
        return Err(format!("`{text}` names a path; only host and port belong in it"));
    }
    Ok(())
}

impl Settings {
    /// The token would cross a network in clear.
    pub fn exposes_token(&self) -> bool {
        let uri: http::Uri = self.endpoint.parse().unwrap_or_default();
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let is_loopback = host == "localhost"
            || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback());
        uri.scheme_str() == Some("http") && !is_loopback
    }

    pub(super) fn authorization(&self) -> Result<AsciiMetadataValue, SettingsError> {
        let bearer = format!("Bearer {}", self.token.expose());
        let mut value = AsciiMetadataValue::try_from(bearer).map_err(|_| SettingsError {
            argument: "token",
            why: "it holds characters that no token has".to_owned(),
        })?;
        value.set_sensitive(true);
        Ok(value)
    }

    pub(super) fn endpoint(&self) -> Result<Endpoint, SettingsError> {
        let fail = |argument, why| SettingsError { argument, why };
        check_endpoint(&self.endpoint).map_err(|why| fail("endpoint", why))?;
        let endpoint = Endpoint::from_shared(self.endpoint.clone())
            .map_err(|error| fail("endpoint", chain(&error)))?
            .connect_timeout(CONNECT_TIMEOUT)
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_timeout(KEEP_ALIVE)
            .tcp_nodelay(true);
        if !self.endpoint.starts_with("https:") {
            return Ok(endpoint);
        }
        let tls = match &self.ca_certificates {
            Some(pem) if CertificateDer::pem_slice_iter(pem).next().is_none_or(|c| c.is_err()) => {
                return Err(fail("ca_file", "it holds no certificate in PEM form".to_owned()));
            }
            Some(pem) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem)),
            None => ClientTlsConfig::new().with_native_roots(),
        };
        endpoint.tls_config(tls).map_err(|error| fail("ca_file", chain(&error)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(endpoint: &str) -> Settings {
        Settings {
            endpoint: endpoint.to_owned(),
            token: Secret::new("t"),
            ca_certificates: None,
            request_timeout: Duration::from_secs(1),
        }
    }

    #[test]
    fn an_endpoint_is_a_url_of_host_and_port() {
        for good in ["http://127.0.0.1:7443", "https://cloud.example:443/", "http://[::1]:80"] {
            assert_eq!(check_endpoint(good), Ok(()), "{good}");
        }
        for (bad, why) in [
            ("", "no URL"),
            ("127.0.0.1:7443", "`http://`"),
            ("localhost", "`http://`"),
            ("ftp://x:1", "`http://`"),
            ("http://", "no URL"),
            ("http://a b", "no URL"),
            ("http://user:pass@x:1", "no place"),
            ("http://x:1/path", "path"),
            ("http://x:1/?q", "path"),
        ] {
            let error = check_endpoint(bad).unwrap_err();
            assert!(error.contains(why), "{bad:?}: {error}");
        }
    }

    #[test]
    fn a_token_is_exposed_only_by_plain_http_to_another_machine() {
        for (endpoint, exposed) in [
            ("http://127.0.0.1:1", false),
            ("http://[::1]:1", false),
            ("http://localhost:1", false),
            ("https://cloud.example:1", false),
            ("http://cloud.example:1", true),
            ("http://10.0.0.1:1", true),
        ] {
            assert_eq!(settings(endpoint).exposes_token(), exposed, "{endpoint}");
        }
    }

    #[test]
    fn settings_that_can_not_be_used_name_their_argument() {
        let ca_certificates = Some(b"not a certificate".to_vec());
        let token = Secret::new("line\nbreak");
        for (settings, argument) in [
            (settings("nonsense"), "endpoint"),
            (Settings { token, ..settings("http://x:1") }, "token"),
            (Settings { ca_certificates, ..settings("https://x:1") }, "ca_file"),
        ] {
            let result = settings.endpoint().map(|_| ()).and(settings.authorization().map(|_| ()));
            assert_eq!(result.unwrap_err().argument, argument);
        }
    }
}
