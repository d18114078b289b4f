//! A folder of backups with names that contain their time, of which the newest are kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use domain::time::Timestamp;

use super::write::PART;

/// Names of archives: `groupwork-2026-11-25T02-30-11Z.backup`, which sort by time.
const PREFIX: &str = "groupwork-";
const SUFFIX: &str = ".backup";
/// The age at which an incomplete archive belongs to a backup that was interrupted.
const ABANDONED_AFTER: Duration = Duration::from_hours(24);

/// Returns the path of a backup that begins now.
pub fn archive_path(folder: &Path, now: Timestamp) -> PathBuf {
    let time = now.to_string();
    let seconds = time.split(['.', 'Z']).next().unwrap_or_default();
    folder.join(format!("{PREFIX}{}Z{SUFFIX}", seconds.replace(':', "-")))
}

/// Deletes all archives of a folder except the newest `keep`, and what interrupted backups have left. Other files are
/// not touched. Returns the deleted archives, oldest first.
pub fn delete_oldest(folder: &Path, keep: usize) -> anyhow::Result<Vec<PathBuf>> {
    let mut archives = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.starts_with(PREFIX) {
            continue;
        }
        if name.ends_with(SUFFIX) {
            archives.push(path);
        } else if name.ends_with(&format!("{SUFFIX}.{PART}")) && is_abandoned(&path) {
            fs::remove_file(&path).with_context(|| path.display().to_string())?;
        }
    }
    archives.sort();
    archives.truncate(archives.len().saturating_sub(keep));
    for path in &archives {
        fs::remove_file(path).with_context(|| path.display().to_string())?;
    }
    Ok(archives)
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
        let at = |text: &str| archive_path(folder.path(), Timestamp::parse(text).unwrap());
        let times = ["2026-01-02T00:00:00Z", "2025-12-31T23:59:59.5Z", "2026-01-01T10:00:00Z"];
        let archives = times.map(at);
        assert!(
            archives[1].ends_with("groupwork-2025-12-31T23-59-59Z.backup"),
            "{archives:?}"
        );
        let others = [
            "groupwork-notes.txt",
            "other.backup",
            "groupwork-2026-01-03T00-00-00Z.backup.part",
        ];
        for path in archives
            .iter()
            .cloned()
            .chain(others.map(|name| folder.path().join(name)))
        {
            fs::write(path, "x").unwrap();
        }
        let deleted = delete_oldest(folder.path(), 2).unwrap();
        assert_eq!(deleted, [archives[1].clone()]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5);
        assert!(delete_oldest(folder.path(), 2).unwrap().is_empty());
    }
}
