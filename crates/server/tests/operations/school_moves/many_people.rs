//! The import of a school with many people needs no more memory than that of a small one, and all of them arrive.
//! `make soak` (`GROUPWORK_SOAK=1`) imports 100,000 people.

use std::process::Stdio;
use std::time::Duration;

use test_support::rows::{execute, texts};
use test_support::{DatabaseKind, ServerEnv, TableLock, World, size};

use super::run_ok;

/// The maximum growth of the peak memory.
const GROWTH_MAX: u64 = 12 << 20;
/// Enough to fill the caches of SQLite.
const FEW: usize = 10_000;

/// Adds members to a school.
async fn add_people(env: &ServerEnv, school: &str, from: usize, to: usize) {
    let numbers = format!("WITH RECURSIVE n(i) AS (SELECT {from} UNION ALL SELECT i + 1 FROM n WHERE i < {to})");
    let people = format!(
        "INSERT INTO users (id, name, name_key, search_key, sort_key, email, email_verified, home_organization_id,
            created_at, updated_at)
            {numbers} SELECT 'many-' || i, 'Many ' || i, 'many ' || i, 'many ' || i, '', 'many-' || i || '@many.example', FALSE,
                '{school}', 1, 1 FROM n"
    );
    execute(&env.database, people).await;
    let members = format!(
        "INSERT INTO members (organization_id, id, user_id, role, created_at)
            {numbers} SELECT '{school}', 'member-' || i, 'many-' || i, 'student', 1 FROM n"
    );
    execute(&env.database, members).await;
}

/// Runs a command and returns its peak memory in bytes.
fn peak_of(env: &ServerEnv, arguments: &[&str]) -> u64 {
    let mut command = env.command(arguments, &[]);
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let status = format!("/proc/{}/status", process.id());
    let mut peak = 0;
    while process.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(&status).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        peak = peak.max(kilobytes.unwrap_or(0) * 1024);
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = process.wait_with_output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {printed}");
    peak
}

/// Autovacuum visits the tables of an import once the rows of its trial are rolled back, and counts no row of the
/// transaction that is open by then. PostgreSQL took the tables for empty, and joins read them once per person.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn school_import_counts_rows_that_a_vacuum_during_it_did_not_see() {
    let (Some(source), Some(target)) = (
        ServerEnv::new(DatabaseKind::Sqlite),
        ServerEnv::new(DatabaseKind::Postgres),
    ) else {
        return;
    };
    let world = World::create(&source.store().await, &source.database).await;
    drop(target.store().await);
    for env in [&source, &target] {
        run_ok(env, &["scrub", "--adopt-storage"]);
    }
    add_people(&source, &world.north, 1, 500).await;
    let archive = source.folder().join("school");
    let archive = archive.to_str().unwrap();
    run_ok(&source, &["school", "export", "north", "--output", archive]);

    let lock = TableLock::hold(&target.database, "members", "SHARE").await;
    let mut import = target.command(&["school", "import", archive], &[]);
    let mut import = import.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // The import waits with all people inserted.
    lock.wait_for_waiter().await;
    execute(&target.database, "VACUUM users".to_owned()).await;
    lock.release().await;
    let status = tokio::task::spawn_blocking(move || import.wait().unwrap());
    assert!(status.await.unwrap().success());
    let counted = "SELECT CAST(reltuples > 500 AS TEXT) FROM pg_class WHERE oid = CAST('users' AS regclass)";
    assert_eq!(
        texts(&target.database, counted.to_owned()).await,
        [Some("true".to_owned())]
    );
    source.close();
    target.close();
}

async fn check_memory(kind: DatabaseKind) {
    let (Some(source), Some(target)) = (ServerEnv::new(kind), ServerEnv::new(kind)) else {
        return;
    };
    let many = size(40_000, 100_000);
    let world = World::create(&source.store().await, &source.database).await;
    drop(target.store().await);
    for env in [&source, &target] {
        run_ok(env, &["scrub", "--adopt-storage"]);
    }
    let archives = ["few", "many"].map(|name| source.folder().join(name));
    let [few_file, many_file] = archives.each_ref().map(|path| path.to_str().unwrap());
    add_people(&source, &world.north, 1, FEW).await;
    run_ok(&source, &["school", "export", "north", "--output", few_file]);
    add_people(&source, &world.north, FEW + 1, many).await;
    let export = peak_of(&source, &["school", "export", "north", "--output", many_file]);
    // A measurement is too small if this process stalls while the import ends.
    let peaks = (0..3).map(|_| peak_of(&target, &["school", "import", few_file, "--dry-run"]));
    let least = peaks.max().unwrap();
    let most = peak_of(&target, &["school", "import", many_file, "--dry-run"]);
    println!(
        "{kind:?}: peak {} MiB with {FEW} people, {} MiB with {many}; export {} MiB",
        least >> 20,
        most >> 20,
        export >> 20
    );
    assert!(
        most.saturating_sub(least) < GROWTH_MAX,
        "memory grew from {least} to {most}"
    );
    // A real import also hashes a password, which needs more memory than all of the above.
    run_ok(&target, &["school", "import", many_file]);
    for table in ["users", "members"] {
        let column = if table == "users" { "id" } else { "user_id" };
        let count = format!("SELECT CAST(COUNT(*) AS TEXT) FROM {table} WHERE {column} LIKE 'many-%'");
        assert_eq!(
            texts(&target.database, count).await,
            [Some(many.to_string())],
            "{table}"
        );
    }
    source.close();
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_of_school_import_does_not_grow_with_its_people_on_sqlite() {
    check_memory(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_of_school_import_does_not_grow_with_its_people_on_postgres() {
    check_memory(DatabaseKind::Postgres).await;
}
