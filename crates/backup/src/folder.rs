//! Folders of backups, on a disk or in a bucket. Generated names contain the time; of these the newest can be kept.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use adapters::blob_store::settings::ObjectStoreArgs;
use adapters::blob_store::{ArchiveBucket, ArchiveUpload};
use anyhow::{Context as _, bail};
use common::clock;
use common::failpoint::hit;
use domain::time::Timestamp;
use tokio::runtime::Handle;

use super::write::ArchiveOutput;

/// Names of archives: `groupwork-2026-11-25T02-30-11Z.backup`, which sort by time.
const PREFIX: &str = "groupwork-";
const SUFFIX: &str = ".backup";
/// The additional suffix of an encrypted archive.
const ENCRYPTED: &str = ".age";
/// The additional suffix of an archive that is not complete.
const PART: &str = ".part";
/// The age at which an incomplete archive belongs to a backup that was interrupted.
const ABANDONED_AFTER: Duration = Duration::from_hours(24);

/// Returns the name of a backup that begins now.
pub fn archive_name(now: Timestamp, is_encrypted: bool) -> String {
    let time = now.to_string();
    let seconds = time.split(['.', 'Z']).next().unwrap_or_default();
    let encrypted = if is_encrypted { ENCRYPTED } else { "" };
    format!("{PREFIX}{}Z{SUFFIX}{encrypted}", seconds.replace(':', "-"))
}

/// Whether a name is one of [`archive_name`].
fn is_archive_name(name: &str) -> bool {
    name.starts_with(PREFIX) && name.strip_suffix(ENCRYPTED).unwrap_or(name).ends_with(SUFFIX)
}

/// Where archives are kept.
pub enum BackupFolder {
    Disk(PathBuf),
    Bucket(ArchiveBucket),
}

impl BackupFolder {
    /// Opens a folder, or `s3://bucket/prefix`.
    pub fn open(path: &Path, args: &ObjectStoreArgs, runtime: &Handle) -> anyhow::Result<Self> {
        Ok(match path.to_str() {
            Some(url) if is_bucket_url(url) => Self::Bucket(ArchiveBucket::open(url, args, runtime)?),
            _ => Self::Disk(path.to_owned()),
        })
    }

    /// Begins an archive, whose name must not exist yet.
    pub fn create(&self, name: &str) -> anyhow::Result<Box<dyn ArchiveOutput>> {
        Ok(match self {
            Self::Disk(folder) => Box::new(NewFile::create(folder, name)?),
            Self::Bucket(bucket) => Box::new(bucket.create(name)?),
        })
    }

    /// Returns the file of an archive; one in a bucket is downloaded into `scratch` first.
    pub fn fetch(&self, name: &str, scratch: &Path) -> anyhow::Result<FetchedFile> {
        Ok(match self {
            Self::Disk(folder) => FetchedFile {
                path: folder.join(name),
                is_temporary: false,
            },
            Self::Bucket(bucket) => {
                let file = FetchedFile {
                    path: scratch.join(format!("{}.download", clock::new_id())),
                    is_temporary: true,
                };
                let mut options = OpenOptions::new();
                let mut target = options
                    .write(true)
                    .create_new(true)
                    .mode(0o600)
                    .open(&file.path)
                    .with_context(|| file.path.display().to_string())?;
                bucket.download(name, &mut target)?;
                file
            }
        })
    }

    /// Deletes all archives except the newest `keep`, and what interrupted backups have left. Other files are not
    /// touched. Returns the names of the deleted archives, oldest first.
    pub fn delete_oldest(&self, keep: usize) -> anyhow::Result<Vec<String>> {
        let mut names = match self {
            Self::Disk(folder) => names_in(folder)?,
            Self::Bucket(bucket) => bucket.names()?,
        };
        names.retain(|name| is_archive_name(name));
        names.sort();
        names.truncate(names.len().saturating_sub(keep));
        for name in &names {
            match self {
                Self::Disk(folder) => fs::remove_file(folder.join(name)).with_context(|| name.clone())?,
                Self::Bucket(bucket) => bucket.delete(name)?,
            }
        }
        Ok(names)
    }
}

/// Whether a path is the URL of a bucket.
fn is_bucket_url(path: &str) -> bool {
    path.starts_with("s3://")
}

/// Splits the path or URL of an archive into its folder and its name.
pub fn split_archive_path(path: &Path) -> anyhow::Result<(PathBuf, String)> {
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.with_context(|| format!("{} names no file", path.display()))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    Ok((folder.unwrap_or(Path::new(".")).to_owned(), name.to_owned()))
}

/// A file for reading, which is deleted afterwards if it was downloaded.
pub struct FetchedFile {
    path: PathBuf,
    is_temporary: bool,
}

impl FetchedFile {
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for FetchedFile {
    fn drop(&mut self) {
        if self.is_temporary {
            drop(fs::remove_file(&self.path));
        }
    }
}

/// An archive on a disk. Until it is complete, it has a temporary name in the same folder.
struct NewFile {
    file: File,
    path: PathBuf,
    part: PathBuf,
}

impl NewFile {
    fn create(folder: &Path, name: &str) -> anyhow::Result<Self> {
        let path = folder.join(name);
        if path.exists() {
            bail!("{} exists already", path.display());
        }
        let part = folder.join(format!("{name}{PART}"));
        // The archive contains password hashes and everything that students wrote.
        let mut options = OpenOptions::new();
        let file = options
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&part)
            .with_context(|| part.display().to_string())?;
        Ok(Self { file, path, part })
    }
}

impl Write for NewFile {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.file.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl ArchiveOutput for NewFile {
    fn complete(&mut self) -> anyhow::Result<()> {
        self.file.sync_all()?;
        hit("backup.before_rename");
        fs::rename(&self.part, &self.path).with_context(|| self.path.display().to_string())?;
        let (folder, _) = split_archive_path(&self.path)?;
        File::open(folder)?.sync_all()?;
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // Renamed, if the archive is complete.
        drop(fs::remove_file(&self.part));
    }
}

impl ArchiveOutput for ArchiveUpload {
    fn complete(&mut self) -> anyhow::Result<()> {
        Ok(self.finish()?)
    }
}

/// Returns the names of the files in a folder. Deletes archives that interrupted backups have left.
fn names_in(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.strip_suffix(PART).is_some_and(is_archive_name) && is_abandoned(&path) {
            fs::remove_file(&path).with_context(|| path.display().to_string())?;
        } else {
            names.push(name);
        }
    }
    Ok(names)
}

fn is_abandoned(path: &Path) -> bool {
    let modified = path.metadata().and_then(|metadata| metadata.modified());
    modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > ABANDONED_AFTER))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]
    use super::*;

    #[test]
    fn newest_archives_are_kept_and_other_files_untouched() {
        let folder = tempfile::tempdir().unwrap();
        let name = |text: &str, is_encrypted| archive_name(Timestamp::parse(text).unwrap(), is_encrypted);
        let archives = [
            name("2026-01-02T00:00:00Z", false),
            name("2025-12-31T23:59:59.5Z", true),
            name("2026-01-01T10:00:00Z", false),
        ];
        assert_eq!(archives[1], "groupwork-2025-12-31T23-59-59Z.backup.age");
        let others = [
            "groupwork-notes.txt",
            "other.backup",
            "groupwork-2026-01-03T00-00-00Z.backup.part",
        ];
        for name in archives.iter().map(String::as_str).chain(others) {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        let disk = BackupFolder::Disk(folder.path().to_owned());
        assert_eq!(disk.delete_oldest(2).unwrap(), [archives[1].clone()]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5);
        assert!(disk.delete_oldest(2).unwrap().is_empty());
    }

    #[test]
    fn incomplete_archive_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let disk = BackupFolder::Disk(folder.path().to_owned());
        let names = || names_in(folder.path()).unwrap();
        let mut output = disk.create("one.backup").unwrap();
        output.write_all(b"x").unwrap();
        assert_eq!(names(), ["one.backup.part"]);
        drop(output);
        assert!(names().is_empty());
        let mut output = disk.create("one.backup").unwrap();
        output.complete().unwrap();
        drop(output);
        assert_eq!(names(), ["one.backup"]);
        assert!(disk.create("one.backup").is_err());
    }

    #[test]
    fn path_and_url_are_split() {
        let split = |path: &str| {
            let (folder, name) = split_archive_path(Path::new(path)).unwrap();
            (folder.display().to_string(), name)
        };
        assert_eq!(split("/backups/one"), ("/backups".to_owned(), "one".to_owned()));
        assert_eq!(split("one"), (".".to_owned(), "one".to_owned()));
        assert_eq!(
            split("s3://school/a/one"),
            ("s3://school/a".to_owned(), "one".to_owned())
        );
        assert!(split_archive_path(Path::new("..")).is_err());
    }
}
