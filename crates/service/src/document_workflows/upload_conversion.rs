//! Conversion of uploaded files of older Office formats. The document server fetches the upload from this service, so it is
//! stored for the time of the conversion; nothing else of it remains.

use domain::file::{ConversionSource, LegacyFormat};
use domain::id::ConversionSourceId;
use sha2::{Digest, Sha256};
use tokio::time::{Instant, timeout_at};

use super::DocumentWorkflows;
use adapters::blob_store::{Staged, hex, inspect};
use adapters::onlyoffice::client::Conversion;
use common::error::{Error, Result};
use common::metrics::metrics;
use common::{clock, failpoint};
use db::platform::CrossTenantReason;
use db::{RequestContext, Tenant};

/// Seconds after the deadline of a conversion at which its source is removed, if the process died in between.
const REMOVAL_MARGIN: i64 = 60;

impl DocumentWorkflows {
    /// Whether there is a document server that converts uploads.
    pub fn can_convert(&self) -> bool {
        self.server.is_configured()
    }

    /// Converts an uploaded file. The conversion goes on to its end when the caller leaves, and holds `permits` until then.
    pub async fn convert_upload(
        &self,
        context: RequestContext,
        upload: Staged,
        format: LegacyFormat,
        permits: impl Send + 'static,
    ) -> Result<Staged> {
        let workflows = self.clone();
        let conversion = tokio::spawn(async move {
            let converted = workflows.store_and_convert(context, upload, format).await;
            drop(permits);
            converted
        });
        conversion.await.map_err(|error| anyhow::anyhow!(error))?
    }

    /// The upload that the document server fetches under this id; only while it is converted.
    pub async fn conversion_source(&self, id: ConversionSourceId) -> Result<ConversionSource> {
        let now = clock::now();
        let look = self
            .transactor
            .platform_read(CrossTenantReason::DocumentServer, move |platform| {
                platform.conversion_source(&id, now)
            });
        look.await?.ok_or(Error::NotFound)
    }

    async fn store_and_convert(
        &self,
        context: RequestContext,
        mut upload: Staged,
        format: LegacyFormat,
    ) -> Result<Staged> {
        let patience = self.server.timeouts().conversion();
        let deadline = Instant::now() + patience;
        // The bytes of the upload count for its user until the result is stored.
        let permit = upload.take_held();
        let source = ConversionSource {
            id: ConversionSourceId::new(clock::new_id()),
            format,
            size: i64::try_from(upload.size()).unwrap_or(i64::MAX),
            sha256: upload.sha256().to_owned(),
        };
        let (id, listed, now) = (source.id.clone(), source.clone(), clock::now());
        let removed_at = now.plus_seconds(i64::try_from(patience.as_secs()).unwrap_or(0) + REMOVAL_MARGIN);
        let list = self.transactor.write(context.clone(), move |tx| {
            tx.insert_conversion_source(&listed, now, removed_at)
        });
        list.await?;
        failpoint::hit("conversion.listed");
        let begun = Instant::now();
        let converted = self.convert_source(&context.tenant, upload, &source, deadline).await;
        metrics().record_conversion(if converted.is_ok() { "made" } else { "failed" }, begun.elapsed());
        let release = self
            .transactor
            .write(context, move |tx| tx.release_conversion_source(&id));
        if let Err(error) = release.await {
            // The file is then removed when its row in `file_removals` is due.
            tracing::warn!(error = format!("{error:?}"), file.key = %source.file_key(), "conversion source not released");
        }
        failpoint::hit("conversion.released");
        let mut converted = converted?;
        if let Some(permit) = permit {
            converted.hold(permit);
        }
        Ok(converted)
    }

    async fn convert_source(
        &self,
        tenant: &Tenant,
        upload: Staged,
        source: &ConversionSource,
        deadline: Instant,
    ) -> Result<Staged> {
        let permit = timeout_at(deadline, self.conversions.permits.acquire()).await;
        let _permit = permit
            .map_err(|_| Error::DocumentServerTimeout)?
            .map_err(|_| Error::NotReady)?;
        // Without the deadline: a file that is stored after its removal would stay.
        self.files.commit(upload, &source.file_key()).await?;
        failpoint::hit("conversion.kept");
        let result_type = source.format.successor();
        let conversion = Conversion {
            key: self.source_key(tenant, source),
            file_type: source.format.as_str(),
            output_type: result_type.as_str(),
            url: self.server.source_url(&source.id),
            title: format!("upload.{result_type}"),
        };
        let result = self
            .request_conversion(conversion, deadline)
            .await
            .map_err(unreadable)?;
        let fetched = timeout_at(deadline, self.download(&result)).await;
        let converted = fetched
            .unwrap_or(Err(Error::DocumentServerTimeout))
            .map_err(|error| match error {
                Error::TooLarge { .. } => Error::UnreadableFile {
                    code: "too_large",
                    message: "it is larger than allowed after the conversion",
                },
                error => error,
            })?;
        failpoint::hit("conversion.fetched");
        let is_valid = inspect::check_type(&converted, result_type).await;
        is_valid.map_err(|error| Error::DocumentServer(format!("a conversion made no {result_type} file: {error}")))?;
        Ok(converted)
    }

    /// The document server stores results by key, for all services that use it.
    fn source_key(&self, tenant: &Tenant, source: &ConversionSource) -> String {
        let parts = [
            self.server.deployment(),
            tenant.id().as_str(),
            "upload",
            source.id.as_str(),
            source.format.as_str(),
        ];
        hex(&Sha256::digest(parts.join("\n").as_bytes()))
    }
}

/// The failures of a conversion that are due to the file, for the user who uploaded it.
fn unreadable(error: Error) -> Error {
    let message = match &error {
        Error::DocumentServerFault { code, .. } => match *code {
            "conversion_failed" => "it may be damaged",
            "password" => "it is protected with a password",
            "unknown_format" => "its content is something else",
            "too_large" => "it is too large to be converted",
            _ => return error,
        },
        _ => return error,
    };
    match error {
        Error::DocumentServerFault { code, .. } => Error::UnreadableFile { code, message },
        error => error,
    }
}
