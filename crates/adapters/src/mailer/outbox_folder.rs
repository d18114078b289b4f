//! The outbox folder: emails as files for the administrator to send. Without an SMTP server it receives all emails,
//! with one those that were rejected. An email may contain a secret link, so only the service's user can read the
//! folder.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use domain::time::Timestamp;
use serde::Serialize;

use common::error::{Error, Result};

/// The retention time in seconds. Links in emails are valid for a week at most.
const RETENTION_SECONDS: i64 = 30 * 24 * 60 * 60;
/// The maximum size in bytes of the header section of an email from this service.
const HEADER_BYTES_MAX: u64 = 8 * 1024;

/// An email in the outbox folder, without its text, which may contain a link that grants access.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutboxEmail {
    pub id: String,
    /// The recipient.
    pub to: String,
    /// The `Date` header.
    pub date: String,
}

/// The outbox folder.
#[derive(Debug, Clone)]
pub struct OutboxFolder {
    folder: PathBuf,
}

impl OutboxFolder {
    /// Returns the outbox folder of an installation.
    pub fn new(data_dir: &Path) -> Self {
        Self {
            folder: data_dir.join("outbox"),
        }
    }

    /// Writes an email; replaces an earlier file with the same id.
    pub async fn write(&self, id: &str, message: Vec<u8>) -> Result<()> {
        let (folder, id) = (self.folder.clone(), id.to_owned());
        let written = tokio::task::spawn_blocking(move || write(&folder, &id, &message)).await;
        Ok(written.map_err(|error| Error::Internal(error.into()))??)
    }

    /// Returns the emails to an address.
    pub async fn list(&self, address: &str) -> Result<Vec<OutboxEmail>> {
        let address = address.to_owned();
        let found = self.blocking(move |folder| read_emails_to(folder, &address)).await?;
        Ok(found.into_iter().map(|(_, email)| email).collect())
    }

    /// Deletes the emails to an address; returns how many.
    pub async fn delete(&self, address: &str) -> Result<usize> {
        let address = address.to_owned();
        self.blocking(move |folder| {
            let found = read_emails_to(folder, &address)?;
            for (path, _) in &found {
                remove(path)?;
            }
            sync(folder)?;
            Ok(found.len())
        })
        .await
    }

    /// Deletes emails that are older than the retention time; returns how many.
    pub async fn delete_expired(&self, now: Timestamp) -> Result<usize> {
        self.blocking(move |folder| {
            let oldest = now.plus_seconds(-RETENTION_SECONDS).as_millis();
            let mut expired = 0;
            for path in files(folder)? {
                let modified = path.metadata().and_then(|metadata| metadata.modified());
                let age = modified.map(|time| time.duration_since(std::time::UNIX_EPOCH).unwrap_or_default());
                // Ignores a file that another instance deleted in the meantime.
                if age.is_ok_and(|age| i64::try_from(age.as_millis()).is_ok_and(|at| at < oldest)) {
                    remove(&path)?;
                    expired += 1;
                }
            }
            Ok(expired)
        })
        .await
    }

    async fn blocking<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Path) -> std::io::Result<T> + Send + 'static,
    ) -> Result<T> {
        let folder = self.folder.clone();
        let done = tokio::task::spawn_blocking(move || act(&folder)).await;
        Ok(done.map_err(|error| Error::Internal(error.into()))??)
    }
}

fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    match std::fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn read_emails_to(folder: &Path, address: &str) -> std::io::Result<Vec<(PathBuf, OutboxEmail)>> {
    let mut found = Vec::new();
    for path in files(folder)? {
        let mut head = Vec::new();
        let read = std::fs::File::open(&path).and_then(|file| file.take(HEADER_BYTES_MAX).read_to_end(&mut head));
        match read {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        }
        let head = String::from_utf8_lossy(&head);
        let Some(to) = field(&head, "To").filter(|to| is_addressed_to(to, address)) else {
            continue;
        };
        let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let date = field(&head, "Date").unwrap_or_default();
        found.push((path, OutboxEmail { id, to, date }));
    }
    Ok(found)
}

/// Returns an unfolded header field of a message.
fn field(head: &str, name: &str) -> Option<String> {
    let head = head.split("\r\n\r\n").next().unwrap_or_default().replace("\r\n ", " ");
    let mut fields = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let found = fields.find(|(found, _)| found.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.trim().to_owned())
}

/// Returns whether a `To` header, with or without a display name, contains this address.
fn is_addressed_to(to: &str, address: &str) -> bool {
    let bare = to.rsplit_once('<').map_or(to, |(_, rest)| rest.trim_end_matches('>'));
    bare.trim().eq_ignore_ascii_case(address)
}

fn remove(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn sync(folder: &Path) -> std::io::Result<()> {
    match std::fs::File::open(folder) {
        Ok(folder) => folder.sync_all(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn write(folder: &Path, id: &str, message: &[u8]) -> std::io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let (unfinished, finished) = (folder.join(format!(".{id}")), folder.join(format!("{id}.eml")));
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&unfinished)?;
    file.write_all(message)?;
    file.sync_all()?;
    // The rename is atomic: readers of the folder only see complete emails.
    std::fs::rename(unfinished, finished)?;
    std::fs::File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    #[tokio::test]
    async fn emails_to_an_address_are_listed_and_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let outbox = OutboxFolder::new(folder.path());
        assert_eq!(outbox.delete("a@b.example").await.unwrap(), 0, "there is no folder yet");
        let write = async |id: &str, to: &str| {
            let message = format!("From: x@y.example\r\nTo: {to}\r\nDate: Mon, 1 Jan 2026\r\n\r\nTo: a@b.example\r\n");
            outbox.write(id, message.into_bytes()).await.unwrap();
        };
        write("1", "Ada Teacher <a@b.example>").await;
        write("2", "=?utf-8?b?QQ==?=\r\n <A@b.example>").await;
        write("3", "a@b.example").await;
        write("4", "Other <aa@b.example>").await;
        let mut listed = outbox.list("a@b.example").await.unwrap();
        listed.sort_by(|one, other| one.id.cmp(&other.id));
        let ids: Vec<_> = listed.iter().map(|email| email.id.as_str()).collect();
        assert_eq!(ids, ["1", "2", "3"]);
        assert_eq!(listed[0].date, "Mon, 1 Jan 2026");
        assert_eq!(outbox.delete("a@b.example").await.unwrap(), 3);
        assert_eq!(
            outbox.list("aa@b.example").await.unwrap().len(),
            1,
            "of others nothing goes"
        );
        let now = common::clock::now();
        assert_eq!(outbox.delete_expired(now).await.unwrap(), 0);
        assert_eq!(
            outbox
                .delete_expired(now.plus_seconds(RETENTION_SECONDS + 60))
                .await
                .unwrap(),
            1
        );
    }

    #[tokio::test]
    async fn email_in_outbox_folder_is_complete_and_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let outbox = OutboxFolder::new(folder.path());
        outbox.write("one", b"To: a@b.example\r\n".to_vec()).await.unwrap();
        outbox.write("one", b"To: b@b.example\r\n".to_vec()).await.unwrap();
        let path = folder.path().join("outbox/one.eml");
        assert_eq!(std::fs::read(&path).unwrap(), b"To: b@b.example\r\n");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let entries = std::fs::read_dir(folder.path().join("outbox")).unwrap();
        assert_eq!(entries.count(), 1, "nothing unfinished stays");
    }
}
