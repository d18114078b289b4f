//! Audit lines of the log, and the filter of fail2ban that reads them.

use std::process::Command;

use serde_json::json;
use test_support::{Client, DatabaseKind, ServerEnv, World};

/// Runs a service in which a user signs in wrongly until the address is locked out; returns its log.
async fn log_of_failed_sign_ins(settings: &[(&str, &str)]) -> String {
    let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let world = World::create(&env.store().await, &env.database).await;
    let mut service = env.try_start("serve", settings).unwrap();
    service.ready().await;
    let stranger = Client::new(&service.base, None);
    let mut last = 0;
    for _ in 0..6 {
        let body = json!({"email": world.ada.email, "password": "not the password"});
        last = stranger.post("/auth/sign-in/email", body).await.status;
    }
    assert_eq!(last, 429);
    let ada = Client::new(&service.base, Some(world.ada.cookie.clone()));
    ada.post("/users/me/export", json!({})).await;
    let log = service.log_of_stopped();
    assert!(
        !log.contains(&world.ada.email) && !log.contains("not the password"),
        "{log}"
    );
    assert!(!log.contains('\u{1b}'), "colors in a file: {log}");
    log
}

/// Returns how many lines the packaged filter matches; `None` without fail2ban.
fn count_matches(log: &str) -> Option<usize> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log");
    std::fs::write(&file, log).unwrap();
    let filter = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/fail2ban/groupwork.conf");
    let output = Command::new("fail2ban-regex").arg(&file).arg(filter).output();
    let Ok(output) = output else {
        println!("skipped: fail2ban-regex is not installed");
        return None;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let matched = text.lines().find_map(|line| {
        line.strip_prefix("Lines: ")?
            .split(", ")
            .nth(2)?
            .split(' ')
            .next()?
            .parse()
            .ok()
    });
    Some(matched.unwrap_or_else(|| panic!("{text}")))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_sign_in_is_logged_with_client_address() {
    for format in ["text", "json"] {
        let log = log_of_failed_sign_ins(&[("LOG_FORMAT", format)]).await;
        let lines = |message: &str| log.lines().filter(|line| line.contains(message)).count();
        assert_eq!((lines("sign-in failed"), lines("sign-in locked out")), (5, 1), "{log}");
        assert_eq!(lines("data exported"), 1, "{log}");
        let address = if format == "text" {
            "audit=true client.address=127.0.0.1 "
        } else {
            r#""audit":true,"client.address":"127.0.0.1""#
        };
        assert_eq!(lines(address), 7, "{log}");
        if let Some(matches) = count_matches(&log) {
            assert_eq!(matches, 6, "{log}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn client_address_is_omitted_from_audit_lines_on_request() {
    let log = log_of_failed_sign_ins(&[("AUDIT_ADDRESS", "false")]).await;
    assert!(log.contains("sign-in failed audit=true request.id="), "{log}");
    assert!(!log.contains("127.0.0.1"), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn start_is_logged_with_version_database_storage_and_address() {
    let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let service = env.try_start("serve", &[("LOG_LEVEL", "info")]).unwrap();
    let (base, log) = (service.base.clone(), service.log_of_stopped());
    let line = log.lines().find(|line| line.contains("service started")).unwrap();
    let folder = env.folder().display().to_string();
    for part in [
        format!("version=\"{}\"", env!("CARGO_PKG_VERSION")),
        format!("database=\"SQLite {folder}/groupwork.db\""),
        format!("storage=\"{folder}/files\""),
        format!("address=\"{base}\""),
    ] {
        assert!(line.contains(&part), "{part}: {line}");
    }
}
