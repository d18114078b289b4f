//! Files that a sweep put aside, brought back: after the service ran with a wrong database, or rows came back from a backup.

use super::{Place, Progress, Tell};
use db::Store;
use db::platform::PlatformProof;

/// What became of the files in the quarantine.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Returned {
    /// Brought back.
    pub returned: u64,
    /// Left there, because no row names them.
    pub without_row: u64,
    /// Left there, because a file of the same key is kept.
    pub kept_already: u64,
}

/// Brings back every file of the quarantine that a row names.
pub fn restore_quarantine(place: &Place, tell: Tell<'_>) -> anyhow::Result<Returned> {
    let store = Store::open(&place.database, 1, 1)?;
    let keys = place.runtime.block_on(place.files.quarantined())?;
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
        } else if place.runtime.block_on(place.files.take_from_quarantine(&key))? {
            found.returned += 1;
        } else {
            found.kept_already += 1;
        }
    }
    Ok(found)
}
