//! Checks the free disk space of the data folder.

use std::path::Path;

use super::Finding;

/// Below this many bytes, a lesson with large files may fill the disk.
const FREE_BYTES_MIN: u64 = 2 << 30;

/// Checks the disk of the data folder, which need not exist.
pub fn examine(folder: &Path) -> Finding {
    // A new folder will be on the disk of its nearest existing ancestor.
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let Some(existing) = absolute.ancestors().find(|path| path.exists()) else {
        return Finding::Fault(format!("{} has no place", folder.display()));
    };
    match rustix::fs::statvfs(existing) {
        Ok(disk) => {
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            let words = format!("{:.1} GB free", to_gigabytes(free));
            if free < FREE_BYTES_MIN {
                Finding::Notice(format!("{words}; at 0 nothing can be saved"))
            } else {
                Finding::Fine(words)
            }
        }
        Err(error) => Finding::Fault(format!("{}: {error}", existing.display())),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a number for display only")]
fn to_gigabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e9
}
