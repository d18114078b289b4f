//! The data folder: readable by its owner only, and used by one service at a time if it contains the database.

use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rustix::fs::Mode;

use db::Database;

/// The lock file in the folder of the database; the lock is released when the process ends, even if it is killed.
const LOCK: &str = "groupwork.lock";
/// The polling interval for the lock of a previous service.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);
/// Everything that the service creates in its data folder.
const PRIVATE_ENTRIES: [&str; 10] = [
    "groupwork.db",
    "groupwork.db-wal",
    "groupwork.db-shm",
    "groupwork.migrating",
    "files",
    "staging",
    "outbox",
    "erased-people.txt",
    "demo-secrets.json",
    LOCK,
];

/// The lock on the SQLite database of a folder; released on drop.
pub struct FolderLock {
    _file: File,
}

/// Sets the umask, so that new files are readable by their owner only.
pub fn make_files_private() {
    rustix::process::umask(Mode::from_raw_mode(0o077));
}

/// Continues as the owner of the data folder if root runs the command: files that belong to root would stop the service.
pub fn become_owner(data_dir: &Path) -> anyhow::Result<()> {
    let Ok(folder) = data_dir.metadata() else { return Ok(()) };
    if !rustix::process::geteuid().is_root() || folder.uid() == 0 {
        return Ok(());
    }
    let program = std::env::current_exe().context("path of this program")?;
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    let failed = Command::new(program)
        .arg0(name)
        .args(arguments)
        .uid(folder.uid())
        .gid(folder.gid())
        .exec();
    let folder = data_dir.display();
    Err(anyhow::Error::new(failed).context(format!("run as the owner of {folder}")))
}

/// Removes permissions of other users on files that an earlier release left readable.
pub fn protect(data_dir: &Path) {
    for name in PRIVATE_ENTRIES {
        let path = data_dir.join(name);
        let Ok(metadata) = path.metadata() else { continue };
        let mode = metadata.permissions().mode();
        if mode & 0o077 != 0
            && let Err(error) = std::fs::set_permissions(&path, Permissions::from_mode(mode & 0o700))
        {
            tracing::warn!(%error, path = %path.display(), "file is readable by other users of this machine");
        }
    }
}

/// Locks the folder of a SQLite database for one service. Waits for a previous service that may be stopping.
pub fn lock(database: &Database, timeout: Duration) -> anyhow::Result<Option<FolderLock>> {
    let Database::Sqlite(path) = database else {
        return Ok(None);
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let lock = folder.join(LOCK);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let mut file = options.open(&lock).with_context(|| lock.display().to_string())?;
    let begun = Instant::now();
    let mut waits = false;
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::Error(error)) => return Err(error).with_context(|| format!("lock {}", lock.display())),
            Err(TryLockError::WouldBlock) if begun.elapsed() >= timeout => {
                let mut holder = String::new();
                // The process id of the holder is optional information.
                drop(file.read_to_string(&mut holder));
                bail!(
                    "{} is used by another groupwork service (process {}), which did not end within {} s",
                    folder.display(),
                    holder.trim(),
                    timeout.as_secs()
                );
            }
            Err(TryLockError::WouldBlock) => {
                if !waits {
                    tracing::warn!(
                        folder = %folder.display(),
                        timeout_seconds = timeout.as_secs(),
                        "waiting for another service to release the data folder"
                    );
                    waits = true;
                }
                std::thread::sleep(RETRY_INTERVAL);
            }
        }
    }
    file.set_len(0)?;
    write!(file, "{}", std::process::id())?;
    Ok(Some(FolderLock { _file: file }))
}
