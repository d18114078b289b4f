//! Configures the client of the object store: bucket, credentials and timeouts.

use std::time::Duration;

use object_store::aws::{AmazonS3, AmazonS3Builder, Checksum};
use object_store::path::Path;
use object_store::{BackoffConfig, ClientOptions, RetryConfig};

use super::super::settings::ObjectStoreArgs;
use common::error::{Error, Result};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// The read timeout of stored files.
pub(super) const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// Creates a client with limited retries and timeouts. `read_timeout` includes the time to send a request.
pub(super) fn connect(bucket: &str, args: &ObjectStoreArgs, read_timeout: Duration) -> Result<AmazonS3> {
    let secret = args.secret_access_key().map_err(|refused| anyhow::anyhow!(refused))?;
    let non_empty = |text: &Option<String>| {
        text.as_deref()
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let mut builder = match (non_empty(&args.aws_access_key_id), secret) {
        (Some(id), Some(secret)) => AmazonS3Builder::new()
            .with_access_key_id(id)
            .with_secret_access_key(secret.expose()),
        // Uses the role of the machine, container or cluster, if the cloud provides credentials.
        (None, None) => AmazonS3Builder::from_env(),
        _ => {
            let why = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY go together";
            return Err(Error::Internal(anyhow::anyhow!(why)));
        }
    };
    if let Some(token) = &args.aws_session_token {
        builder = builder.with_token(token.expose());
    }
    if let Some(region) = non_empty(&args.aws_region) {
        builder = builder.with_region(region);
    }
    if let Some(endpoint) = non_empty(&args.aws_endpoint_url) {
        builder = builder.with_endpoint(endpoint);
    }
    let options = ClientOptions::new()
        .with_allow_http(args.aws_allow_http)
        .with_connect_timeout(CONNECT_TIMEOUT)
        .with_read_timeout(read_timeout)
        // No total timeout: a download may take as long as its reader needs.
        .with_timeout_disabled();
    let backoff = BackoffConfig {
        init_backoff: Duration::from_millis(100),
        max_backoff: Duration::from_secs(2),
        base: 2.0,
    };
    let store = builder
        .with_bucket_name(bucket)
        .with_client_options(options)
        .with_retry(RetryConfig {
            backoff,
            max_retries: 4,
            retry_timeout: Duration::from_secs(15),
        })
        .with_checksum_algorithm(Checksum::SHA256)
        .with_disable_bulk_delete(true)
        .build();
    store.map_err(|error| Error::Internal(anyhow::Error::new(error).context("object store")))
}

/// Returns bucket and prefix of `s3://bucket/prefix`.
pub(super) fn bucket_of(url: &str) -> Option<(&str, Path)> {
    let rest = url.trim().strip_prefix("s3://")?;
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    let named = !bucket.is_empty() && bucket.bytes().all(plain);
    let prefix = Path::parse(prefix.trim_matches('/')).ok()?;
    named.then_some((bucket, prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bucket_url_with_prefix_is_accepted() {
        let read = |url| bucket_of(url).map(|(bucket, prefix)| (bucket.to_owned(), prefix.to_string()));
        let named = |bucket: &str, prefix: &str| Some((bucket.to_owned(), prefix.to_owned()));
        assert_eq!(read("s3://school"), named("school", ""));
        assert_eq!(read("s3://school/"), named("school", ""));
        assert_eq!(read("s3://school/a/b/"), named("school", "a/b"));
        for wrong in [
            "s3://",
            "s3:///x",
            "https://school",
            "school",
            "s3://a b",
            "s3://school/a//b",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
