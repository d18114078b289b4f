//! Streams the personal data of a user as one archive: JSON lists, one file per table, and the files that the user
//! uploaded or wrote. ExportPage are read page by page and written as they are read, so memory does not grow with the
//! amount of data.

use domain::id::UserId;
use serde_json::{Map, Value};

use super::Jobs;
use adapters::blob_store::name;
use adapters::blob_store::zip_stream::{ByteStream, ZipStream, stream_zip};
use common::clock;
use common::error::Result;
use db::Tenant;
use db::gdpr::files::{FOLDERS, Folder, PersonalFile};
use db::gdpr::hidden::HiddenRows;
use db::gdpr::{ExportPage, ExportTable, account_tables, export_tables};
use db::platform::CrossTenantReason;

/// The scope of an export.
#[derive(Debug, Clone)]
pub(super) struct ExportScope {
    pub user: UserId,
    /// Whether to include the account itself.
    pub with_account: bool,
    /// Whether the user requested the export. Then it leaves out what the user must not see yet.
    pub is_own: bool,
    /// The organizations whose data is included, each with its folder.
    pub holders: Vec<(Tenant, String)>,
}

impl Jobs {
    /// Returns all data about a user, for the user: streamed while it is read.
    pub async fn export_own_data(&self, user: &UserId) -> Result<ByteStream> {
        let (user, asked) = (user.clone(), user.clone());
        let store = &self.0.transactor;
        let holders = store.platform_read(CrossTenantReason::PersonalData, move |platform| {
            platform.holders_of(&asked)
        });
        let extent = ExportScope {
            user,
            with_account: true,
            is_own: true,
            holders: holders.await?,
        };
        Ok(self.archive(extent))
    }

    /// Returns the archive as a stream.
    pub(super) fn archive(&self, extent: ExportScope) -> ByteStream {
        let jobs = self.clone();
        stream_zip("personal data", move |zip| async move {
            let mut archive = ExportArchive { zip, jobs };
            archive.write(&extent).await?;
            Ok(archive.zip)
        })
    }
}

/// An archive that is being written.
struct ExportArchive {
    zip: ZipStream,
    jobs: Jobs,
}

impl ExportArchive {
    async fn write(&mut self, extent: &ExportScope) -> Result<()> {
        if extent.with_account {
            for table in account_tables::TABLES {
                let nothing = HiddenRows::default();
                self.list(table.name.to_owned(), table, &extent.user, (None, &nothing))
                    .await?;
            }
            self.emails(&extent.user).await?;
        }
        for (tenant, slug) in &extent.holders {
            let hidden_rows = if extent.is_own {
                self.jobs.hidden_rows(&extent.user, tenant).await?
            } else {
                HiddenRows::default()
            };
            let private = if extent.is_own {
                export_tables::PRIVATE_TABLES
            } else {
                &[]
            };
            for table in export_tables::TABLES.iter().chain(private) {
                let name = format!("{slug}/{}", table.name);
                self.list(name, table, &extent.user, (Some(tenant), &hidden_rows))
                    .await?;
            }
            for folder in FOLDERS {
                self.folder(slug, folder, &extent.user, (tenant, &hidden_rows)).await?;
            }
        }
        Ok(())
    }

    /// Writes the emails to the user in the outbox folder, without their text: it may contain a valid link.
    async fn emails(&mut self, user: &UserId) -> Result<()> {
        let user = user.clone();
        let look = self
            .jobs
            .0
            .transactor
            .platform_read(CrossTenantReason::PersonalData, move |platform| platform.profile(&user));
        let emails = self.jobs.0.outbox.list(look.await?.email.stored_form()).await?;
        let mut entry = self
            .zip
            .add_entry("emails-in-outbox.json".to_owned(), clock::now())
            .await?;
        entry.write(serde_json::to_string_pretty(&emails)?.as_bytes()).await?;
        entry.write(b"\n").await?;
        entry.end().await
    }

    /// Writes one table as a JSON array.
    async fn list(
        &mut self,
        name: String,
        table: &'static ExportTable,
        user: &UserId,
        (tenant, hidden_rows): (Option<&Tenant>, &HiddenRows),
    ) -> Result<()> {
        let Self { zip, jobs } = self;
        let mut entry = zip.add_entry(format!("{name}.json"), clock::now()).await?;
        let (mut after, mut is_first) = (String::new(), true);
        entry.write(b"[").await?;
        loop {
            let mut page = jobs.rows(table, user, tenant, &after).await?;
            page.rows.retain(|row| hidden_rows.is_visible(row));
            entry.write(render_rows(&page.rows, is_first).as_bytes()).await?;
            is_first &= page.rows.is_empty();
            match page.next {
                Some(next) => after = next,
                None => break,
            }
        }
        entry.write(b"\n]\n").await?;
        entry.end().await
    }

    /// Writes the files of one folder. The id of the row is prepended to each name.
    async fn folder(
        &mut self,
        slug: &str,
        folder: &'static Folder,
        user: &UserId,
        (tenant, hidden_rows): (&Tenant, &HiddenRows),
    ) -> Result<()> {
        let mut after = String::new();
        loop {
            let (user, asked) = (user.clone(), std::mem::take(&mut after));
            let context = Jobs::context(tenant.clone());
            let store = &self.jobs.0.transactor;
            let found = store.read(context, move |tx| tx.personal_files(folder, &user, &asked));
            let found = found.await?;
            let Some(last) = found.last() else { return Ok(()) };
            after.clone_from(&last.id);
            for file in found.into_iter().filter(|file| hidden_rows.is_file_visible(file)) {
                self.file(&format!("{slug}/{}", folder.name), file).await?;
            }
        }
    }

    async fn file(&mut self, folder: &str, file: PersonalFile) -> Result<()> {
        let name = if file.extension.is_empty() {
            name::sanitize(&file.name)
        } else {
            name::from_title(&file.name, &file.extension)
        };
        let path = format!("{folder}/{}-{}", file.id, name.as_str());
        let Self { zip, jobs } = self;
        zip.add_stored(&jobs.0.files, path, clock::now(), (&file.key, &file.sha256))
            .await
    }
}

impl Jobs {
    async fn hidden_rows(&self, user: &UserId, tenant: &Tenant) -> Result<HiddenRows> {
        let user = user.clone();
        let look = self
            .0
            .transactor
            .read(Self::context(tenant.clone()), move |tx| tx.rows_hidden_from(&user));
        look.await
    }

    /// Reads rows of a table, of an organization or of the account.
    async fn rows(
        &self,
        table: &'static ExportTable,
        user: &UserId,
        tenant: Option<&Tenant>,
        after: &str,
    ) -> Result<ExportPage> {
        let (store, user, after) = (&self.0.transactor, user.clone(), after.to_owned());
        match tenant {
            Some(tenant) => {
                let context = Self::context(tenant.clone());
                store
                    .read(context, move |tx| tx.organization_export_page(table, &user, &after))
                    .await
            }
            None => {
                store
                    .platform_read(CrossTenantReason::PersonalData, move |platform| {
                        platform.account_export_page(table, &user, &after)
                    })
                    .await
            }
        }
    }
}

/// Formats rows as elements of a JSON array, one per line.
fn render_rows(rows: &[Map<String, Value>], is_first: bool) -> String {
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        text.push_str(if is_first && index == 0 { "\n" } else { ",\n" });
        text.push_str(&Value::Object(row.clone()).to_string());
    }
    text
}
