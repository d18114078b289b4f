//! Restores quarantined files, after the service ran with a wrong database or rows were restored from a backup.

use super::{Place, Progress, Tell};
use db::Store;
use db::platform::PlatformProof;

/// The result for the files in the quarantine.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Returned {
    /// Restored.
    pub returned: u64,
    /// Not restored: no row refers to the file.
    pub without_row: u64,
    /// Not restored: a file with the same key exists.
    pub kept_already: u64,
}

/// Restores every quarantined file that a row refers to.
pub fn restore_quarantine(place: &Place, tell: Tell<'_>) -> anyhow::Result<Returned> {
    let store = Store::open(&place.database, 1, 1)?;
    let keys = place.runtime.block_on(place.files.list_quarantined())?;
    let of = Some(keys.len() as u64);
    let mut found = Returned::default();
    for (done, key) in keys.into_iter().enumerate() {
        tell(Progress {
            what: "files in quarantine".to_owned(),
            done: done as u64,
            of,
            bytes: 0,
        });
        let asked = key.clone();
        let is_named = store.platform_read(PlatformProof::command_line(), move |platform| {
            platform.file_is_named(&asked)
        });
        if !place.runtime.block_on(is_named)? {
            found.without_row += 1;
        } else if place.runtime.block_on(place.files.restore_from_quarantine(&key))? {
            found.returned += 1;
        } else {
            found.kept_already += 1;
        }
    }
    Ok(found)
}
