//! How much room the data folder has.

use std::path::Path;

use super::Finding;

/// Below this a lesson with large files may fill the disk.
const LITTLE: u64 = 2 << 30;

/// Free space where the data folder is, or will be.
pub fn examine(folder: &Path) -> Finding {
    // A folder that the first start makes lies on the disk of the nearest one that exists.
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let Some(existing) = absolute.ancestors().find(|path| path.exists()) else {
        return Finding::Fault(format!("{} has no place", folder.display()));
    };
    match rustix::fs::statvfs(existing) {
        Ok(disk) => {
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            let words = format!("{:.1} GB free", to_gigabytes(free));
            if free < LITTLE {
                Finding::Notice(format!("{words}; at 0 nothing can be saved"))
            } else {
                Finding::Fine(words)
            }
        }
        Err(error) => Finding::Fault(format!("{}: {error}", existing.display())),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a number to read, not to count with")]
fn to_gigabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e9
}
