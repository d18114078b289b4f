//! A journal of erased users in a file next to the database, because a backup from before an erasure does not know of
//! it. The service only appends to the file; its ids cannot be resolved to names any more.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use domain::id::UserId;

use common::clock;
use db::Store;
use db::platform::CrossTenantReason;

/// The name of the file in the data folder.
pub const FILE_NAME: &str = "erased-people.txt";

/// Appends all users that the database records as erased.
pub async fn append(store: &Store, data_dir: &Path) -> anyhow::Result<()> {
    let erased = store.platform_read(CrossTenantReason::Housekeeping, |platform| platform.erased_users());
    let erased = erased.await?;
    if erased.is_empty() {
        return Ok(());
    }
    let path = data_dir.join(FILE_NAME);
    let written = tokio::task::spawn_blocking(move || {
        let mut all = read(&path)?;
        let before = all.len();
        all.extend(erased.into_iter().map(|user| user.as_str().to_owned()));
        if all.len() == before {
            Ok(())
        } else {
            write(&path, &all)
        }
    });
    written.await?
}

/// Reads the ids in a journal; empty if the file does not exist.
pub(super) fn read(path: &Path) -> anyhow::Result<BTreeSet<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        Err(error) => Err(anyhow::Error::new(error).context(path.display().to_string())),
    }
}

fn write(path: &Path, all: &BTreeSet<String>) -> anyhow::Result<()> {
    let part = path.with_extension(clock::new_id());
    let mut file = File::create_new(&part)?;
    for id in all {
        writeln!(file, "{id}")?;
    }
    file.sync_all()?;
    std::fs::rename(&part, path)?;
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Erases users again that a restore brought back; returns how many.
pub(super) async fn reapply_erasures(store: &Store, ids: BTreeSet<String>) -> anyhow::Result<u64> {
    let mut count = 0;
    for id in ids {
        let user = UserId::new(id);
        let erased = store.platform_write(CrossTenantReason::CommandLine, move |platform| {
            platform.erase_again(&user, clock::now())
        });
        count += u64::from(erased.await?);
    }
    Ok(count)
}
