//! Storage in a folder. A file is written to a temporary path, synced, renamed, and its folder synced: after `commit`
//! returns, it survives a power failure. All functions block, so they run on blocking threads.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use domain::file::FileKey;
use domain::time::Timestamp;
use sha2::{Digest, Sha256};

use super::marker::MARKER;
use super::staged::{Staged, TempFile};
use super::{SHARDS, failed, missing_bytes};
use common::error::Result;
use common::{clock, failpoint};

/// The minimum age at which a part counts as abandoned at startup; another instance may be writing it.
const ABANDONED_MILLIS: i64 = 3_600_000;

/// A storage folder: `parts/` for uploads in progress, `00/` to `ff/` for stored files.
#[derive(Clone)]
pub struct Disk {
    root: PathBuf,
    /// Folders whose directory entry is known to be durable.
    durable: Arc<Mutex<HashSet<PathBuf>>>,
}

impl Disk {
    pub(super) fn open(root: &Path) -> Result<Self> {
        fs::create_dir_all(root.join("parts")).map_err(failed)?;
        sync_folder(root).map_err(failed)?;
        if let Some(parent) = root.parent() {
            sync_folder(parent).map_err(failed)?;
        }
        let disk = Self {
            root: root.to_owned(),
            durable: Arc::default(),
        };
        disk.remove_abandoned_parts().map_err(failed)?;
        Ok(disk)
    }

    /// Creates an empty part, open for writing.
    pub(super) fn part(&self) -> Result<(File, TempFile)> {
        let path = self.root.join("parts").join(format!("{}.part", clock::new_id()));
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)
            .map_err(failed)?;
        failpoint::hit("files.staged");
        Ok((file, TempFile::new(path)))
    }

    pub(super) fn commit(&self, staged: Staged, key: &FileKey) -> Result<()> {
        let (file, temp_file) = staged.into_file()?;
        self.persist(&file, &temp_file, key).map_err(failed)
    }

    fn persist(&self, file: &File, temp_file: &TempFile, key: &FileKey) -> io::Result<()> {
        let location = self.location(key);
        let folder = self.folder_of(&location)?;
        failpoint::hit("files.before_sync");
        file.sync_all()?;
        failpoint::hit("files.before_rename");
        fs::rename(temp_file.path(), &location)?;
        failpoint::hit("files.after_rename");
        sync_folder(&folder)?;
        failpoint::hit("files.after_dir_sync");
        Ok(())
    }

    pub(super) fn read(&self, key: &FileKey) -> Result<(u64, File)> {
        let file = File::open(self.location(key)).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => missing_bytes(key),
            _ => failed(error),
        })?;
        let size = file.metadata().map_err(failed)?.len();
        Ok((size, file))
    }

    pub(super) fn copy(&self, from: &FileKey, to: &FileKey) -> Result<()> {
        let (source, location) = (self.location(from), self.location(to));
        let folder = self.folder_of(&location).map_err(failed)?;
        // Stored files are immutable, so a hard link is a copy.
        if fs::hard_link(&source, &location).is_ok() {
            failpoint::hit("files.linked");
            return sync_folder(&folder).map_err(failed);
        }
        let (mut file, temp_file) = self.part()?;
        let (_, mut original) = self.read(from)?;
        io::copy(&mut original, &mut file).map_err(failed)?;
        self.persist(&file, &temp_file, to).map_err(failed)
    }

    pub(super) fn remove(&self, key: &FileKey) -> Result<()> {
        match fs::remove_file(self.location(key)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
            _ => Ok(()),
        }
    }

    pub(super) fn list_older_than(&self, shard: u8, before: Timestamp) -> Result<Vec<FileKey>> {
        let mut found = Vec::new();
        let entries = match fs::read_dir(self.root.join(format!("{shard:02x}"))) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
            entries => entries.map_err(failed)?,
        };
        for entry in entries {
            let entry = entry.map_err(failed)?;
            // A copy shares its inode with the original; only the change time reflects its age.
            let named = match entry.metadata() {
                Ok(metadata) => metadata.ctime().saturating_mul(1000),
                // The file was removed in the meantime.
                Err(_) => continue,
            };
            if let (true, Some(name)) = (named < before.as_millis(), entry.file_name().to_str()) {
                found.push(FileKey::new(name));
            }
        }
        Ok(found)
    }

    pub(super) fn quarantine(&self, key: &FileKey) -> Result<()> {
        let folder = self.root.join("quarantine");
        fs::create_dir_all(&folder).map_err(failed)?;
        match fs::rename(self.location(key), folder.join(key.as_str())) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
            _ => Ok(()),
        }
    }

    pub(super) fn has(&self, key: &FileKey) -> Result<bool> {
        self.location(key).try_exists().map_err(failed)
    }

    /// Returns whether no file is stored.
    pub(super) fn is_empty(&self) -> Result<bool> {
        for shard in SHARDS {
            match fs::read_dir(self.root.join(format!("{shard:02x}"))) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                entries => {
                    if entries.map_err(failed)?.next().is_some() {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// Returns the text of the marker, if it exists.
    pub(super) fn marker(&self) -> Result<Option<String>> {
        match fs::read(self.root.join(MARKER)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => Ok(Some(String::from_utf8_lossy(&read.map_err(failed)?).into_owned())),
        }
    }

    /// Writes the marker with the durability of a file.
    pub(super) fn write_marker(&self, text: &str) -> Result<()> {
        let path = self.root.join(MARKER);
        let folder = path.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder).map_err(failed)?;
        sync_folder(&self.root).map_err(failed)?;
        let (mut file, temp_file) = self.part()?;
        io::Write::write_all(&mut file, text.as_bytes()).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        fs::rename(temp_file.path(), &path).map_err(failed)?;
        sync_folder(folder).map_err(failed)
    }

    /// Returns the keys of all quarantined files.
    pub(super) fn list_quarantined(&self) -> Result<Vec<FileKey>> {
        let entries = match fs::read_dir(self.root.join("quarantine")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed)?,
        };
        let mut found = Vec::new();
        for entry in entries {
            found.extend(entry.map_err(failed)?.file_name().to_str().map(FileKey::new));
        }
        Ok(found)
    }

    /// Moves a file out of the quarantine. Returns false if a file with this key exists; it is never replaced.
    pub(super) fn restore_from_quarantine(&self, key: &FileKey) -> Result<bool> {
        let location = self.location(key);
        let folder = self.folder_of(&location).map_err(failed)?;
        let quarantine_location = self.root.join("quarantine").join(key.as_str());
        // A link fails if the file exists; a rename would replace it.
        match fs::hard_link(&quarantine_location, &location) {
            Ok(()) => fs::remove_file(&quarantine_location).map_err(failed)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            // The file system does not support hard links.
            Err(_) => fs::rename(&quarantine_location, &location).map_err(failed)?,
        }
        sync_folder(&folder).map_err(failed)?;
        Ok(true)
    }

    /// Writes and removes a byte.
    pub(super) fn probe(&self) -> Result<()> {
        let (mut file, _temporary) = self.part()?;
        io::Write::write_all(&mut file, b"?").map_err(failed)
    }

    /// Returns the path of a key. Ids begin with a timestamp, so a hash distributes them evenly over the folders.
    fn location(&self, key: &FileKey) -> PathBuf {
        let first = Sha256::digest(key.as_str().as_bytes())[0];
        self.root.join(format!("{first:02x}")).join(key.as_str())
    }

    /// Returns the folder of a path; creates it durably on its first use in this process.
    fn folder_of(&self, location: &Path) -> io::Result<PathBuf> {
        let folder = location.parent().unwrap_or(&self.root).to_owned();
        let mut durable = self.durable.lock().unwrap_or_else(PoisonError::into_inner);
        if !durable.contains(&folder) {
            fs::create_dir_all(&folder)?;
            // Also if it exists: its creator may have lost power before the sync.
            sync_folder(&self.root)?;
            durable.insert(folder.clone());
        }
        Ok(folder)
    }

    /// Removes abandoned parts, including those whose removal failed earlier.
    pub(super) fn remove_abandoned(&self) -> Result<()> {
        self.remove_abandoned_parts().map_err(failed)
    }

    /// Removes abandoned parts. They were never acknowledged.
    fn remove_abandoned_parts(&self) -> io::Result<()> {
        let now = clock::now().as_millis();
        for entry in fs::read_dir(self.root.join("parts"))? {
            let entry = entry?;
            let written = entry.metadata().and_then(|found| found.modified());
            let age = written
                .ok()
                .and_then(|written| written.duration_since(std::time::UNIX_EPOCH).ok());
            let written = age.and_then(|age| i64::try_from(age.as_millis()).ok()).unwrap_or(now);
            let is_part = entry.path().extension().is_some_and(|extension| extension == "part");
            if is_part && now - written > ABANDONED_MILLIS {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
