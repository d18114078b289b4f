//! A school with rows in every table is exported and imported into an installation with other schools, on either
//! database: it arrives completely, and nothing else changes. A damaged or forged archive changes nothing, and so does an
//! import that is killed.

mod forged;
mod full_school;
mod many_people;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Output;

use age::secrecy::ExposeSecret as _;
use db::Database;
use db::archives::format::read_chunk;
use db::dump::school::{LEFT_OUT, ORGANIZATION, PEOPLE, SCHOOL_TABLES, SchoolTable};
use db::dump::{Cell, Snapshot};
use db::gdpr::data_map::{MAP, PersonalDataKind};
use serde_json::{Value, json};

use self::full_school::FullSchool;
use test_support::db_grep::rows_of;
use test_support::rows::{execute, texts};
use test_support::tables::{all_rows, fingerprints};
use test_support::{Client, DatabaseKind, ServerEnv, World};

fn run(env: &ServerEnv, arguments: &[&str]) -> (Output, String) {
    let output = env.command(arguments, &[]).output().unwrap();
    let printed = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    (output, printed)
}

#[track_caller]
fn run_ok(env: &ServerEnv, arguments: &[&str]) -> String {
    let (output, printed) = run(env, arguments);
    assert!(output.status.success(), "{arguments:?}: {printed}");
    printed
}

#[track_caller]
fn run_refused(env: &ServerEnv, arguments: &[&str], why: &str) {
    let (output, printed) = run(env, arguments);
    assert!(!output.status.success(), "{arguments:?} was not refused: {printed}");
    assert!(printed.contains(why), "{arguments:?} does not say {why:?}: {printed}");
}

/// Creates an installation with a school of its own.
async fn installation_with_neighbours(kind: DatabaseKind) -> Option<(ServerEnv, World)> {
    let env = ServerEnv::new(kind)?;
    let world = World::create_in_shared(&env.store().await, &env.database).await;
    run_ok(&env, &["scrub", "--adopt-storage"]);
    Some((env, world))
}

async fn rows_by_table(database: &Database) -> BTreeMap<String, BTreeSet<String>> {
    let database = database.clone();
    let all = tokio::task::spawn_blocking(move || all_rows(&database)).await.unwrap();
    all.into_iter()
        .map(|(table, rows)| (table, rows.into_iter().collect()))
        .collect()
}

/// Fails if a row of an installation was changed or is gone. Leases and counts of the service are no such rows.
async fn check_unchanged(before: &BTreeMap<String, BTreeSet<String>>, database: &Database) {
    let after = rows_by_table(database).await;
    for (table, rows) in before {
        if table == "settings" {
            continue;
        }
        let lost: Vec<_> = rows.difference(&after[table]).collect();
        assert!(lost.is_empty(), "{table}: {lost:?}");
    }
}

fn stored_files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.join("files")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.file_name().unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found
}

/// Returns the entries of an archive that depend on the school only.
fn content(archive: &Path) -> BTreeMap<String, Vec<u8>> {
    let whole = std::fs::read(archive).unwrap();
    let entries = forged::entries(&whole);
    let kept = entries
        .into_iter()
        .filter(|(name, _)| name.starts_with("chunks/") || name.starts_with("files"));
    kept.collect()
}

async fn move_school(from: DatabaseKind, to: DatabaseKind) {
    let Some(school) = FullSchool::create(from).await else {
        return;
    };
    let Some((mut target, neighbours)) = installation_with_neighbours(to).await else {
        school.close().await;
        return;
    };
    let (north, source) = (school.app.world.north.clone(), school.env());
    let counts = rows_of(&school.app.database, &north).await;
    let empty: Vec<_> = SCHOOL_TABLES.iter().filter(|table| counts[table.name] == 0).collect();
    assert!(
        empty.is_empty(),
        "the school of this test has rows in every table, but {empty:?}"
    );
    let archive = school.app.folder().join("north.school");
    let file = archive.to_str().unwrap();
    let export = ["school", "export", "north", "--output", file];
    let output = source
        .command(&export, &[("FRONTEND_URL", "http://former.test")])
        .output();
    let output = output.unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && printed.contains("North School (north)"),
        "{printed}"
    );
    run_refused(
        &source,
        &["school", "export", "north", "--output", file],
        "exists already",
    );
    run_refused(
        &source,
        &["school", "export", "east", "--output", "e"],
        "there is no school with the short name east",
    );

    let before = rows_by_table(&target.database).await;
    let printed = run_ok(&target, &["school", "import", file, "--dry-run"]);
    assert!(printed.contains("10 new accounts"), "{printed}");
    check_unchanged(&rows_by_table(&target.database).await, &target.database).await;
    assert!(rows_of(&target.database, &north).await.values().all(|rows| *rows == 0));
    let printed = run_ok(&target, &["school", "import", file]);
    assert!(printed.contains("imported as north"), "{printed}");
    check_unchanged(&before, &target.database).await;
    check_record_of_import(&target, &north).await;
    let said_scrub = run_ok(&target, &["scrub", "--older-than", "0"]);
    assert!(
        said_scrub.contains("0 missing, 0 damaged, 0 contradictions in rows, 0 files without a row"),
        "{said_scrub}"
    );
    // No credential, rank or proof arrives.
    let people = format!(
        "SELECT u.id FROM users u LEFT JOIN accounts a ON a.user_id = u.id WHERE u.home_organization_id = '{north}'
            AND (u.email_verified OR u.role = 'SUPER_ADMIN' OR a.id IS NOT NULL)"
    );
    let olga = &school.app.world.olga;
    assert_eq!(
        texts(&target.database, people).await,
        [Some(olga.id.clone())],
        "a temporary password"
    );
    let again = target.folder().join("again.school");
    run_ok(
        &target,
        &["school", "export", "north", "--output", again.to_str().unwrap()],
    );
    assert!(
        content(&archive) == content(&again),
        "the second export has the same rows and files"
    );
    run_refused(&target, &["school", "import", file], "is in this installation already");
    assert_eq!(rows_of(&target.database, &neighbours.south).await["members"], 3);

    use_school(&mut target, &school, password_of(&printed)).await;
    target.close();
    school.close().await;
}

/// The activity log of the imported school has one record of the import, which the export of the platform contains.
/// Removes it, so that the rows are those of the archive again.
async fn check_record_of_import(target: &ServerEnv, north: &str) {
    let printed = run_ok(target, &["audit", "export", "--school", "north"]);
    let records = printed.lines().filter_map(|line| serde_json::from_str(line).ok());
    let imports: Vec<Value> = records
        .filter(|record: &Value| record["category"] == "TENANT" && record["action"] == "IMPORT")
        .collect();
    assert_eq!(imports.len(), 1, "{imports:?}");
    let (record, details) = (&imports[0], &imports[0]["details"]);
    assert_eq!(record["userName"], "groupwork school");
    assert_eq!(
        (&record["userId"], &record["userRole"]),
        (&Value::Null, &json!("system"))
    );
    assert_eq!(record["entityName"], "North School");
    assert_eq!(details["installation"], "http://former.test");
    assert_eq!((&details["slug"], &details["accounts"]), (&json!("north"), &json!(10)));
    assert!(
        details["takenAt"].is_string() && details["release"].is_string(),
        "{details}"
    );
    let remove = format!(
        "DELETE FROM activity_logs WHERE organization_id = '{north}' AND category = 'TENANT' AND action = 'IMPORT'"
    );
    execute(&target.database, remove).await;
}

fn password_of(printed: &str) -> &str {
    let after = printed
        .split_once("(shown once): ")
        .unwrap_or_else(|| panic!("{printed}"))
        .1;
    after.lines().next().unwrap()
}

async fn sign_in(base: &str, email: &str, password: &str) -> Client {
    let body = json!({"email": email, "password": password});
    let answer = Client::new(base, None).post("/auth/sign-in/email", body).await;
    let cookie = answer.header("set-cookie").split(';').next().unwrap().to_owned();
    answer.expect(200);
    Client::new(base, Some(cookie))
}

/// The owner signs in, resets the password of a student, and the student opens a document.
async fn use_school(env: &mut ServerEnv, school: &FullSchool, owner_password: &str) {
    let world = &school.app.world;
    let mut service = env.start("serve");
    service.ready().await;
    let old = Client::new(&service.base, Some(world.ben.cookie.clone()));
    old.get("/classes").await.refused(401, "UNAUTHENTICATED");
    let olga = sign_in(&service.base, &world.olga.email, owner_password).await;
    let chosen = json!({"newPassword": "correct horse battery 9"});
    olga.post("/auth/new-password", chosen).await.expect(200);
    let north = json!({"organizationId": world.north});
    olga.post("/auth/organization/set-active", north.clone())
        .await
        .expect(200);
    let reset = format!("/users/{}/reset-password", world.ben.id);
    let temporary = olga.post(&reset, json!({})).await.expect(200)["temporaryPassword"].clone();
    let ben = sign_in(&service.base, &world.ben.email, temporary.as_str().unwrap()).await;
    let chosen = json!({"newPassword": "another horse battery 9"});
    ben.post("/auth/new-password", chosen).await.expect(200);
    ben.post("/auth/organization/set-active", north).await.expect(200);
    let path = format!("/workrooms/documents/{}/download", school.document);
    let here = ben.get(&path).await;
    assert_eq!(here.status, 200);
    let there = school.app.as_(&world.ben).get(&path).await;
    assert_eq!(there.status, 200);
    assert!(here.bytes == there.bytes, "the same document");
    service.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn school_moves_from_sqlite_to_postgres_completely() {
    move_school(DatabaseKind::Sqlite, DatabaseKind::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn school_moves_from_postgres_to_sqlite_completely() {
    move_school(DatabaseKind::Postgres, DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_of_a_school_are_those_of_the_schema() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    drop(env.store().await);
    let database = env.database.clone();
    let tables = tokio::task::spawn_blocking(move || Snapshot::take(&database).unwrap().tables());
    let tables = tables.await.unwrap();
    let names: BTreeSet<&str> = tables.iter().map(|table| table.name.as_str()).collect();
    let is_listed = |name: &str| {
        name == ORGANIZATION
            || name == PEOPLE
            || SchoolTable::find(name).is_some()
            || LEFT_OUT.iter().any(|(table, _)| *table == name)
    };
    let missing: Vec<_> = names.iter().filter(|name| !is_listed(name)).collect();
    assert!(
        missing.is_empty(),
        "add to SCHOOL_TABLES or LEFT_OUT in crates/db/src/dump/school.rs: {missing:?}"
    );
    for table in SCHOOL_TABLES {
        let found = tables.iter().find(|found| found.name == table.name);
        let found = found.unwrap_or_else(|| panic!("there is no table {}", table.name));
        let columns: BTreeSet<&str> = found.columns.iter().map(|column| column.name.as_str()).collect();
        for column in [table.key, table.users, table.user_lists, table.mentions, table.omitted].concat() {
            assert!(columns.contains(column), "{} has no column {column}", table.name);
        }
        assert!(
            columns.contains("organization_id"),
            "{} belongs to no school",
            table.name
        );
    }
    let unmapped: Vec<_> = MAP
        .iter()
        .filter(|mapped| matches!(mapped.holds, PersonalDataKind::Id | PersonalDataKind::Ids))
        // The id of an object of any kind, which is only compared.
        .filter(|mapped| (mapped.table, mapped.column) != ("activity_logs", "entity_id"))
        .filter(|mapped| {
            SchoolTable::find(mapped.table).is_some_and(|table| {
                let columns = [table.users, table.user_lists, table.mentions];
                !columns.iter().any(|columns| columns.contains(&mapped.column))
            })
        })
        .map(|mapped| (mapped.table, mapped.column))
        .collect();
    assert!(
        unmapped.is_empty(),
        "columns with ids of users in crates/db/src/dump/school.rs: {unmapped:?}"
    );
}

/// The people of the archive have accounts of another school: they are invited, and nothing of their accounts changes.
async fn known_addresses(kind: DatabaseKind) {
    let Some(school) = FullSchool::create(kind).await else {
        return;
    };
    let Some(target) = ServerEnv::new(kind) else {
        school.close().await;
        return;
    };
    let here = World::create(&target.store().await, &target.database).await;
    run_ok(&target, &["scrub", "--adopt-storage"]);
    let archive = school.app.folder().join("north.school");
    let file = archive.to_str().unwrap();
    run_ok(&school.env(), &["school", "export", "north", "--output", file]);
    let before = rows_by_table(&target.database).await;
    run_refused(&target, &["school", "import", file], "name another one with --slug");
    let printed = run_ok(&target, &["school", "import", file, "--slug", "moved"]);
    assert!(printed.contains("the school has no owner until"), "{printed}");
    assert!(
        printed.contains(&format!("is invited: {}", here.ben.email)),
        "{printed}"
    );
    check_unchanged(&before, &target.database).await;
    run_ok(&target, &["scrub", "--older-than", "0"]);
    let north = &school.app.world.north;
    let ids = |query: String| {
        let database = target.database.clone();
        async move { texts(&database, query).await.into_iter().flatten().collect::<Vec<_>>() }
    };
    let members = ids(format!(
        "SELECT user_id FROM members WHERE organization_id = '{north}' AND is_active"
    ))
    .await;
    assert_eq!(
        members,
        std::slice::from_ref(&school.without_address),
        "the one without an address"
    );
    let kept = ids(format!(
        "SELECT u.email FROM group_members g JOIN users u ON u.id = g.user_id
            WHERE g.organization_id = '{north}' AND u.is_active"
    ));
    assert!(kept.await.is_empty());
    let invited = ids(format!(
        "SELECT email FROM invitations WHERE organization_id = '{north}' AND status = 'pending'
            AND email = '{}' AND role = 'student' AND class_ids <> '[]'",
        here.ben.email
    ));
    assert_eq!(invited.await.len(), 1);
    target.close();
    school.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn known_addresses_are_invited_and_their_accounts_unchanged() {
    known_addresses(DatabaseKind::Sqlite).await;
    known_addresses(DatabaseKind::Postgres).await;
}

/// A school is purged and comes back into the same installation: no account is given away, and erased people stay
/// erased.
async fn purged_school(kind: DatabaseKind) {
    let Some(school) = FullSchool::create(kind).await else {
        return;
    };
    let (app, world, env) = (&school.app, &school.app.world, school.env());
    let archive = app.folder().join("north.school");
    let file = archive.to_str().unwrap();
    let pack = format!(
        "UPDATE document_steps SET packed_from = version, steps = '{}' WHERE organization_id = '{}'",
        forged::pack_by(&world.ada.id),
        world.north
    );
    execute(&app.database, pack).await;
    run_ok(&env, &["school", "export", "north", "--output", file]);
    let root = app.as_(&world.root);
    let path = format!("/tenants/{}", world.north);
    root.send(reqwest::Method::DELETE, &path, Some(json!({"confirm": "north"})))
        .await
        .expect(200);
    let query = format!("SELECT id FROM organizations WHERE id = '{}'", world.north);
    test_support::document_server_fixture::eventually(async || texts(&app.database, query.clone()).await.is_empty())
        .await;
    let removals = "SELECT id FROM file_removals".to_owned();
    test_support::document_server_fixture::eventually(async || texts(&app.database, removals.clone()).await.is_empty())
        .await;
    execute(
        &app.database,
        format!(
            "UPDATE users SET erased_at = 1, email = 'erased-{0}@erased.invalid', name = 'Erased' WHERE id = '{0}'",
            world.cem.id
        ),
    )
    .await;
    let before = rows_by_table(&app.database).await;
    let printed = run_ok(&env, &["school", "import", file]);
    assert!(printed.contains("1 people were erased here"), "{printed}");
    assert!(
        printed.contains(&format!("is invited: {}", world.ada.email)),
        "{printed}"
    );
    let accounts = |rows: &BTreeMap<String, BTreeSet<String>>| rows["accounts"].clone();
    let after = rows_by_table(&app.database).await;
    assert_eq!(accounts(&before), accounts(&after), "no password changed");
    let lost: Vec<_> = before["users"].difference(&after["users"]).collect();
    assert!(
        lost.iter()
            .all(|row| row.contains(&world.cem.id) || row.contains("no-email.invalid")),
        "{lost:?}"
    );
    let named = texts(
        &app.database,
        format!(
            "SELECT user_id FROM activity_logs WHERE user_name = '{}'",
            world.cem.name
        ),
    );
    assert!(named.await.is_empty());
    // Packed commits name their author by the new id, too.
    let packs = format!(
        "SELECT steps FROM document_steps WHERE organization_id = '{}' AND packed_from IS NOT NULL",
        world.north
    );
    let packs = texts(&app.database, packs).await.into_iter().flatten();
    let authors: BTreeSet<String> = packs.flat_map(|pack| forged::authors_of(&pack)).collect();
    let ada = format!(
        "SELECT id FROM users WHERE home_organization_id = '{}' AND name = '{}' AND id <> '{}'",
        world.north, world.ada.name, world.ada.id
    );
    let ada: BTreeSet<String> = texts(&app.database, ada).await.into_iter().flatten().collect();
    assert_eq!(ada.len(), 1);
    assert_eq!(authors, ada);
    // The one student without an address has the former account again.
    let finn = format!(
        "SELECT user_name FROM users WHERE id = '{}' AND home_organization_id = '{}' AND is_active",
        school.without_address, world.north
    );
    assert_eq!(texts(&app.database, finn).await, [Some("nils.nomail".to_owned())]);
    run_ok(&env, &["scrub", "--older-than", "0"]);
    school.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn purged_school_returns_without_giving_accounts_away() {
    purged_school(DatabaseKind::Sqlite).await;
    purged_school(DatabaseKind::Postgres).await;
}

/// Writes a private key into a file and returns its public key.
fn key(folder: &Path, name: &str) -> (String, PathBuf) {
    use std::os::unix::fs::PermissionsExt as _;
    let key = age::x25519::Identity::generate();
    let path = folder.join(name);
    std::fs::write(&path, key.to_string().expose_secret()).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    (key.to_public().to_string(), path)
}

async fn refusals(kind: DatabaseKind) {
    let Some(school) = FullSchool::create(kind).await else {
        return;
    };
    let Some((target, neighbours)) = installation_with_neighbours(kind).await else {
        school.close().await;
        return;
    };
    let folder = school.app.folder().to_owned();
    let (public, private) = key(&folder, "key");
    let (_, other) = key(&folder, "other");
    let encrypted = folder.join("north.age");
    let sealed = encrypted.to_str().unwrap();
    run_ok(
        &school.env(),
        &["school", "export", "north", "--output", sealed, "--recipient", &public],
    );
    let archive = folder.join("north.school");
    run_ok(
        &school.env(),
        &["school", "export", "north", "--output", archive.to_str().unwrap()],
    );
    let before = fingerprints(&target.database).await;
    let files = stored_files(target.folder());
    run_refused(&target, &["school", "import", sealed], "--identity");
    let wrong = ["school", "import", sealed, "--identity", other.to_str().unwrap()];
    run_refused(&target, &wrong, "encrypted for other keys");
    let right = [
        "school",
        "import",
        sealed,
        "--identity",
        private.to_str().unwrap(),
        "--dry-run",
    ];
    run_ok(&target, &right);

    let whole = std::fs::read(&archive).unwrap();
    let foreign = forged::ForeignRows {
        person: neighbours.ada.id.clone(),
        organization: neighbours.north.clone(),
        subject: neighbours.seven_b.subject.clone(),
        class: neighbours.seven_b.id.clone(),
    };
    let forged_file = folder.join("forged.school");
    for (what, bytes, why) in forged::all(&whole, &foreign) {
        std::fs::write(&forged_file, bytes).unwrap();
        let (output, printed) = run(&target, &["school", "import", forged_file.to_str().unwrap()]);
        assert!(!output.status.success(), "{what} was not refused: {printed}");
        assert!(printed.contains(why), "{what} does not say {why:?}: {printed}");
    }
    assert_eq!(fingerprints(&target.database).await, before, "nothing was changed");
    assert_eq!(stored_files(target.folder()), files, "no file is left");

    // Killed at any step: nothing is visible, and the next attempt completes.
    let file = archive.to_str().unwrap();
    for at in ["restore.files:3", "restore.rows:20", "restore.loaded:1"] {
        let output = target
            .command(&["school", "import", file], &[("GROUPWORK_FAILPOINT", at)])
            .output()
            .unwrap();
        assert!(
            output.status.code().is_none(),
            "{at}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let mut after = fingerprints(&target.database).await;
        after.insert("settings".to_owned(), before["settings"]);
        assert_eq!(after, before, "{at}");
    }
    std::fs::write(&forged_file, forged::with_foreign_creator(&whole, &foreign.person)).unwrap();
    run_ok(&target, &["school", "import", forged_file.to_str().unwrap()]);
    let chunks = format!(
        "SELECT content FROM deletion_archive_chunks WHERE organization_id = '{}'",
        school.app.world.north
    );
    let chunks = texts(&target.database, chunks).await;
    let (mut released, mut named) = (0, 0);
    for chunk in chunks.into_iter().flatten() {
        read_chunk(&chunk, |row| {
            released += usize::from(row.header.table == "documents.released");
            named += usize::from(row.cells.contains(&Cell::Text(foreign.person.clone())));
            Ok(())
        })
        .unwrap();
    }
    assert!(released > 0);
    assert_eq!(named, 0, "a deleted object names a person of another school");
    run_ok(&target, &["scrub", "--older-than", "0"]);
    target.close();
    school.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damaged_forged_and_killed_imports_change_nothing_on_sqlite() {
    refusals(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damaged_forged_and_killed_imports_change_nothing_on_postgres() {
    refusals(DatabaseKind::Postgres).await;
}
