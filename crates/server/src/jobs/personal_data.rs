//! A person's data as one archive: lists as JSON, one file for each noun, and the files he brought or wrote. Read page by
//! page and written as it is read: the memory it takes does not grow with the person.

use std::io;

use async_zip::base::write::ZipFileWriter;
use async_zip::{Compression, ZipEntryBuilder};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, future, stream};
use model::id::UserId;
use serde_json::{Map, Value};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio_util::compat::{Compat, FuturesAsyncWriteCompatExt};
use tokio_util::io::ReaderStream;
use tokio_util::task::AbortOnDropHandle;

use super::Jobs;
use crate::error::{Error, Result};
use crate::files::name;
use crate::store::Tenant;
use crate::store::personal::concealed::Concealed;
use crate::store::personal::files::{FOLDERS, Folder, PersonalFile};
use crate::store::personal::{Noun, Rows, account, nouns};
use crate::store::platform::PlatformProof;

/// Bytes on their way from the writer of an archive to its reader.
const PIPE: usize = 64 * 1024;

/// Whose data, and how far.
#[derive(Debug, Clone)]
pub(super) struct Extent {
    /// The person.
    pub user: UserId,
    /// Whether the account itself is told.
    pub with_account: bool,
    /// Whether the person takes it himself: then it leaves out what he is not to see yet.
    pub is_own: bool,
    /// The schools that tell what they hold, each in its folder.
    pub holders: Vec<(Tenant, String)>,
}

type Pieces = stream::BoxStream<'static, io::Result<Bytes>>;

impl Jobs {
    /// All that the service holds about a person, for the person: streamed while it is gathered.
    pub async fn own_data(&self, user: &UserId) -> Result<Pieces> {
        let (user, asked) = (user.clone(), user.clone());
        let store = &self.0.store;
        let holders = store.platform_read(PlatformProof::personal_data(), move |platform| {
            platform.holders_of(&asked)
        });
        let extent = Extent {
            user,
            with_account: true,
            is_own: true,
            holders: holders.await?,
        };
        Ok(self.archive(extent).boxed())
    }

    /// The archive piece by piece. When it cannot be finished the last piece is an error, so that nobody takes half of it
    /// for all.
    pub(super) fn archive(&self, extent: Extent) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
        let (reader, writer) = tokio::io::duplex(PIPE);
        let jobs = self.clone();
        let writing = AbortOnDropHandle::new(tokio::spawn(async move {
            let mut archive = Archive {
                zip: ZipFileWriter::with_tokio(writer),
                jobs,
            };
            archive.write(&extent).await?;
            archive.zip.close().await.map_err(failed)?;
            Ok::<_, Error>(())
        }));
        let ending = stream::once(async move {
            match writing.await {
                Ok(Ok(())) => None,
                Ok(Err(error)) => {
                    tracing::warn!(error = format!("{error:?}"), "an archive of personal data broke off");
                    Some(Err(io::Error::other("the archive broke off")))
                }
                Err(error) => Some(Err(io::Error::other(error))),
            }
        });
        ReaderStream::with_capacity(reader, PIPE).chain(ending.filter_map(future::ready))
    }
}

/// An archive being written.
struct Archive<W> {
    zip: ZipFileWriter<Compat<W>>,
    jobs: Jobs,
}

impl<W: AsyncWrite + Unpin + Send> Archive<W> {
    async fn write(&mut self, extent: &Extent) -> Result<()> {
        if extent.with_account {
            for noun in account::NOUNS {
                let nothing = Concealed::default();
                self.list(noun.name.to_owned(), noun, &extent.user, (None, &nothing))
                    .await?;
            }
        }
        for (tenant, slug) in &extent.holders {
            let concealed = if extent.is_own {
                self.jobs.concealed(&extent.user, tenant).await?
            } else {
                Concealed::default()
            };
            for noun in nouns::NOUNS {
                let name = format!("{slug}/{}", noun.name);
                self.list(name, noun, &extent.user, (Some(tenant), &concealed)).await?;
            }
            for folder in FOLDERS {
                self.folder(slug, folder, &extent.user, (tenant, &concealed)).await?;
            }
        }
        Ok(())
    }

    /// One noun as a JSON array.
    async fn list(
        &mut self,
        name: String,
        noun: &'static Noun,
        user: &UserId,
        (tenant, concealed): (Option<&Tenant>, &Concealed),
    ) -> Result<()> {
        let Self { zip, jobs } = self;
        let entry = ZipEntryBuilder::new(format!("{name}.json").into(), Compression::Deflate);
        let mut entry = zip.write_entry_stream(entry).await.map_err(failed)?.compat_write();
        let (mut after, mut is_first) = (String::new(), true);
        entry.write_all(b"[").await?;
        loop {
            let mut page = jobs.rows(noun, user, tenant, &after).await?;
            page.rows.retain(|row| concealed.shows(row));
            entry.write_all(lines(&page.rows, is_first).as_bytes()).await?;
            is_first &= page.rows.is_empty();
            match page.next {
                Some(next) => after = next,
                None => break,
            }
        }
        entry.write_all(b"\n]\n").await?;
        entry.into_inner().close().await.map_err(failed)
    }

    /// The files of one folder, each with the id of its row before its name.
    async fn folder(
        &mut self,
        slug: &str,
        folder: &'static Folder,
        user: &UserId,
        (tenant, concealed): (&Tenant, &Concealed),
    ) -> Result<()> {
        let mut after = String::new();
        loop {
            let (user, asked) = (user.clone(), std::mem::take(&mut after));
            let standpoint = Jobs::standpoint(tenant.clone());
            let store = &self.jobs.0.store;
            let found = store.read(standpoint, move |scope| scope.personal_files(folder, &user, &asked));
            let found = found.await?;
            let Some(last) = found.last() else { return Ok(()) };
            after.clone_from(&last.id);
            for file in found.into_iter().filter(|file| concealed.shows_file(file)) {
                self.file(&format!("{slug}/{}", folder.name), file).await?;
            }
        }
    }

    async fn file(&mut self, folder: &str, file: PersonalFile) -> Result<()> {
        let name = if file.extension.is_empty() {
            name::safe(&file.name)
        } else {
            name::of_title(&file.name, &file.extension)
        };
        let path = format!("{folder}/{}-{}", file.id, name.as_str());
        let opened = self.jobs.0.files.open(&file.key).await?;
        let entry = ZipEntryBuilder::new(path.into(), Compression::Deflate);
        let mut entry = self.zip.write_entry_stream(entry).await.map_err(failed)?.compat_write();
        let mut pieces = std::pin::pin!(opened.verified(&file.sha256).await?);
        while let Some(piece) = pieces.next().await {
            entry.write_all(&piece?).await?;
        }
        entry.into_inner().close().await.map_err(failed)
    }
}

impl Jobs {
    async fn concealed(&self, user: &UserId, tenant: &Tenant) -> Result<Concealed> {
        let user = user.clone();
        let look = self.0.store.read(Self::standpoint(tenant.clone()), move |scope| {
            scope.concealed_from(&user)
        });
        look.await
    }

    /// Rows of a noun: of a school, or of the account.
    async fn rows(&self, noun: &'static Noun, user: &UserId, tenant: Option<&Tenant>, after: &str) -> Result<Rows> {
        let (store, user, after) = (&self.0.store, user.clone(), after.to_owned());
        match tenant {
            Some(tenant) => {
                let standpoint = Self::standpoint(tenant.clone());
                store
                    .read(standpoint, move |scope| scope.personal_rows(noun, &user, &after))
                    .await
            }
            None => {
                store
                    .platform_read(PlatformProof::personal_data(), move |platform| {
                        platform.account_rows(noun, &user, &after)
                    })
                    .await
            }
        }
    }
}

/// Rows as they stand between the brackets of an array, one on each line.
fn lines(rows: &[Map<String, Value>], is_first: bool) -> String {
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        text.push_str(if is_first && index == 0 { "\n" } else { ",\n" });
        text.push_str(&Value::Object(row.clone()).to_string());
    }
    text
}

fn failed(error: async_zip::error::ZipError) -> Error {
    Error::Internal(anyhow::Error::new(error).context("archive"))
}
