//! Finds out why an object store cannot be used: writes, reads, lists and deletes a probe object, and translates the
//! first error into the setting to compare.

use std::error::Error as _;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use object_store::{ObjectStore as _, ObjectStoreExt as _};

use super::connection::{READ_TIMEOUT, bucket_of, connect};
use super::{ObjectStoreArgs, REQUEST_TIMEOUT};
use common::clock;

/// The maximum length of an error that is quoted.
const QUOTED_MAX: usize = 300;

/// Uses the store as the service does. The error names the failed step and what to do.
pub(in super::super) async fn diagnose(url: &str, args: &ObjectStoreArgs) -> Result<(), String> {
    let (bucket, prefix) = bucket_of(url).ok_or("FILES_URL must be s3://bucket/prefix")?;
    let store = connect(bucket, args, READ_TIMEOUT).map_err(|error| match error {
        common::error::Error::Internal(cause) => format!("{cause:#}"),
        other => other.to_string(),
    })?;
    let probe = prefix.clone().join("probes").join(clock::new_id());
    let steps = async {
        let fault = |step: &str, error: object_store::Error| explain(step, bucket, &error);
        let written = store.put(&probe, Bytes::from_static(b"groupwork").into()).await;
        written.map_err(|error| fault("write", error))?;
        let read = async { store.get(&probe).await?.bytes().await }.await;
        let read = read.map_err(|error| fault("read", error))?;
        let listed = store.list(Some(&prefix.join("probes"))).try_next().await;
        let deleted = store.delete(&probe).await;
        listed.map_err(|error| fault("list", error))?;
        deleted.map_err(|error| fault("delete", error))?;
        if read == b"groupwork".as_slice() {
            Ok(())
        } else {
            Err(format!("the bucket {bucket} returns other bytes than were written"))
        }
    };
    let outcome = tokio::time::timeout(REQUEST_TIMEOUT, steps).await;
    outcome.unwrap_or_else(|_| {
        Err(format!(
            "no response within {} s: compare AWS_ENDPOINT_URL",
            REQUEST_TIMEOUT.as_secs()
        ))
    })
}

fn explain(step: &str, bucket: &str, error: &object_store::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    let advice = advice(step, bucket, &text);
    // An S3 error is an XML document behind a long preface.
    let begin = text.find("<Code>").unwrap_or_default();
    let quoted: String = text[begin..].chars().take(QUOTED_MAX).collect();
    match advice {
        Some(advice) => format!("{step}: {advice}"),
        None => format!("{step}: {quoted}"),
    }
}

/// Returns what to do about an error code of S3 or of the connection.
fn advice(step: &str, bucket: &str, text: &str) -> Option<String> {
    let code = text
        .split_once("<Code>")
        .and_then(|(_, rest)| rest.split_once("</Code>"));
    if let Some((code, _)) = code {
        let advice = match code {
            "InvalidAccessKeyId" | "NotSignedUp" => {
                "the store does not know this key: compare AWS_ACCESS_KEY_ID".to_owned()
            }
            "SignatureDoesNotMatch" => "the secret key is wrong: compare AWS_SECRET_ACCESS_KEY".to_owned(),
            "AccessDenied" | "AllAccessDisabled" => format!(
                "the key may not {step} in the bucket {bucket}: allow s3:PutObject, s3:GetObject, s3:DeleteObject and \
                 s3:ListBucket"
            ),
            "NoSuchBucket" => format!("there is no bucket {bucket}: compare FILES_URL, or create it"),
            "PermanentRedirect" | "AuthorizationHeaderMalformed" | "IllegalLocationConstraintException" => {
                format!("the bucket {bucket} is in another region: compare AWS_REGION")
            }
            "RequestTimeTooSkewed" => "the clocks of this machine and the store differ: set them by NTP".to_owned(),
            "ExpiredToken" | "InvalidToken" => "the session token is not valid: compare AWS_SESSION_TOKEN".to_owned(),
            "QuotaExceeded" | "XMinioStorageFull" => "the store is full".to_owned(),
            _ => return None,
        };
        return Some(format!("{advice} ({code})"));
    }
    let contains = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if contains(&["dns error", "failed to lookup"]) {
        return Some("the host of AWS_ENDPOINT_URL has no address (DNS)".to_owned());
    }
    if contains(&["Connection refused"]) {
        return Some("nothing listens at AWS_ENDPOINT_URL (connection refused)".to_owned());
    }
    if contains(&["certificate", "UnknownIssuer"]) {
        return Some(format!(
            "the certificate of the store is not trusted: add its authority to the machine, or name it with \
             SSL_CERT_FILE ({})",
            text.rsplit(": ").next().unwrap_or_default()
        ));
    }
    if contains(&["scheme is not allowed", "URL scheme"]) {
        return Some("AWS_ENDPOINT_URL is http://, which AWS_ALLOW_HTTP=true permits".to_owned());
    }
    contains(&["timed out", "operation timed out"])
        .then(|| "the store does not respond: compare AWS_ENDPOINT_URL".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_error_names_a_setting_or_a_remedy() {
        let with_code = |code: &str| format!("403 Forbidden: <Error><Code>{code}</Code></Error>");
        for (text, word) in [
            (with_code("InvalidAccessKeyId"), "AWS_ACCESS_KEY_ID"),
            (with_code("SignatureDoesNotMatch"), "AWS_SECRET_ACCESS_KEY"),
            (with_code("AccessDenied"), "s3:ListBucket"),
            (with_code("NoSuchBucket"), "no bucket school"),
            (with_code("PermanentRedirect"), "AWS_REGION"),
            (with_code("RequestTimeTooSkewed"), "NTP"),
            ("dns error: no record".to_owned(), "DNS"),
            ("tcp connect error: Connection refused".to_owned(), "nothing listens"),
            ("invalid peer certificate: UnknownIssuer".to_owned(), "UnknownIssuer"),
        ] {
            let advice = advice("write", "school", &text).unwrap_or_default();
            assert!(advice.contains(word), "{text}: {advice}");
        }
        assert_eq!(advice("write", "school", &with_code("Other")), None);
    }
}
