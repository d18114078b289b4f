//! Audit lines of the log, the filter of fail2ban that reads them, and the export of the activity logs.

use std::process::Command;

use serde_json::{Value, json};
use test_support::{Client, DatabaseKind, ServerEnv, World, until};

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
    // A process that stops does not wait long for its log.
    until("the last line is logged", async || {
        service.log().contains("data exported")
    })
    .await;
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
        test_support::report_skipped("fail2ban-regex is not installed");
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
async fn activity_of_all_schools_is_exported() {
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres] {
        let Some(mut env) = ServerEnv::new(kind) else { return };
        let world = World::create(&env.store().await, &env.database).await;
        let mut service = env.start("serve");
        service.ready().await;
        let adam = Client::new(&service.base, Some(world.adam.cookie.clone()));
        // More than one page.
        for number in 0..510 {
            let subject = json!({"name": format!("=Subject {number}")});
            adam.post("/subjects", subject).await.expect(201);
        }
        let zoe = Client::new(&service.base, Some(world.zoe.cookie.clone()));
        zoe.patch("/users/me", json!({"locale": "de"})).await.expect(200);
        let body = json!({"email": "none@school.test", "password": "not the password"});
        let stranger = Client::new(&service.base, None);
        assert_eq!(stranger.post("/auth/sign-in/email", body).await.status, 401);

        let export = |more: &[&str]| {
            let arguments = [&["audit", "export"], more].concat();
            let output = env.command(&arguments, &[]).output().unwrap();
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{more:?}: {error}");
            String::from_utf8(output.stdout).unwrap()
        };
        let lines = |text: String| -> Vec<Value> {
            let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
            lines.collect()
        };
        let all = lines(export(&[]));
        let subjects = |lines: &[Value]| {
            let is_subject = |line: &&Value| line["school"] == "north" && line["category"] == "SUBJECT";
            lines.iter().filter(is_subject).count()
        };
        assert_eq!(subjects(&all), 510);
        let times: Vec<_> = all
            .iter()
            .filter(|line| line["school"] == "north")
            .map(|line| line["createdAt"].as_str().unwrap())
            .collect();
        assert!(times.is_sorted());
        let failures: Vec<_> = all.iter().filter(|line| line["source"] == "signInFailure").collect();
        assert_eq!(failures.len(), 1, "{failures:?}");
        assert_eq!(
            (&failures[0]["account"], &failures[0]["address"]),
            (&json!("none@school.test"), &json!("127.0.0.1"))
        );

        let north = lines(export(&["--school", "north"]));
        assert!(north.iter().all(|line| line["school"] == "north"));
        assert_eq!(subjects(&north), 510);
        let half = all
            .iter()
            .filter(|line| line["category"] == "SUBJECT")
            .nth(255)
            .unwrap()["createdAt"]
            .clone();
        let (from, to) = (
            lines(export(&["--from", half.as_str().unwrap()])),
            lines(export(&["--to", half.as_str().unwrap()])),
        );
        assert_eq!(
            subjects(&from) + subjects(&to),
            510,
            "a record belongs to one of two adjoining exports"
        );
        assert!(subjects(&to) >= 1 && subjects(&from) >= 1);
        assert_eq!(export(&["--from", "2099-01-01"]), "");

        let table = export(&["--format", "csv"]);
        assert!(table.starts_with("source,school,id,createdAt,"), "{}", &table[..100]);
        assert!(table.contains("\"'=Subject 7\""), "formulas are text");
        assert!(table.contains("none@school.test,127.0.0.1\r\n"));
        for wrong in [&["--school", "none"][..], &["--from", "yesterday"]] {
            let arguments = [&["audit", "export"], wrong].concat();
            assert!(
                !env.command(&arguments, &[]).output().unwrap().status.success(),
                "{wrong:?}"
            );
        }
        service.stop();
        env.close();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn start_is_logged_with_version_database_storage_and_address() {
    let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let service = env.try_start("serve", &[("LOG_LEVEL", "info")]).unwrap();
    until("the start is logged", async || {
        service.log().contains("service started")
    })
    .await;
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
