//! TLS for PostgreSQL with the modes of libpq: `prefer` and `require` encrypt, `verify-ca` also verifies the issuer of
//! the server's certificate, `verify-full` also the host name in it.

use std::error::Error as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

/// The TLS mode of a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TlsMode {
    /// No TLS. The default.
    Disable,
    /// TLS if the server supports it.
    Prefer,
    /// TLS, without verification of the certificate.
    Require,
    /// TLS, with a certificate issued by one of these authorities; for `verify-full` it must also match the host name.
    Verify {
        authorities: Authorities,
        is_for_host: bool,
    },
}

/// The trusted certificate authorities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Authorities {
    /// Those in a PEM file.
    File(PathBuf),
    /// Those trusted by the operating system.
    System,
}

impl TlsMode {
    /// Parses `sslmode` and `sslrootcert`.
    pub(super) fn of(parameters: &[(String, String)]) -> Result<Self, String> {
        let last = |wanted: &str| {
            let mut found = parameters.iter().rev().filter(|(name, _)| name == wanted);
            found.next().map(|(_, value)| value.as_str())
        };
        let authorities = last("sslrootcert").map(|file| match file {
            "system" => Authorities::System,
            file => Authorities::File(PathBuf::from(file)),
        });
        let verify = |authorities, is_for_host| Self::Verify {
            authorities,
            is_for_host,
        };
        match (last("sslmode"), authorities) {
            (None, Some(_)) => Err("DATABASE_URL: sslrootcert needs sslmode=verify-full or verify-ca".to_owned()),
            (None | Some("disable"), _) => Ok(Self::Disable),
            (Some("prefer"), _) => Ok(Self::Prefer),
            (Some("require"), None) => Ok(Self::Require),
            // As in libpq: a configured root certificate is always verified.
            (Some("require" | "verify-ca"), Some(authorities @ Authorities::File(_))) => Ok(verify(authorities, false)),
            // Public authorities issue certificates to anyone, so the host name must be verified with them.
            (Some("require" | "verify-ca"), _) => Err(
                "DATABASE_URL: sslmode=verify-ca needs sslrootcert=FILE; the authorities of the system go with verify-full"
                    .to_owned(),
            ),
            (Some("verify-full"), authorities) => Ok(verify(authorities.unwrap_or(Authorities::System), true)),
            (Some(other), _) => Err(format!(
                "DATABASE_URL: sslmode must be disable, prefer, require, verify-ca or verify-full, not {other}"
            )),
        }
    }
}

/// Builds the client configuration of the handshake.
pub(super) fn client(mode: &TlsMode) -> Result<ClientConfig, String> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let check = Arc::new(Check::new(mode, &provider)?);
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(config
        .dangerous()
        .with_custom_certificate_verifier(check)
        .with_no_client_auth())
}

/// Returns a sentence for operators if the connection failed because of TLS.
pub(super) fn fault(error: &postgres::Error, mode: &TlsMode) -> Option<String> {
    if let Some(fault) = fault_of_certificate(error) {
        let where_from = match mode {
            TlsMode::Verify {
                authorities: Authorities::File(path),
                ..
            } => path.display().to_string(),
            _ => "the authorities of this machine".to_owned(),
        };
        return Some(match fault {
            CertificateError::UnknownIssuer | CertificateError::BadSignature => format!(
                "DATABASE_URL: the certificate of the PostgreSQL server is not signed by an authority of sslrootcert \
                 ({where_from})"
            ),
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                format!("DATABASE_URL: the certificate of the PostgreSQL server is for another host: {fault}")
            }
            other => format!("DATABASE_URL: the certificate of the PostgreSQL server is refused: {other}"),
        });
    }
    let reason = error.source()?.to_string();
    if reason.contains("does not support TLS") {
        return Some("DATABASE_URL asks for TLS (sslmode), and the PostgreSQL server speaks none (ssl=off)".to_owned());
    }
    error
        .to_string()
        .contains("TLS")
        .then(|| format!("DATABASE_URL: no TLS with the PostgreSQL server: {reason}"))
}

/// Returns the certificate error; it is nested in an I/O error.
fn fault_of_certificate(error: &postgres::Error) -> Option<CertificateError> {
    let mut cause = error.source();
    while let Some(error) = cause {
        let hidden = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        let found = hidden.and_then(|hidden| hidden.downcast_ref::<rustls::Error>());
        if let Some(rustls::Error::InvalidCertificate(fault)) = found {
            return Some(fault.clone());
        }
        cause = error.source();
    }
    None
}

/// Verifies the server's certificate according to the mode.
#[derive(Debug)]
struct Check {
    provider: Arc<CryptoProvider>,
    /// Verifies the certificate chain; `None` for `prefer` and `require`.
    chain: Option<Arc<WebPkiServerVerifier>>,
    is_for_host: bool,
}

impl Check {
    fn new(mode: &TlsMode, provider: &Arc<CryptoProvider>) -> Result<Self, String> {
        let (authorities, is_for_host) = match mode {
            TlsMode::Disable | TlsMode::Prefer | TlsMode::Require => (None, false),
            TlsMode::Verify {
                authorities,
                is_for_host,
            } => (Some(authorities), *is_for_host),
        };
        let chain = authorities.map(|authorities| {
            let roots = match authorities {
                Authorities::File(path) => read(path)?,
                Authorities::System => of_system()?,
            };
            let checker = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
            checker
                .build()
                .map_err(|error| format!("DATABASE_URL: sslrootcert: {error}"))
        });
        Ok(Self {
            provider: Arc::clone(provider),
            chain: chain.transpose()?,
            is_for_host,
        })
    }
}

impl ServerCertVerifier for Check {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        stapled: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(chain) = &self.chain else {
            return Ok(ServerCertVerified::assertion());
        };
        // The host name is verified last, so a name mismatch implies that everything else is valid.
        match chain.verify_server_cert(certificate, between, host, stapled, now) {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.is_for_host => Ok(ServerCertVerified::assertion()),
            outcome => outcome,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            certificate,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            certificate,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

fn read(path: &Path) -> Result<RootCertStore, String> {
    let refused = |why: &dyn std::fmt::Display| format!("DATABASE_URL: sslrootcert={}: {why}", path.display());
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| refused(&error))? {
        let certificate = certificate.map_err(|error| refused(&error))?;
        roots.add(certificate).map_err(|error| refused(&error))?;
    }
    if roots.is_empty() {
        return Err(refused(&"there is no certificate in it"));
    }
    Ok(roots)
}

fn of_system() -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err(
            "DATABASE_URL: this machine knows no authority (package ca-certificates); name a file in sslrootcert"
                .to_owned(),
        );
    }
    Ok(roots)
}
