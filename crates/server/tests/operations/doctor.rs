//! `groupwork doctor` names each fault and its remedy, and finds none where there is none.

use std::io::Read as _;
use std::process::Stdio;

use serde_json::Value;

use crate::ports::closed_port;
use test_support::fake_s3::FakeS3;
use test_support::fake_smtp::{FakeSmtp, SmtpBehavior};
use test_support::{DatabaseKind, ServerEnv};

/// Runs the doctor and returns its checks as (name, status, message), and its exit code.
fn doctor(env: &ServerEnv, extra: &[(&str, &str)]) -> (Vec<(String, String, String)>, Option<i32>) {
    let output = env.command(&["doctor", "--json"], extra).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let text = |check: &Value, name: &str| check[name].as_str().unwrap().to_owned();
    let checks: Vec<_> = report["checks"].as_array().unwrap().iter().collect();
    let checks: Vec<_> = checks
        .iter()
        .map(|check| (text(check, "check"), text(check, "status"), text(check, "message")))
        .collect();
    let faults = checks.iter().filter(|(_, status, _)| status == "fault").count();
    assert_eq!(report["faults"], faults);
    assert_eq!(output.status.code(), Some(i32::from(faults > 0)));
    (checks, output.status.code())
}

/// Returns status and message of one check.
fn check(env: &ServerEnv, name: &str, extra: &[(&str, &str)]) -> (String, String) {
    let (checks, _) = doctor(env, extra);
    let found = checks.iter().find(|(check, ..)| check == name);
    let (_, status, message) = found.unwrap_or_else(|| panic!("no check {name}: {checks:?}"));
    (status.clone(), message.clone())
}

fn expect_fault(env: &ServerEnv, name: &str, extra: &[(&str, &str)], words: &str) {
    let (status, message) = check(env, name, extra);
    assert!(
        status == "fault" && message.contains(words),
        "{name}: {status} {message}"
    );
}

#[test]
fn doctor_of_new_installation_creates_nothing() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let new = env.folder().join("new/data");
    let extra = [("DATA_DIR", new.to_str().unwrap()), ("LISTEN", "127.0.0.1:0")];
    let (checks, code) = doctor(&env, &extra);
    assert_eq!(code, Some(0), "{checks:?}");
    assert!(!env.folder().join("new").exists());
    assert_eq!(std::fs::read_dir(env.folder()).unwrap().count(), 0);
}

#[test]
fn doctor_ends_quietly_on_closed_pipe() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    for arguments in [&["doctor"][..], &["doctor", "--json"]] {
        let mut command = env.command(arguments, &[("LISTEN", "127.0.0.1:0")]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut errors = String::new();
        child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{errors}");
        assert!(!errors.contains("panicked"), "{errors}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doctor_reports_schema_of_incompatible_release() {
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
        let Some(env) = ServerEnv::new(kind) else { return };
        drop(env.store().await);
        let extra = [("LISTEN", "127.0.0.1:0")];
        assert_eq!(check(&env, "database", &extra).0, "ok");
        let insert = |name: &str, version: i64| {
            let row = format!(
                "INSERT INTO refinery_schema_history (version, name, applied_on, checksum)
                VALUES ({version}, '{name}', '2030-01-01T00:00:00Z', '1')"
            );
            match &env.database {
                db::Database::Sqlite(path) => {
                    rusqlite::Connection::open(path).unwrap().execute_batch(&row).unwrap();
                }
                db::Database::Postgres(url) => {
                    let url = url.clone();
                    std::thread::spawn(move || {
                        let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
                        client.batch_execute(&row).unwrap();
                    })
                    .join()
                    .unwrap();
                }
            }
        };
        insert("more", 9_001);
        let (status, message) = check(&env, "database", &extra);
        assert!(status == "notice" && message.contains("later release"), "{message}");
        insert("contract_9001_less", 9_002);
        expect_fault(&env, "database", &extra, "a later release has taken away");
        env.close();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doctor_names_reason_why_mail_server_cannot_be_used() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let smtp = |scheme: &str, port: u16| format!("{scheme}://clerk:secret@127.0.0.1:{port}");
    let with = |url: &str, words: Option<&str>| {
        let extra = [
            ("SMTP_URL", url),
            ("MAIL_FROM", "a@school.test"),
            ("LISTEN", "127.0.0.1:0"),
        ];
        let (status, message) = check(&env, "mail", &extra);
        assert!(!message.contains("secret"), "{message}");
        match words {
            None => assert_eq!(status, "ok", "{message}"),
            Some(words) => assert!(status == "fault" && message.contains(words), "{status} {message}"),
        }
    };
    let server = FakeSmtp::open(&[]).await;
    with(&smtp("smtp", server.port), None);
    assert!(
        server.lines().iter().any(|line| line.starts_with("AUTH")),
        "{:?}",
        server.lines()
    );
    let (_closed, address) = closed_port();
    with(&smtp("smtp", address.port()), Some("Connection refused"));
    with(&smtp("starttls", server.port), Some("STARTTLS"));
    let busy = FakeSmtp::open(&[SmtpBehavior::Close]).await;
    with(&smtp("smtp", busy.port), Some("421"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doctor_names_each_fault_of_object_store() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let store = FakeS3::open().await;
    let settings = store.settings();
    let with = |changed: &[(&str, &str)]| {
        let mut all: Vec<(&str, &str)> = vec![("LISTEN", "127.0.0.1:0")];
        all.extend(settings.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        all.extend(changed);
        check(&env, "files", &all)
    };
    let (status, message) = with(&[]);
    assert_eq!(status, "ok", "{message}");
    let (_closed, address) = closed_port();
    let endpoint = format!("http://{address}");
    // The name server may respond later than the doctor waits for a connection.
    let unknown_host = ["DNS", "does not respond", "no response"];
    for (setting, value, words) in [
        ("AWS_ACCESS_KEY_ID", "someone", &["AWS_ACCESS_KEY_ID"][..]),
        ("AWS_SECRET_ACCESS_KEY", "wrong", &["AWS_SECRET_ACCESS_KEY"]),
        ("AWS_ENDPOINT_URL", endpoint.as_str(), &["nothing listens"]),
        ("AWS_ENDPOINT_URL", "http://nowhere.invalid", &unknown_host),
    ] {
        let (status, message) = with(&[(setting, value)]);
        assert!(
            status == "fault" && words.iter().any(|word| message.contains(*word)),
            "{setting}={value}: {status} {message}"
        );
    }
    // The staging folder of the doctor is temporary.
    assert!(!env.folder().join("staging").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doctor_follows_frontend_url_to_running_service() {
    let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    std::thread::spawn(move || taken.incoming().for_each(drop));
    expect_fault(&env, "service", &[("LISTEN", &address)], "Address already in use");

    let mut service = env.start("serve");
    service.ready().await;
    let listen = service.base.trim_start_matches("http://").to_owned();
    let base = service.base.clone();
    let (status, message) = check(&env, "address", &[("LISTEN", &listen), ("FRONTEND_URL", &base)]);
    assert_eq!(status, "ok", "{message}");
    for (url, words) in [
        ("http://nowhere.invalid", "does not lead to this service"),
        (&format!("http://{address}"), "does not lead to this service"),
    ] {
        expect_fault(&env, "address", &[("LISTEN", &listen), ("FRONTEND_URL", url)], words);
    }
    service.stop();
}
