//! Letters as files, one each, for the administrator (or a mail program) to send: all of them without a mail server, and
//! with one those it did not take. A letter may hold a secret link, so nobody else may read the folder.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The folder of letters.
#[derive(Debug, Clone)]
pub struct Outbox {
    folder: PathBuf,
}

impl Outbox {
    /// The outbox of an installation.
    pub fn of(data_dir: &Path) -> Self {
        Self {
            folder: data_dir.join("outbox"),
        }
    }

    /// Lays a letter into the outbox; the same letter again replaces it.
    pub async fn lay(&self, id: &str, message: Vec<u8>) -> Result<()> {
        let (folder, id) = (self.folder.clone(), id.to_owned());
        let written = tokio::task::spawn_blocking(move || write(&folder, &id, &message)).await;
        Ok(written.map_err(|error| Error::Internal(error.into()))??)
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
    // A reader of the folder sees whole letters only.
    std::fs::rename(unfinished, finished)?;
    std::fs::File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    #[tokio::test]
    async fn a_letter_lies_whole_in_the_outbox_and_only_its_owner_reads_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let outbox = Outbox::of(folder.path());
        outbox.lay("one", b"To: a@b.example\r\n".to_vec()).await.unwrap();
        outbox.lay("one", b"To: b@b.example\r\n".to_vec()).await.unwrap();
        let path = folder.path().join("outbox/one.eml");
        assert_eq!(std::fs::read(&path).unwrap(), b"To: b@b.example\r\n");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let entries = std::fs::read_dir(folder.path().join("outbox")).unwrap();
        assert_eq!(entries.count(), 1, "nothing unfinished stays");
    }
}
