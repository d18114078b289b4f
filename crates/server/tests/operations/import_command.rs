//! `groupwork import`: the same import from the command line, without a running server.

use std::process::{Command, Output};

use test_support::rosters::{one_roster, packed, table};
use test_support::rows::texts;
use test_support::{DatabaseKind, ServerEnv, World};

fn groupwork(env: &ServerEnv, file: &str, bytes: &[u8], arguments: &[&str]) -> Output {
    let path = env.folder().join(file);
    std::fs::write(&path, bytes).unwrap();
    let mut command = Command::new(test_support::server_binary());
    command
        .env_clear()
        .env("DATA_DIR", env.folder())
        .current_dir(env.folder());
    if let db::Database::Postgres(url) = &env.database {
        command.env("DATABASE_URL", url);
    }
    command.arg("import").arg(&path).args(arguments).output().unwrap()
}

async fn check_import(kind: DatabaseKind) {
    let Some(env) = ServerEnv::new(kind) else { return };
    let world = World::create(&env.store().await, &env.database).await;
    let north = ["--organization", "north"];
    let members = format!("SELECT id FROM members WHERE organization_id = '{}'", world.north);
    let before = texts(&env.database, members.clone()).await.len();
    let people = table(&["mia@new.example,Mia,Meer,student,,9z,7b,"]);

    let dry = groupwork(
        &env,
        "people.csv",
        people.as_bytes(),
        &[&north[..], &["--dry-run"]].concat(),
    );
    let printed = String::from_utf8(dry.stdout).unwrap();
    assert!(dry.status.success() && printed.contains("row 2 created\n"), "{printed}");
    assert!(
        printed.ends_with("dry run: 1 created, 0 updated, 0 invited, 0 skipped, 0 failed\n"),
        "{printed}"
    );
    assert_eq!(texts(&env.database, members.clone()).await.len(), before);

    let done = groupwork(&env, "people.csv", people.as_bytes(), &north);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let again = groupwork(
        &env,
        "people.csv",
        people.as_bytes(),
        &[&north[..], &["--mode", "create"]].concat(),
    );
    assert!(
        String::from_utf8(again.stdout)
            .unwrap()
            .contains("0 created, 0 updated, 0 invited, 1 skipped, 0 failed")
    );
    let roles = texts(
        &env.database,
        "SELECT user_role FROM activity_logs WHERE action = 'IMPORT'".to_owned(),
    )
    .await;
    assert_eq!(roles, [Some("system".to_owned())]);

    // Every rejected import has an exit code that a script can check.
    let refused = groupwork(&env, "bad.csv", table(&["x,X,X,owner,,,,"]).as_bytes(), &north);
    let printed = String::from_utf8(refused.stdout).unwrap();
    assert!(
        !refused.status.success() && printed.contains("row 2 failed: role must be student or teacher"),
        "{printed}"
    );
    for (file, bytes, arguments, why) in [
        (
            "people.csv",
            people.as_bytes(),
            ["--organization", "nowhere"],
            "nowhere",
        ),
        ("people.csv", b"email,name\n".as_slice(), north, "header"),
        ("people.txt", people.as_bytes(), north, ".csv or .zip"),
        (
            "latin.csv",
            b"email,firstName,lastName,role\na@b.de,Gr\xfc\xdfe,x,student\n".as_slice(),
            north,
            "UTF-8",
        ),
    ] {
        let refused = groupwork(&env, file, bytes, &arguments);
        let printed = String::from_utf8(refused.stderr).unwrap();
        assert!(!refused.status.success() && printed.contains(why), "{file}: {printed}");
    }
    let roster = groupwork(&env, "roster.zip", &packed(&one_roster()), &north);
    let printed = String::from_utf8(roster.stdout).unwrap();
    assert!(
        printed.contains("users.csv row 2 created\n") && printed.contains("users.csv row 7 failed: orgSourcedIds"),
        "{printed}"
    );
    // The student without an address gets a user name.
    assert_eq!(texts(&env.database, members).await.len(), before + 5);
    env.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn import_command_works_without_server_on_sqlite() {
    check_import(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn import_command_works_without_server_on_postgres() {
    check_import(DatabaseKind::Postgres).await;
}
