//! The built binary: rejected settings, migrations and shutdown.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

const GOOD: [(&str, &str); 3] = [
    ("FRONTEND_URL", "http://school.test"),
    ("DOCSERVER_JWT_SECRET", "docserver-secret-for-tests-0123456789ab"),
    ("AUTH_SECRET", "auth-secret-for-tests-0123456789abcdef"),
];

fn groupwork(folder: &std::path::Path) -> Command {
    let mut command = Command::new(test_support::server_binary());
    command
        .env_clear()
        .env("DATA_DIR", folder)
        .env("LISTEN", "127.0.0.1:0")
        .current_dir(folder);
    command
}

fn refused(settings: &[(&str, &str)]) -> (Output, bool) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = groupwork(folder.path());
    let output = command.arg("serve").envs(settings.iter().copied()).output().unwrap();
    let touched = folder.path().join("groupwork.db").exists();
    (output, touched)
}

#[test]
fn missing_settings_are_listed_in_one_line() {
    for present in 0..7_u8 {
        let given: Vec<_> = (0..3)
            .filter(|bit| present & (1 << bit) != 0)
            .map(|bit| GOOD[bit])
            .collect();
        let missing: Vec<_> = (0..3)
            .filter(|bit| present & (1 << bit) == 0)
            .map(|bit| GOOD[bit].0)
            .collect();
        let (output, touched) = refused(&given);
        assert_eq!(output.status.code(), Some(1));
        let printed = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            printed,
            format!("Missing required configuration: {}\n", missing.join(", "))
        );
        assert!(!touched, "no database was opened");
    }
}

#[test]
fn blank_setting_counts_as_missing() {
    let (output, _) = refused(&[GOOD[0], ("DOCSERVER_JWT_SECRET", "   "), ("AUTH_SECRET", "")]);
    let printed = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        printed,
        "Missing required configuration: DOCSERVER_JWT_SECRET, AUTH_SECRET\n"
    );
}

#[test]
fn weak_known_and_equal_secrets_are_rejected() {
    let short = [GOOD[0], ("DOCSERVER_JWT_SECRET", "short"), GOOD[2]];
    let known = [
        GOOD[0],
        ("DOCSERVER_JWT_SECRET", "changemechangemechangemechangemechangeme"),
        GOOD[2],
    ];
    let equal = [GOOD[0], ("DOCSERVER_JWT_SECRET", GOOD[2].1), GOOD[2]];
    for (settings, word) in [(short, "32 bytes"), (known, "known default"), (equal, "must differ")] {
        let (output, touched) = refused(&settings);
        let printed = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{printed}");
        assert!(printed.contains(word) && printed.lines().count() == 1, "{printed}");
        assert!(!touched);
    }
}

#[test]
fn concurrent_migrations_run_once() {
    let folder = tempfile::tempdir().unwrap();
    let starters: Vec<_> = (0..2)
        .map(|_| {
            groupwork(folder.path())
                .args(["migrate", "--create-database"])
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut applied = 0;
    for starter in starters {
        let output = starter.wait_with_output().unwrap();
        assert!(output.status.success());
        let printed = String::from_utf8(output.stdout).unwrap();
        applied += printed.split(' ').next().unwrap().parse::<usize>().unwrap();
    }
    assert_eq!(applied, std::fs::read_dir("../../migrations").unwrap().count());
    let again = groupwork(folder.path()).arg("migrate").output().unwrap();
    assert_eq!(String::from_utf8(again.stdout).unwrap(), "0 migrations applied\n");
}

#[test]
fn serve_responds_and_stops_cleanly_on_sigterm() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = groupwork(folder.path());
    let mut child = command
        .arg("serve")
        .envs(GOOD)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let address = line
        .trim()
        .strip_prefix("groupwork listens on http://")
        .unwrap()
        .to_owned();
    let mut stream = std::net::TcpStream::connect(&address).unwrap();
    std::io::Write::write_all(
        &mut stream,
        b"GET /api/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    )
    .unwrap();
    let mut answer = String::new();
    std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");

    Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status()
        .unwrap();
    let asked = Instant::now();
    let status = child.wait().unwrap();
    assert!(status.success(), "{status}");
    assert!(asked.elapsed() < test_support::WAIT_TIMEOUT);
}

#[test]
fn admin_create_creates_super_admin_and_prints_password_once() {
    let folder = tempfile::tempdir().unwrap();
    let create = |email: &str| {
        groupwork(folder.path())
            .args([
                "admin",
                "create",
                "--create-database",
                "--email",
                email,
                "--name",
                "Root",
            ])
            .output()
            .unwrap()
    };
    let output = create("Root@School.Test");
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success() && printed.contains("root@school.test") && printed.contains("password"),
        "{printed}"
    );
    let again = create("root@school.test");
    assert!(!again.status.success(), "the address is taken");
    assert!(!create("not an address").status.success());
}
