//! Temporary folders of tests, in memory if the machine has enough of it. Every acknowledged commit of the service
//! waits for a sync, and a thousand tests that wait for a disk take minutes. The crash tests, which trace the system
//! calls, verify the guarantees of a sync.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// An in-memory file system on Linux.
const MEMORY: &str = "/dev/shm";
/// The minimum free space there: containers often have only 64 MB.
const LEAST_FREE: u64 = 2 << 30;
/// The name prefix of folders that outlive their test; the process id follows.
const PREFIX: &str = "groupwork-tests-";

/// Creates a temporary folder.
pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(root()).unwrap()
}

/// Returns the folder that the tests of this process share. A later run removes it.
pub fn shared_folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        remove_abandoned();
        let folder = root().join(format!("{PREFIX}{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    })
}

fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let free = rustix::fs::statvfs(MEMORY).map_or(0, |found| found.f_bavail * found.f_frsize);
        if free >= LEAST_FREE {
            PathBuf::from(MEMORY)
        } else {
            std::env::temp_dir()
        }
    })
}

/// Removes the folders of processes that have exited.
fn remove_abandoned() {
    for entry in std::fs::read_dir(root()).unwrap().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            // Another run may remove it concurrently.
            drop(std::fs::remove_dir_all(entry.path()));
        }
    }
}
