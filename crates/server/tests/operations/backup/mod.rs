//! A backup is created under load and restored elsewhere, on either database: it contains everything acknowledged
//! before it began. A truncated, changed or forged backup is rejected and changes nothing. A kill at any moment leaves
//! either nothing or a state that the next attempt completes.

mod forged;
mod rotation;
mod school;

use std::process::{Output, Stdio};
use std::time::Duration;

use db::Database;
use db::connection::Connection;
use serde_json::json;

use self::school::{BackupSchool, Workers};
use test_support::rows::{execute, texts};
use test_support::{Client, DatabaseKind, ServerEnv, invariants, size, until};

const KINDS: [DatabaseKind; 2] = [DatabaseKind::Sqlite, DatabaseKind::Postgres];

/// Runs a command of the binary and returns its output.
fn run(env: &ServerEnv, arguments: &[&str]) -> Output {
    env.command(arguments, &[]).output().unwrap()
}

#[track_caller]
fn run_ok(env: &ServerEnv, arguments: &[&str]) -> String {
    let output = run(env, arguments);
    let printed = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{arguments:?}: {printed}");
    printed
}

#[track_caller]
fn run_rejected(env: &ServerEnv, arguments: &[&str], why: &str) {
    let output = run(env, arguments);
    let printed = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(!output.status.success(), "{arguments:?} was not refused: {printed}");
    assert!(printed.contains(why), "{arguments:?} does not say {why:?}: {printed}");
}

/// Runs a command that aborts at a named failure point.
fn run_until_failpoint(env: &ServerEnv, arguments: &[&str], at: &str) {
    let output = env.command(arguments, &[("GROUPWORK_FAILPOINT", at)]).output().unwrap();
    assert!(
        output.status.code().is_none(),
        "nobody came by {at}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Returns whether all tables of an environment are empty.
fn is_empty(env: &ServerEnv) -> bool {
    let database = env.database.clone();
    std::thread::spawn(move || match &database {
        Database::Sqlite(path) => !path.exists() || count(&mut Connection::open_sqlite(path, true).unwrap()) == 0,
        Database::Postgres(url) => count(&mut Connection::open_postgres(url).unwrap()) == 0,
    })
    .join()
    .unwrap()
}

db::statements! {
    PEOPLE = "SELECT COUNT(*) FROM users";
    NAMES = "SELECT name FROM users";
}

fn count(connection: &mut Connection) -> i64 {
    assert_eq!(STATEMENTS.len(), 2);
    connection
        .fetch_optional(&PEOPLE, &[], |row| row.only())
        .unwrap()
        .unwrap()
}

async fn check_invariants(database: &Database) {
    let database = database.clone();
    tokio::task::spawn_blocking(move || std::thread::spawn(move || invariants::check(&database)).join().unwrap())
        .await
        .unwrap();
}

/// Creates backups of a school under load, and restores them on both databases.
async fn under_load(kind: DatabaseKind) {
    let Some(school) = BackupSchool::open(kind).await else {
        return;
    };
    let workers = Workers::start(&school);
    let rounds = size(3, 100);
    for round in 0..rounds {
        let acknowledged = workers.wait_for_operations(8).await;
        let file = school.env.folder().join(format!("{round}.backup"));
        let file = file.to_str().unwrap();
        run_ok(&school.env, &["backup", file]);
        run_ok(&school.env, &["backup", "--verify", file]);
        let target = if round % 2 == 0 {
            kind
        } else {
            KINDS[usize::from(kind == DatabaseKind::Sqlite)]
        };
        let Some(mut elsewhere) = ServerEnv::new(target) else {
            continue;
        };
        let printed = run_ok(&elsewhere, &["restore", "--yes", file]);
        assert!(printed.contains("0 missing, 0 damaged, 0 contradictions"), "{printed}");
        check_invariants(&elsewhere.database).await;
        workers.stored(&acknowledged, &elsewhere.database);
        if round == 0 {
            assert_usable(&mut elsewhere, &school, &acknowledged).await;
        }
        elsewhere.close();
        std::fs::remove_file(file).unwrap();
    }
    workers.stop().await;
    school.close();
}

/// Checks that a service starts with the restored data: all sessions are gone, passwords and files work.
async fn assert_usable(env: &mut ServerEnv, school: &BackupSchool, acknowledged: &school::AcknowledgedFiles) {
    let mut service = env.start("serve");
    service.ready().await;
    let old = Client::new(&service.base, Some(school.world.ben.cookie.clone()));
    old.get("/auth/get-session").await.expect(200);
    old.get("/classes").await.refused(401, "UNAUTHENTICATED");
    let stranger = Client::new(&service.base, None);
    let door = json!({"email": school::ROOT, "password": school::PASSWORD});
    let signed_in = stranger.post("/auth/sign-in/email", door).await;
    let cookie = signed_in.header("set-cookie").split(';').next().unwrap().to_owned();
    signed_in.expect(200);
    let root = Client::new(&service.base, Some(cookie));
    let (document, sha256) = acknowledged.iter().next().expect("something was promised");
    let stored = root.get(&format!("/workrooms/documents/{document}/download")).await;
    if stored.status == 200 {
        assert!(!stored.bytes.is_empty(), "{sha256}");
    }
    service.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backup_under_load_contains_all_acknowledged_data_on_sqlite() {
    under_load(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backup_under_load_contains_all_acknowledged_data_on_postgres() {
    under_load(DatabaseKind::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_backup_or_restore_is_completed_by_next_attempt() {
    for kind in KINDS {
        let Some(school) = BackupSchool::open(kind).await else {
            continue;
        };
        let stored = school.documents(4).await;
        let file = school.env.folder().join("x.backup");
        let name = file.to_str().unwrap();
        for at in ["backup.rows:3", "backup.files:3", "backup.before_rename:1"] {
            run_until_failpoint(&school.env, &["backup", name], at);
            assert!(!file.exists(), "half a backup has the name of a whole one after {at}");
        }
        run_ok(&school.env, &["backup", name]);
        run_rejected(&school.env, &["backup", name], "exists already");
        let why = if kind == DatabaseKind::Sqlite {
            "stop the service first"
        } else {
            "is not empty"
        };
        run_rejected(&school.env, &["restore", "--yes", name], why);
        for at in ["restore.files:2", "restore.rows:9", "restore.loaded:1"] {
            let Some(mut elsewhere) = ServerEnv::new(kind) else {
                continue;
            };
            run_until_failpoint(&elsewhere, &["restore", "--yes", name], at);
            let log = elsewhere
                .try_start("serve", &[])
                .err()
                .expect("nobody starts on half of a backup");
            assert!(log.contains("a restore was interrupted"), "{log}");
            run_ok(&elsewhere, &["restore", "--yes", name]);
            school::has_all(&stored, &elsewhere.database);
            run_ok(&elsewhere, &["scrub", "--older-than", "0"]);
            elsewhere.start("serve").kill();
            elsewhere.close();
        }
        school.close();
    }
}

/// Kills a command after `millis` milliseconds, unless it has ended.
fn kill_after(env: &ServerEnv, arguments: &[&str], millis: u64) {
    let mut child = env
        .command(arguments, &[])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(millis));
    // An error means that the process has already ended.
    drop(child.kill());
    child.wait().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_at_random_moment_loses_no_data() {
    let kills = size(2, 50);
    for kind in KINDS {
        let Some(school) = BackupSchool::open(kind).await else {
            continue;
        };
        let stored = school.documents(6).await;
        let file = school.env.folder().join("x.backup");
        let name = file.to_str().unwrap();
        for _ in 0..kills {
            kill_after(&school.env, &["backup", name], rand::random_range(0..400));
            if file.exists() {
                run_ok(&school.env, &["backup", "--verify", name]);
                std::fs::remove_file(&file).unwrap();
            }
        }
        run_ok(&school.env, &["backup", name]);
        for _ in 0..kills {
            let Some(mut elsewhere) = ServerEnv::new(kind) else {
                continue;
            };
            kill_after(&elsewhere, &["restore", "--yes", name], rand::random_range(0..400));
            let again = run(&elsewhere, &["restore", "--yes", name]);
            let printed = String::from_utf8_lossy(&again.stderr);
            // The command may have completed before the kill.
            assert!(again.status.success() || printed.contains("is not empty"), "{printed}");
            school::has_all(&stored, &elsewhere.database);
            run_ok(&elsewhere, &["scrub"]);
            elsewhere.start("serve").kill();
            elsewhere.close();
        }
        school.close();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn truncated_changed_or_forged_backup_is_rejected() {
    let school = BackupSchool::open(DatabaseKind::Sqlite).await.unwrap();
    school.documents(3).await;
    let file = school.env.folder().join("x.backup");
    let name = file.to_str().unwrap();
    run_ok(&school.env, &["backup", name]);
    let whole = std::fs::read(&file).unwrap();
    for (what, bytes, why) in forged::all(&whole) {
        std::fs::write(&file, bytes).unwrap();
        let elsewhere = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
        println!("{what}");
        run_rejected(&elsewhere, &["restore", "--yes", name], why);
        assert!(is_empty(&elsewhere), "{what} changed something");
        assert!(!elsewhere.folder().join("groupwork.db").exists(), "{what} began");
    }
    std::fs::write(&file, whole).unwrap();
    run_ok(&school.env, &["backup", "--verify", name]);
    school.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scrub_reports_damaged_files_which_are_not_served() {
    for kind in KINDS {
        let Some(school) = BackupSchool::open(kind).await else {
            continue;
        };
        let stored = school.documents(3).await;
        let scrub = ["scrub", "--older-than", "0"];
        let printed = run_ok(&school.env, &scrub);
        assert!(
            printed.contains("0 missing, 0 damaged, 0 contradictions in rows, 0 files without a row"),
            "{printed}"
        );
        let files = school.files();
        let ids: Vec<&String> = stored.keys().collect();
        let of = |id: &str| {
            files
                .iter()
                .find(|path| path.display().to_string().contains(id))
                .unwrap()
                .clone()
        };
        let (damaged, missing) = (of(ids[0]), of(ids[1]));
        let mut bytes = std::fs::read(&damaged).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&damaged, bytes).unwrap();
        std::fs::remove_file(&missing).unwrap();
        std::fs::write(missing.with_file_name("nobody.docx"), b"x").unwrap();
        run_rejected(
            &school.env,
            &scrub,
            "1 missing, 1 damaged, 0 contradictions in rows, 1 files without a row",
        );
        run_rejected(
            &school.env,
            &scrub,
            &format!("damaged: {}", damaged.file_name().unwrap().to_str().unwrap()),
        );
        run_rejected(
            &school.env,
            &scrub,
            &format!("missing: {}", missing.file_name().unwrap().to_str().unwrap()),
        );
        run_rejected(&school.env, &scrub, "without a row: nobody.docx");
        for id in &ids[..2] {
            let url = format!("{}/api/workrooms/documents/{id}/download", school.service.base);
            let http = test_support::http_client().build().unwrap();
            let asked = http
                .get(url)
                .header("cookie", school.world.ada.cookie.clone())
                .send()
                .await;
            // The headers may be sent before the damage is detected; then the last bytes never follow.
            if let Ok(answer) = asked {
                assert!(
                    answer.status() == 500 || answer.bytes().await.is_err(),
                    "{id} was served"
                );
            }
        }
        let file = school.env.folder().join("gaps.backup");
        let name = file.to_str().unwrap();
        run_rejected(&school.env, &["backup", name], "1 files were missing and 1 damaged");
        let Some(elsewhere) = ServerEnv::new(kind) else {
            continue;
        };
        run_rejected(
            &elsewhere,
            &["restore", "--yes", name],
            "1 files were missing and 1 damaged",
        );
        elsewhere.close();
        school.close();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restore_keeps_erased_users_erased() {
    for (kind, target) in [
        (DatabaseKind::Sqlite, DatabaseKind::Postgres),
        (DatabaseKind::Postgres, DatabaseKind::Sqlite),
    ] {
        let Some(school) = BackupSchool::open(kind).await else {
            continue;
        };
        school.documents(1).await;
        let file = school.env.folder().join("x.backup");
        let name = file.to_str().unwrap();
        run_ok(&school.env, &["backup", name]);
        let adam = Client::new(&school.service.base, Some(school.world.adam.cookie.clone()));
        let erased = json!({"userId": school.world.ben.id});
        adam.post("/admin/gdpr/erase", erased).await.expect(200);
        // The next start writes the list; if that fails, a running service writes it within one minute.
        let mut env = school.stopped();
        let mut service = env.start("serve");
        service.ready().await;
        let list = env.folder().join("erased-people.txt");
        until("the list is written", async || list.exists()).await;
        service.kill();
        let Some(elsewhere) = ServerEnv::new(target) else {
            continue;
        };
        let printed = run_ok(
            &elsewhere,
            &["restore", "--yes", name, "--erased", list.to_str().unwrap()],
        );
        assert!(printed.contains("1 people erased again"), "{printed}");
        let names = school::names(&elsewhere.database);
        assert!(names.iter().any(|name| name == "Cem Student"), "{names:?}");
        assert!(
            !names.iter().any(|name| name == "Ben Student"),
            "a backup brought an erased person back"
        );
        elsewhere.close();
        env.close();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restore_computes_missing_name_keys() {
    for (kind, target) in [
        (DatabaseKind::Sqlite, DatabaseKind::Postgres),
        (DatabaseKind::Postgres, DatabaseKind::Sqlite),
    ] {
        let Some(school) = BackupSchool::open(kind).await else {
            continue;
        };
        let keys = "SELECT search_key || sort_key FROM users ORDER BY id";
        let expected = texts(&school.env.database, keys.to_owned()).await;
        // The rows as a release without name keys leaves them.
        let blank = "UPDATE users SET search_key = '', sort_key = ''; DELETE FROM settings WHERE name = 'name_keys'";
        execute(&school.env.database, blank.to_owned()).await;
        let file = school.env.folder().join("x.backup");
        let name = file.to_str().unwrap();
        run_ok(&school.env, &["backup", name]);
        let Some(elsewhere) = ServerEnv::new(target) else {
            continue;
        };
        run_ok(&elsewhere, &["restore", "--yes", name]);
        assert_eq!(texts(&elsewhere.database, keys.to_owned()).await, expected);
        elsewhere.close();
        school.close();
    }
}
