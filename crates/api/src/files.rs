//! File uploads: a streamed form whose file is staged, counted and inspected before a handler sees it. A file is stored
//! only together with the row that names it. Downloads are in `downloads.rs`. See docs/api-contract.md#upload-types.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use axum::body::Body;
use axum::extract::multipart::{Field, Multipart};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::{HeaderMap, header};
use domain::file::{FileKey, FileType, LegacyFormat, StoredFile};
use domain::text::FileName;
use domain::version::VersionedObject;
use futures_util::StreamExt;
use garde::Validate;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::body_timeout;
use super::context::{App, Context};
use super::idempotency::Claim;
use super::quota;
use super::response::Versioned;
use super::valid;
use adapters::blob_store::inspect::{self, UploadedType};
use adapters::blob_store::{BlobStore, Staged, missing_bytes, missing_key, name};
use auth::Caller;
use auth::concurrency::OperationKind;
use auth::uploads::{UploadPermit, UploadQuota};
use common::error::{Error, Result};
use common::failpoint;
use db::{ReadTx, WriteTx};

/// Maximum length of a form field other than the file, in bytes.
const FIELD_MAX: usize = 64 * 1024;
/// Bytes that a form may contain besides its file.
const FORM_OVERHEAD: u64 = 256 * 1024;
/// Bytes and frames that may be read before the head of a form part is complete.
const HEAD_BYTES: i64 = 2 << 20;
const HEAD_FRAMES: i64 = 1024;
/// The maximum number of attempts to copy files, of which some are deleted meanwhile.
const COPY_ATTEMPTS_MAX: u32 = 3;

/// A form with one file in `file`, and other fields described by `F`. A file of an older Office format is
/// converted.
pub struct Upload<F = NoFields> {
    pub file: Uploaded,
    pub fields: F,
}

/// An uploaded file: the staged bytes and the detected type.
#[derive(Debug)]
pub struct Uploaded {
    /// The sanitized file name.
    pub name: FileName,
    /// The type, judged by extension and content.
    pub kind: FileType,
    pub staged: Staged,
}

/// A file as it was received.
struct Received {
    name: FileName,
    staged: Staged,
}

impl Received {
    fn of_type(self, kind: FileType) -> Uploaded {
        let Self { name, staged } = self;
        Uploaded { name, kind, staged }
    }
}

/// A form as it was received.
struct ReceivedForm<F> {
    file: Received,
    fields: F,
}

/// The fields of a form with a file only.
#[derive(Debug, Default, Deserialize, Validate)]
#[serde(deny_unknown_fields)]
#[garde(allow_unvalidated)]
pub struct NoFields {}

/// A form with a file only, in the OpenAPI document.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only describes the body in the OpenAPI document")]
pub struct FileForm {
    /// The file to upload.
    #[schema(value_type = String, format = Binary)]
    file: (),
}

impl Uploaded {
    /// The metadata of the file once it is stored under this key.
    pub fn stored(&self, key: FileKey) -> StoredFile {
        StoredFile {
            key,
            file_name: self.name.clone(),
            mime_type: self.kind.mime().to_owned(),
            size: i64::try_from(self.staged.size()).unwrap_or(i64::MAX),
            sha256: self.staged.sha256().to_owned(),
        }
    }
}

impl<F: DeserializeOwned + Validate<Context = ()> + Send> FromRequest<App> for Upload<F> {
    type Rejection = Error;

    async fn from_request(request: Request, app: &App) -> Result<Self> {
        let (request, quota, cx) = check_quota(request, app).await?;
        let (upload, kind) = Self::read(request, quota, app).await?;
        let file = match kind {
            UploadedType::Stored(kind) => upload.file.of_type(kind),
            UploadedType::Legacy(format) => convert(cx.as_ref(), upload.file, format).await?,
        };
        Ok(Self {
            file,
            fields: upload.fields,
        })
    }
}

/// A form with a file that is stored unchanged. A file of an older Office format is rejected, because users who download
/// a file from the chat expect the bytes that were sent.
pub struct Unconverted(pub Uploaded);

impl FromRequest<App> for Unconverted {
    type Rejection = Error;

    async fn from_request(request: Request, app: &App) -> Result<Self> {
        let (request, quota, _) = check_quota(request, app).await?;
        let (upload, kind) = Upload::<NoFields>::read(request, quota, app).await?;
        match kind {
            UploadedType::Stored(kind) => Ok(Self(upload.file.of_type(kind))),
            UploadedType::Legacy(format) => Err(Error::LegacyFormat(format)),
        }
    }
}

/// Checks the storage quota before the file of a form is read.
async fn check_quota(request: Request, app: &App) -> Result<(Request, Option<UploadQuota>, Option<Context>)> {
    if !is_form(request.headers()) {
        return Err(Error::UnsupportedMediaType("multipart/form-data"));
    }
    let (mut parts, body) = request.into_parts();
    let cx = Context::from_request_parts(&mut parts, app).await.ok();
    let quota = match &cx {
        Some(cx) => {
            let (least, most) = (length_min(&parts.headers), length_max(&parts.headers, app));
            quota::check_quota_between(cx, least, most).await?
        }
        None => None,
    };
    Ok((Request::from_parts(parts, body), quota, cx))
}

/// Converts a file of an older Office format to the format that replaced it, and renames it.
async fn convert(cx: Option<&Context>, file: Received, format: LegacyFormat) -> Result<Uploaded> {
    let cx = cx.filter(|cx| cx.app().document_workflows().can_convert());
    let cx = cx.ok_or(Error::LegacyFormat(format))?;
    let (app, context) = (cx.app(), cx.context()?);
    let own = app.uploads().begin_conversion(&cx.caller().user.id).await?;
    let organization = context.tenant.id().clone();
    let place = app
        .tenant_semaphore()
        .acquire(OperationKind::Conversion, Some(&organization))
        .await?;
    let conversion = app
        .document_workflows()
        .convert_upload(context, file.staged, format, (own, place));
    let (staged, kind) = (conversion.await?, format.successor());
    let name = name::sanitize(&format!("{}.{kind}", name::stem(file.name.as_str())));
    Ok(Uploaded { name, kind, staged })
}

/// A file that is read but not stored, such as a table of grades. No quota applies.
pub struct TemporaryUpload(pub Uploaded);

impl FromRequest<App> for TemporaryUpload {
    type Rejection = Error;

    async fn from_request(request: Request, app: &App) -> Result<Self> {
        let (upload, kind) = Upload::<NoFields>::read(request, None, app).await?;
        match kind {
            UploadedType::Stored(kind) => Ok(Self(upload.file.of_type(kind))),
            UploadedType::Legacy(format) => {
                Err(Error::UnsupportedFileType(format!("{format}; save the table as .csv")))
            }
        }
    }
}

/// Lower bound of the file size, from Content-Length; 0 without one.
fn length_min(headers: &HeaderMap) -> u64 {
    length(headers).unwrap_or(0).saturating_sub(FORM_OVERHEAD)
}

/// Upper bound of the file size.
fn length_max(headers: &HeaderMap, app: &App) -> u64 {
    let limit = app.settings().upload_limit;
    length(headers).map_or(limit, |length| length.min(limit))
}

fn length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

impl<F: DeserializeOwned + Validate<Context = ()>> Upload<F> {
    async fn read(request: Request, quota: Option<UploadQuota>, app: &App) -> Result<(ReceivedForm<F>, UploadedType)> {
        if !is_form(request.headers()) {
            return Err(Error::UnsupportedMediaType("multipart/form-data"));
        }
        let claim = request.extensions().get::<Arc<Claim>>().cloned();
        let user = request.extensions().get::<Caller>().map(|caller| &caller.user.id);
        let user = user.ok_or(Error::Unauthenticated)?;
        let mut permit = app.uploads().begin(user, quota, length_min(request.headers())).await?;
        let meter = UploadMeter::default();
        let mut form = meter.form(request).await?;
        let (file, fields) = read(&mut form, &meter, &mut permit, app).await?;
        let (name, mut staged) = file.ok_or_else(|| Error::invalid("file", "required", "is required"))?;
        // The bytes of the file count until it is stored or dropped.
        staged.hold(permit);
        if staged.size() == 0 {
            return Err(Error::invalid("file", "too_short", "is empty"));
        }
        failpoint::hit("upload.staged");
        let kind = inspect::uploaded_type(&staged, name.as_str()).await?;
        if let Some(claim) = claim {
            claim.note_form(name.as_str(), staged.sha256(), &fields);
        }
        let form = ReceivedForm {
            file: Received { name, staged },
            fields: valid::checked(Value::Object(fields))?,
        };
        Ok((form, kind))
    }
}

type FormParts = (Option<(FileName, Staged)>, Map<String, Value>);

async fn read(form: &mut Multipart, meter: &UploadMeter, permit: &mut UploadPermit, app: &App) -> Result<FormParts> {
    let (mut file, mut fields) = (None, Map::new());
    loop {
        meter.expect_head();
        let Some(mut part) = complete(form.next_field()).await? else {
            return Ok((file, fields));
        };
        meter.expect_content();
        let key = part.name().unwrap_or_default().to_owned();
        let repeated = if key == "file" {
            file.is_some()
        } else {
            fields.contains_key(&key)
        };
        if repeated {
            return Err(Error::invalid(key, "duplicate", "is there twice"));
        }
        if key == "file" {
            // Browsers encode a quote and a line break in a file name as %22, %0D and %0A.
            let sent = part
                .file_name()
                .unwrap_or_default()
                .replace("%22", "\"")
                .replace("%0D", "")
                .replace("%0A", "");
            file = Some((name::sanitize(&sent), stage(&mut part, permit, app).await?));
        } else {
            fields.insert(key.clone(), Value::String(text(&mut part, &key).await?));
        }
    }
}

async fn stage(part: &mut Field<'_>, permit: &mut UploadPermit, app: &App) -> Result<Staged> {
    let mut staging = app.files().stage(app.settings().upload_limit);
    while let Some(chunk) = complete(part.chunk()).await? {
        permit.receive(chunk.len() as u64).await?;
        staging.write(&chunk).await?;
    }
    staging.finish().await
}

async fn text(part: &mut Field<'_>, key: &str) -> Result<String> {
    let mut bytes = Vec::new();
    while let Some(chunk) = complete(part.chunk()).await? {
        if bytes.len() + chunk.len() > FIELD_MAX {
            return Err(Error::invalid(key, "too_long", "is too long"));
        }
        bytes.extend_from_slice(&chunk);
    }
    String::from_utf8(bytes).map_err(|_| Error::invalid(key, "format", "must be UTF-8 text"))
}

async fn complete<T>(step: impl Future<Output = Result<T, axum::extract::multipart::MultipartError>>) -> Result<T> {
    step.await.map_err(|error| {
        if body_timeout::is_body_timeout(&error) {
            return Error::BodyTimeout;
        }
        Error::invalid(
            "",
            "multipart",
            format!("the form cannot be read: {}", error.body_text()),
        )
    })
}

pub fn is_form(headers: &HeaderMap) -> bool {
    let text = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let essence = text.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("multipart/form-data")
}

/// Limits what is read while the head of a part is incomplete. The parser would buffer an endless head in memory and
/// search it again with every frame.
#[derive(Clone, Default)]
struct UploadMeter(Arc<Allowance>);

#[derive(Default)]
struct Allowance {
    bytes: AtomicI64,
    frames: AtomicI64,
}

impl UploadMeter {
    async fn form(&self, request: Request) -> Result<Multipart> {
        let meter = self.clone();
        let (parts, body) = request.into_parts();
        let counted = body.into_data_stream().map(move |chunk| match chunk {
            Ok(chunk) if meter.consume(chunk.len()) => Ok(chunk),
            Ok(_) => Err(axum::Error::new("the head of a part is too long")),
            Err(error) => Err(error),
        });
        let request = Request::from_parts(parts, Body::from_stream(counted));
        let unreadable = |_| Error::invalid("", "multipart", "the form names no boundary");
        Multipart::from_request(request, &()).await.map_err(unreadable)
    }

    fn consume(&self, length: usize) -> bool {
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        let bytes = self.0.bytes.fetch_sub(length, Ordering::Relaxed);
        let frames = self.0.frames.fetch_sub(1, Ordering::Relaxed);
        bytes >= length && frames > 0
    }

    fn expect_head(&self) {
        self.allow(HEAD_BYTES, HEAD_FRAMES);
    }

    fn expect_content(&self) {
        self.allow(i64::MAX, i64::MAX);
    }

    fn allow(&self, bytes: i64, frames: i64) {
        self.0.bytes.store(bytes, Ordering::Relaxed);
        self.0.frames.store(frames, Ordering::Relaxed);
    }
}

/// Stores a file and then writes the rows that name it. From here on the result does not depend on the client: in the
/// end either both exist or neither.
pub async fn store_file<T: Send + 'static>(
    cx: &Context,
    staged: Staged,
    key: FileKey,
    act: impl FnMut(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
) -> Result<T> {
    quota::check_quota(cx, staged.size()).await?;
    let files = cx.app().files().clone();
    let stored_key = key.clone();
    let (act, inside) = (with_quota_check(vec![key.clone()], act), cx.clone());
    let writing = async move { inside.write(act).await };
    with_files(
        cx,
        async move { files.commit(staged, &stored_key).await },
        vec![key],
        writing,
    )
    .await
}

/// Like [`store_file`], for a file of an existing object: `If-Match` is compared with its version.
pub async fn store_file_for_object<T: Send + 'static>(
    cx: &Context,
    object: VersionedObject,
    staged: Staged,
    key: FileKey,
    act: impl FnMut(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
) -> Result<Versioned<T>> {
    quota::check_quota(cx, staged.size()).await?;
    let (files, stored_key, inside) = (cx.app().files().clone(), key.clone(), cx.clone());
    let storing = async move { files.commit(staged, &stored_key).await };
    let act = with_quota_check(vec![key.clone()], act);
    let writing = async move { inside.write_object(object, act).await };
    with_files(cx, storing, vec![key], writing).await
}

/// Copies the stored files that `prepare` lists, each from one key to another, and then writes the rows that name the
/// copies with the action that `act` returns. If a file was deleted after `prepare` had read its row, everything begins
/// again with the rows that are left.
pub async fn copy_files<P: Send + 'static, T: Send + 'static, A>(
    cx: &Context,
    prepare: impl Fn(&mut ReadTx<'_>) -> Result<(P, Vec<(FileKey, FileKey)>)> + Clone + Send + 'static,
    act: impl Fn(P) -> A + Send,
) -> Result<T>
where
    A: FnMut(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
{
    let mut missing: Option<FileKey> = None;
    for _ in 0..COPY_ATTEMPTS_MAX {
        let (prepared, copies) = cx.read(prepare.clone()).await?;
        if let Some(key) = &missing
            && copies.iter().any(|(from, _)| from == key)
        {
            // Its row is still there: the bytes were lost.
            return Err(missing_bytes(key));
        }
        let done = store_copies(cx, copies, act(prepared)).await;
        missing = match &done {
            Err(error) => missing_key(error).cloned(),
            Ok(_) => None,
        };
        if missing.is_none() {
            return done;
        }
    }
    Err(Error::Overloaded)
}

async fn store_copies<T: Send + 'static>(
    cx: &Context,
    copies: Vec<(FileKey, FileKey)>,
    act: impl FnMut(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
) -> Result<T> {
    if !copies.is_empty() {
        quota::check_quota(cx, 1).await?;
    }
    let files = cx.app().files().clone();
    let keys: Vec<FileKey> = copies.iter().map(|(_, to)| to.clone()).collect();
    let storing = async move {
        for (index, (from, to)) in copies.iter().enumerate() {
            if let Err(error) = files.copy(from, to).await {
                remove_unreferenced(&files, copies[..index].iter().map(|(_, to)| to)).await;
                return Err(error);
            }
        }
        Ok(())
    };
    let (act, inside) = (with_quota_check(keys.clone(), act), cx.clone());
    let writing = async move { inside.write(act).await };
    with_files(cx, storing, keys, writing).await
}

async fn remove_unreferenced(files: &BlobStore, keys: impl Iterator<Item = &FileKey> + Send) {
    for key in keys {
        if let Err(error) = files.remove(key).await {
            tracing::warn!(error = format!("{error:?}"), file.key = %key, "unreferenced file could not be removed");
        }
    }
}

/// Fails the transaction when the files it names exceed the quotas.
fn with_quota_check<T>(
    keys: Vec<FileKey>,
    mut act: impl FnMut(&mut WriteTx<'_>) -> Result<T>,
) -> impl FnMut(&mut WriteTx<'_>) -> Result<T> {
    // Copies for many groups are made by staff; the quota of a group applies to files of the group only.
    let single = keys.first().filter(|_| keys.len() == 1).cloned();
    move |tx: &mut WriteTx<'_>| {
        let done = act(tx)?;
        tx.must_have_room(single.as_ref())?;
        Ok(done)
    }
}

async fn with_files<T: Send + 'static>(
    cx: &Context,
    storing: impl Future<Output = Result<()>> + Send + 'static,
    keys: Vec<FileKey>,
    writing: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let cx = cx.clone();
    let task = tokio::spawn(async move {
        storing.await?;
        failpoint::hit("upload.kept");
        let done = writing.await;
        failpoint::hit("upload.written");
        // After any other error the rows may have been committed nevertheless, so the file must be kept.
        let is_not_written = matches!(&done, Err(error) if !matches!(error, Error::Internal(_) | Error::NotReady));
        if is_not_written {
            remove_unreferenced(cx.app().files(), keys.iter()).await;
        }
        done
    });
    task.await.map_err(|error| anyhow::anyhow!(error))?
}
