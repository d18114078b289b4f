//! Letters to people. Without a mail server they are laid into `DATA_DIR/outbox`, one file each, for the administrator
//! (or a mail program) to send; a letter may hold a secret link, so nobody else may read the folder.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::clock;
use crate::error::{Error, Result};

/// A letter.
#[derive(Debug, Clone)]
pub struct Letter {
    /// The address it goes to, checked when it was stored.
    pub to: String,
    /// What it is about.
    pub subject: String,
    /// The text.
    pub text: String,
}

/// Where letters are laid.
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

    /// Lays a letter into the outbox.
    pub async fn send(&self, letter: Letter) -> Result<()> {
        let folder = self.folder.clone();
        let written = tokio::task::spawn_blocking(move || write(&folder, &letter)).await;
        Ok(written.map_err(|error| Error::Internal(error.into()))??)
    }
}

fn write(folder: &Path, letter: &Letter) -> std::io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let name = clock::new_id();
    let (unfinished, finished) = (folder.join(format!(".{name}")), folder.join(format!("{name}.eml")));
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&unfinished)?;
    let Letter { to, subject, text } = letter;
    write!(
        file,
        "To: {to}\r\nSubject: {subject}\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{text}\r\n"
    )?;
    file.sync_all()?;
    // A reader of the folder sees whole letters only.
    std::fs::rename(unfinished, finished)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    #[tokio::test]
    async fn a_letter_lies_whole_in_the_outbox_and_only_its_owner_reads_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let letter = Letter {
            to: "ada@school.example".to_owned(),
            subject: "Hello".to_owned(),
            text: "Grüße".to_owned(),
        };
        Outbox::of(folder.path()).send(letter).await.unwrap();
        let path = std::fs::read_dir(folder.path().join("outbox"))
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(
            text.starts_with("To: ada@school.example\r\nSubject: Hello\r\n") && text.ends_with("\r\n\r\nGrüße\r\n")
        );
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}
