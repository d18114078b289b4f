//! Backups that run by themselves: into a folder or a bucket of which the newest are kept, or to standard output;
//! encrypted for a key that the service does not have.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Stdio;

use age::secrecy::ExposeSecret as _;

use super::{run_ok, run_rejected};
use test_support::fake_s3::FakeS3;
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
    let printed = run_ok(&elsewhere, &["restore", "--yes", file.to_str().unwrap()]);
    assert!(printed.contains("0 missing, 0 damaged, 0 contradictions"), "{printed}");

    // A reader that closes the pipe gets an incomplete archive, so the command fails.
    let mut child = env
        .command(&["backup", "-"], &[])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

/// Writes a private key into a file and returns its public key.
fn key(env: &ServerEnv, name: &str) -> (String, PathBuf) {
    let key = age::x25519::Identity::generate();
    let path = env.folder().join(name);
    std::fs::write(&path, key.to_string().expose_secret()).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    (key.to_public().to_string(), path)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn encrypted_backup_restores_with_its_key_alone() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    drop(env.store().await);
    std::fs::create_dir_all(env.folder().join("files")).unwrap();
    run_ok(&env, &["scrub", "--adopt-storage"]);
    let elsewhere = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let ((public, own), (_, other)) = (key(&elsewhere, "own"), key(&elsewhere, "other"));
    let folder = env.folder().join("backups");
    std::fs::create_dir(&folder).unwrap();
    let arguments = ["backup", "--folder", folder.to_str().unwrap(), "--keep", "1"];
    run_ok(&env, &arguments);
    let output = env
        .command(&arguments, &[("BACKUP_RECIPIENTS", &public)])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let [name] = names(&folder).try_into().expect("the encrypted archive alone is kept");
    assert!(name.ends_with("Z.backup.age"), "{name}");
    let file = folder.join(&name);
    let file = file.to_str().unwrap();
    let bytes = std::fs::read(file).unwrap();
    assert!(
        !bytes.windows(11).any(|part| part == b"backup.json"),
        "it is not encrypted"
    );

    run_rejected(&env, &["backup", "--verify", file], "--identity");
    run_rejected(&elsewhere, &["restore", "--yes", file], "--identity");
    let other = other.to_str().unwrap();
    run_rejected(
        &elsewhere,
        &["restore", "--yes", file, "--identity", other],
        "for other keys",
    );
    let own = own.to_str().unwrap();
    run_ok(&env, &["backup", "--verify", file, "--identity", own]);
    // One changed byte is detected before anything is restored.
    let damaged = elsewhere.folder().join("damaged.age");
    let mut changed = bytes.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    std::fs::write(&damaged, changed).unwrap();
    let damaged = damaged.to_str().unwrap();
    run_rejected(
        &elsewhere,
        &["restore", "--yes", damaged, "--identity", own],
        "no whole backup",
    );
    let printed = run_ok(&elsewhere, &["restore", "--yes", file, "--identity", own]);
    assert!(printed.contains("0 missing, 0 damaged, 0 contradictions"), "{printed}");
    run_rejected(&env, &["backup", "x", "--recipient", "age1nothing"], "no public key");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bucket_keeps_newest_backups_and_restores() {
    let bucket = FakeS3::open().await;
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    drop(env.store().await);
    std::fs::create_dir_all(env.folder().join("files")).unwrap();
    run_ok(&env, &["scrub", "--adopt-storage"]);
    let elsewhere = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let (public, own) = key(&elsewhere, "own");
    let flags = bucket.flags();
    // The files of the school stay on the disk.
    let with_bucket = |arguments: &[&str]| {
        let mut all: Vec<String> = arguments.iter().map(|text| (*text).to_owned()).collect();
        all.extend(flags.iter().filter(|flag| !flag.starts_with("--files-url")).cloned());
        all
    };
    let ok = |env: &ServerEnv, arguments: &[&str]| {
        let all = with_bucket(arguments);
        run_ok(env, &all.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let url = format!("s3://{}/backups", test_support::fake_s3::NAME);
    ok(
        &env,
        &["backup", &format!("{url}/groupwork-2020-01-01T00-00-00Z.backup")],
    );
    ok(&env, &["backup", &format!("{url}/holiday")]);
    let printed = ok(
        &env,
        &["backup", "--folder", &url, "--keep", "1", "--recipient", &public],
    );
    assert!(
        printed.contains("groupwork-2020-01-01T00-00-00Z.backup deleted"),
        "{printed}"
    );
    let written = printed.split_whitespace().find(|word| word.starts_with(&url)).unwrap();
    let archive = written.trim_end_matches(':');
    let again = with_bucket(&["backup", &format!("{url}/holiday")]);
    run_rejected(
        &env,
        &again.iter().map(String::as_str).collect::<Vec<_>>(),
        "exists already",
    );

    let own = own.to_str().unwrap();
    let printed = ok(&elsewhere, &["restore", "--yes", archive, "--identity", own]);
    assert!(printed.contains("0 missing, 0 damaged, 0 contradictions"), "{printed}");
    let left: Vec<String> = names(elsewhere.folder());
    assert!(!left.iter().any(|name| name.ends_with(".download")), "{left:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backup_without_files_restores_next_to_its_files() {
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
        let Some(school) = super::school::BackupSchool::open(kind).await else {
            continue;
        };
        let stored = school.documents(5).await;
        let file = school.env.folder().join("rows.backup");
        let name = file.to_str().unwrap();
        let printed = run_ok(&school.env, &["backup", name, "--without-files"]);
        assert!(printed.contains("without the 5 files"), "{printed}");
        run_ok(&school.env, &["backup", "--verify", name]);
        let source = school.env.folder().to_owned();
        let Some(elsewhere) = ServerEnv::new(kind) else {
            continue;
        };
        run_rejected(
            &elsewhere,
            &["restore", "--yes", name],
            "none of them is in this storage",
        );
        let files = elsewhere.folder().join("files");
        std::fs::remove_dir_all(&files).unwrap();
        let copied = std::process::Command::new("cp")
            .arg("-r")
            .args([&source.join("files"), &files])
            .status();
        assert!(copied.unwrap().success());
        // One file is gone.
        let in_shard = |path: &PathBuf| path.parent().unwrap().file_name().unwrap().len() == 2;
        let one = school.files().into_iter().find(in_shard).unwrap();
        let lost = files.join(one.strip_prefix(source.join("files")).unwrap());
        std::fs::remove_file(&lost).unwrap();
        run_rejected(&elsewhere, &["restore", "--yes", name], "1 missing, 0 damaged");
        super::school::has_all(&stored, &elsewhere.database);
        std::fs::copy(&one, &lost).unwrap();
        run_ok(&elsewhere, &["scrub", "--older-than", "0"]);
        elsewhere.close();
        school.close();
    }
}
