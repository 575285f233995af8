//! Mutual TLS between the plugin and the CLI, each known to the other by one certificate.
//!
//! Holds: only the holder of the key to exactly the certificate that the CLI handed over can
//! connect. The certificate is self-signed and marked as an authority, so no chain is built: its
//! bytes are compared, then the signature of the handshake is checked.

use rustls::{
    DigitallySignedStruct, DistinguishedName, ServerConfig, SignatureScheme,
    client::danger::HandshakeSignatureValid,
    crypto::{
        CryptoProvider, WebPkiSupportedAlgorithms, aws_lc_rs, verify_tls12_signature,
        verify_tls13_signature,
    },
    server::danger::{ClientCertVerified, ClientCertVerifier},
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, UnixTime};
use std::sync::Arc;

/// What gRPC is called in the TLS handshake; newer CLIs refuse a server that doesn't name it.
const ALPN: &[u8] = b"h2";

/// A server's side: made anew for each process.
pub struct Identity {
    /// How connections are accepted.
    pub config: Arc<ServerConfig>,
    /// Our certificate, for the CLI to know us by.
    pub certificate: Vec<u8>,
}

/// Our certificate could not be made.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The certificate or its key.
    #[error("failed to make a certificate")]
    Certificate(#[from] rcgen::Error),
    /// The settings of TLS.
    #[error("failed to set up TLS")]
    Settings(#[from] rustls::Error),
}

impl Identity {
    /// A new key and certificate; accepts only the holder of `client`.
    pub fn accepting(client: CertificateDer<'static>) -> Result<Self, TlsError> {
        let key = rcgen::KeyPair::generate()?;
        let mut params = rcgen::CertificateParams::new(["localhost".to_owned()])?;
        params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.self_signed(&key)?.der().clone();

        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier = Arc::new(Pinned::new(client, &provider));
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(verifier)
            .with_single_cert(vec![certificate.clone()], key)?;
        config.alpn_protocols = vec![ALPN.to_vec()];
        Ok(Self { config: Arc::new(config), certificate: certificate.to_vec() })
    }
}

/// Accepts one certificate.
#[derive(Debug)]
struct Pinned {
    certificate: CertificateDer<'static>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Pinned {
    fn new(certificate: CertificateDer<'static>, provider: &CryptoProvider) -> Self {
        Self { certificate, algorithms: provider.signature_verification_algorithms }
    }
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        if intermediates.is_empty() && *end_entity == self.certificate {
            Ok(ClientCertVerified::assertion())
        } else {
            Err(rustls::CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
