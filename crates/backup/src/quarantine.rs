//! Restores quarantined files, after the service ran with a wrong database or rows were restored from a backup.

use super::{Installation, Progress, ProgressCallback};
use db::Store;
use db::platform::CrossTenantReason;

/// The result for the files in the quarantine.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct QuarantineSummary {
    /// Restored.
    pub returned: u64,
    /// Not restored: no row refers to the file.
    pub without_row: u64,
    /// Not restored: a file with the same key exists.
    pub kept_already: u64,
}

/// Restores every quarantined file that a row refers to.
pub fn restore_quarantine(
    installation: &Installation,
    report_progress: ProgressCallback<'_>,
) -> anyhow::Result<QuarantineSummary> {
    let store = Store::open(&installation.database, 1, 1)?;
    let keys = installation.runtime.block_on(installation.files.list_quarantined())?;
    let of = Some(keys.len() as u64);
    let mut found = QuarantineSummary::default();
    for (done, key) in keys.into_iter().enumerate() {
        report_progress(Progress {
            what: "files in quarantine".to_owned(),
            done: done as u64,
            of,
            bytes: 0,
        });
        let asked = key.clone();
        let is_named = store.platform_read(CrossTenantReason::CommandLine, move |platform| {
            platform.is_file_referenced(&asked)
        });
        if !installation.runtime.block_on(is_named)? {
            found.without_row += 1;
        } else if installation
            .runtime
            .block_on(installation.files.restore_from_quarantine(&key))?
        {
            found.returned += 1;
        } else {
            found.kept_already += 1;
        }
    }
    Ok(found)
}
