//! Which database a command uses, which commands create one, and PostgreSQL databases with any collation.

use std::process::Output;

use db::{Database, migrate};

use crate::commands::dotenv;
use test_support::rows::{execute, texts};
use test_support::{DatabaseKind, ServerEnv, database};

fn output_text(output: &Output) -> String {
    String::from_utf8([output.stdout.as_slice(), output.stderr.as_slice()].concat()).unwrap()
}

fn run(env: &ServerEnv, arguments: &[&str]) -> (bool, String) {
    let output = env.command(arguments, &[]).output().unwrap();
    (output.status.success(), output_text(&output))
}

/// Every command that requires an existing database.
const COMMANDS: [&[&str]; 5] = [
    &["admin", "create", "--email", "root@school.test", "--name", "Root"],
    &["backup", "nightly.backup"],
    &["scrub"],
    &["import", "people.csv", "--organization", "north"],
    &["migrate"],
];

fn expect_no_database_created(env: &ServerEnv) {
    std::fs::write(env.folder().join("people.csv"), "email\n").unwrap();
    for command in COMMANDS {
        let (is_done, words) = run(env, command);
        assert!(!is_done, "{command:?} worked on nothing: {words}");
        assert!(words.contains("there is no database of groupwork at"), "{words}");
    }
    let entries = std::fs::read_dir(env.folder()).unwrap();
    let made: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(made, ["people.csv"], "a refused command left something");
}

#[test]
fn command_in_empty_folder_creates_no_database() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    expect_no_database_created(&env);
    // An empty file is not a database either.
    std::fs::write(env.folder().join("groupwork.db"), "").unwrap();
    let (is_done, words) = run(&env, COMMANDS[0]);
    assert!(!is_done && words.contains("there is no database"), "{words}");

    let (is_done, words) = run(&env, &[COMMANDS[0], &["--create-database"]].concat());
    assert!(is_done, "{words}");
    let path = env.folder().join("groupwork.db").display().to_string();
    for index in [1, 2, 4] {
        let (is_done, words) = run(&env, COMMANDS[index]);
        assert!(
            is_done && words.contains(&format!("database: SQLite {path}\n")),
            "{words}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn command_on_empty_postgres_creates_no_schema() {
    let Some(mut env) = ServerEnv::on_empty_postgres() else {
        return;
    };
    let Database::Postgres(url) = env.database.clone() else {
        unreachable!()
    };
    let name = url.rsplit('/').next().unwrap().to_owned();
    env.set("DATABASE_URL", &url.replace("postgres@", "postgres:hushhush@"));
    expect_no_database_created(&env);
    let tables = "SELECT CAST(relname AS TEXT) FROM pg_class WHERE relname = 'users'".to_owned();
    assert_eq!(texts(&env.database, tables).await, []);

    // The doctor reports the reason. (The test server runs without fsync, which is a separate failure.)
    let (_, words) = run(&env, &["doctor"]);
    assert!(
        words.contains("PostgreSQL is empty; the first start brings the schema"),
        "{words}"
    );
    assert!(!words.contains("FAULT   database"), "{words}");
    let (is_done, words) = run(&env, &[COMMANDS[0], &["--create-database"]].concat());
    assert!(is_done, "{words}");
    assert!(
        words.contains(&format!("database: PostgreSQL database {name} at 127.0.0.1")),
        "{words}"
    );
    assert!(!words.contains("hushhush"), "{words}");
    let (_, words) = run(&env, &["doctor"]);
    assert!(
        words.contains("PostgreSQL, schema") && !words.contains("FAULT   database"),
        "{words}"
    );
    env.close();
}

#[test]
fn malformed_settings_line_is_rejected_without_its_value() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    dotenv(&env, b"LOG_LEVEL=warn\nUPLOAD_MAX_MB=7\n", 0o600);
    assert!(run(&env, &["config", "check"]).0);
    for (text, expected) in [
        (
            "LOG_LEVEL=warn\nAUTH_SECRET hushhush\nUPLOAD_MAX_MB=7\n",
            ".env: line 2 (AUTH_SECRET): there is no `=`",
        ),
        (
            "AUTH_SECRET=\"hushhush\nUPLOAD_MAX_MB=7\n",
            ".env: line 1 (AUTH_SECRET): a quote is never closed",
        ),
        (
            "export AUTH_SECRET=hushhush\n",
            ".env: line 1 (AUTH_SECRET): before the `=`",
        ),
    ] {
        dotenv(&env, text.as_bytes(), 0o600);
        for command in [
            &["serve"][..],
            &["config", "show"],
            &["doctor"],
            &["healthcheck"],
            COMMANDS[0],
            &["scrub"],
        ] {
            let output = env.command(command, &[]).output().unwrap();
            let words = output_text(&output);
            assert_eq!(output.status.code(), Some(1), "{command:?}: {words}");
            assert!(
                words.starts_with(expected) && words.lines().count() == 1,
                "{command:?}: {words}"
            );
            assert!(!words.contains("hush"), "{command:?}: {words}");
        }
        assert!(run(&env, &["openapi"]).0, "what prints a document reads no settings");
    }
}

#[test]
fn settings_file_follows_systemd_and_environment_overrides() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let text = "# comment\nMAIL_FROM='Our School <office@school.test>'\nBASE_DOMAIN=$HOME.test # kept\nLOG_LEVEL=debug\n\
        UPLOAD_MAX_MB=1\nUPLOAD_MAX_MB=\"\\\n7\"\n";
    dotenv(&env, text.as_bytes(), 0o600);
    let (is_done, words) = run(&env, &["config", "show"]);
    assert!(is_done);
    for line in [
        "MAIL_FROM=Our School <office@school.test>\n",
        "BASE_DOMAIN=$HOME.test # kept\n",
        "LOG_LEVEL=warn\n",
        "UPLOAD_MAX_MB=7\n",
    ] {
        assert!(words.contains(line), "{words}");
    }
}

/// A database as created by the PostgreSQL image and most distributions: text is sorted by the rules of a language.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_is_compared_by_bytes_in_database_of_any_collation() {
    let Some(Database::Postgres(empty)) = database::empty() else {
        return;
    };
    let (server, name) = empty.rsplit_once('/').unwrap();
    let language = Database::Postgres(format!("{server}/{name}_en"));
    let create = |options: &str| format!("CREATE DATABASE {name}_en TEMPLATE template0 {options}");
    let english = "LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LC_COLLATE 'C' LC_CTYPE 'C' ENCODING 'UTF8'";
    let administration = Database::Postgres(empty.clone());
    execute(&administration, create(english)).await;
    let compared = "SELECT CAST('a' < 'B' AS TEXT)".to_owned();
    assert_eq!(
        texts(&language, compared).await,
        [Some("true".to_owned())],
        "it knows a language"
    );

    let migrated = async || {
        let language = language.clone();
        tokio::task::spawn_blocking(move || migrate(&language)).await.unwrap()
    };
    let others = "SELECT CAST(a.attname AS TEXT) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        JOIN pg_collation l ON l.oid = a.attcollation
        WHERE c.relkind = 'r' AND c.relnamespace = CAST('public' AS regnamespace)
            AND a.atttypid = CAST('text' AS regtype) AND l.collname <> 'C'";
    assert!(migrated().await.unwrap() > 10);
    assert_eq!(texts(&language, others.to_owned()).await, []);
    let sorted =
        "INSERT INTO settings (name, value, updated_at) VALUES ('a', '', 1), ('B', '', 1), ('ä', '', 1), ('Z', '', 1)";
    execute(&language, sorted.to_owned()).await;
    let names = "SELECT name FROM settings WHERE updated_at = 1 ORDER BY name".to_owned();
    let names: Vec<String> = texts(&language, names).await.into_iter().flatten().collect();
    assert_eq!(names, ["B", "Z", "a", "ä"]);

    // The next start corrects the collation of columns from a dump of an older database.
    let declared = "ALTER TABLE groups ALTER COLUMN name TYPE TEXT COLLATE \"en-x-icu\"".to_owned();
    execute(&language, declared).await;
    assert_eq!(texts(&language, others.to_owned()).await.len(), 1);
    assert_eq!(migrated().await.unwrap(), 0);
    assert_eq!(texts(&language, others.to_owned()).await, []);

    database::drop_postgres(&language);
    execute(
        &administration,
        create("LC_COLLATE 'C' LC_CTYPE 'C' ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc"),
    )
    .await;
    let refused = format!("{:?}", migrated().await.unwrap_err());
    assert!(refused.contains("encoding SQL_ASCII"), "{refused}");
    database::drop_postgres(&language);
    database::drop_postgres(&administration);
}
