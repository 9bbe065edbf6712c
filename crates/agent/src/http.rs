//! Sets up all HTTP clients, for models and for MCP servers.
//!
//! Input: an address. Output: the builder of a client for it. The client never reads the environment, uses a proxy that
//! was not configured, or follows a redirect with a secret in a header.

use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Url};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

/// Parses an address; it must be http or https.
pub(crate) fn address(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("its address is not valid: {error}"))?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        other => Err(format!("its address begins with `{other}:`, not with http: or https:")),
    }
}

/// A client that reads no environment: no proxy, and the certificates of the system.
pub(crate) fn client(url: &Url, connect_timeout: Duration) -> Result<ClientBuilder, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let wrong = |error: rustls::Error| format!("no secure connection can be set up: {error}");
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().map_err(wrong)?;
    // Without TLS the system's certificates are not needed, and a machine may have none.
    let tls = if url.scheme() == "https" {
        builder.with_platform_verifier().map_err(wrong)?.with_no_client_auth()
    } else {
        builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth()
    };
    let client = Client::builder().tls_backend_preconfigured(tls).no_proxy();
    // Headers may be secrets, so redirects to another server are not followed.
    Ok(client.redirect(Policy::none()).connect_timeout(connect_timeout))
}

/// Builds the client.
pub(crate) fn build(builder: ClientBuilder) -> Result<Client, String> {
    builder.build().map_err(|error| format!("no HTTP client can be set up: {error}"))
}

/// The innermost cause of an error: the outer ones only say that the request failed.
pub(crate) fn cause(error: &reqwest::Error) -> String {
    let mut deepest: &dyn std::error::Error = error;
    while let Some(next) = deepest.source() {
        deepest = next;
    }
    // The outermost error names the address, which can contain a secret; only inner errors are shown.
    if std::ptr::addr_eq(deepest, error) { "the request failed".to_owned() } else { deepest.to_string() }
}
