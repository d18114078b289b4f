//! Backups that run by themselves: into a folder of which the newest are kept, or to standard output.

use std::process::Stdio;

use super::{run_ok, run_rejected};
use test_support::{DatabaseKind, ServerEnv};

fn names(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backup_into_folder_keeps_newest_and_is_recorded() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let store = env.store().await;
    let last_backup = async || {
        let read = store.platform_read(db::platform::CrossTenantReason::CommandLine, |platform| {
            platform.last_backup()
        });
        read.await.unwrap()
    };
    assert_eq!(last_backup().await, None);
    // The service creates the storage at its first start.
    std::fs::create_dir_all(env.folder().join("files")).unwrap();
    run_ok(&env, &["scrub", "--adopt-storage"]);
    let folder = env.folder().join("backups");
    std::fs::create_dir(&folder).unwrap();
    for year in [2019, 2020, 2021] {
        std::fs::write(folder.join(format!("groupwork-{year}-01-01T00-00-00Z.backup")), "x").unwrap();
    }
    std::fs::write(folder.join("holiday.backup"), "x").unwrap();
    let path = folder.to_str().unwrap();
    run_ok(&env, &["backup", "--folder", path, "--keep", "2"]);
    let left = names(&folder);
    assert_eq!(left.len(), 3, "{left:?}");
    assert_eq!(left[0], "groupwork-2021-01-01T00-00-00Z.backup");
    assert_eq!(left[2], "holiday.backup");
    run_ok(&env, &["backup", "--verify", folder.join(&left[1]).to_str().unwrap()]);
    assert!(last_backup().await.is_some());
    run_rejected(&env, &["backup", "--keep", "2", "x"], "cannot be used with");
    run_rejected(&env, &["backup", "--folder", path, "--keep", "0"], "0 is not in");
    run_rejected(&env, &["backup"], "<FILE>");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backup_to_standard_output_restores() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    drop(env.store().await);
    std::fs::create_dir_all(env.folder().join("files")).unwrap();
    run_ok(&env, &["scrub", "--adopt-storage"]);
    let output = env.command(&["backup", "-"], &[]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let elsewhere = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let file = elsewhere.folder().join("copied.backup");
    std::fs::write(&file, &output.stdout).unwrap();
    let said = run_ok(&elsewhere, &["restore", "--yes", file.to_str().unwrap()]);
    assert!(said.contains("0 missing, 0 damaged, 0 contradictions"), "{said}");

    // A reader that closes the pipe gets an incomplete archive, so the command fails.
    let mut child = env
        .command(&["backup", "-"], &[])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}
