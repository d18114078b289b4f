//! Settings come from one file and the environment, for all commands; what is wrong in them is refused by name.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::Command;

use crate::commands::{dotenv, run_until_success};
use test_support::{DatabaseKind, ServerEnv};

fn run(env: &ServerEnv, arguments: &[&str], extra: &[(&str, &str)]) -> (Option<i32>, String) {
    let output = env.command(arguments, extra).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

/// Returns a folder that users other than root can enter.
fn open_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

#[test]
fn empty_setting_counts_as_unset_for_every_type() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let empty = [
        ("LISTEN", ""),
        ("UPLOAD_MAX_MB", ""),
        ("DNS_SERVER", " "),
        ("TRUST_PROXY", ""),
        ("SMTP_URL", ""),
        ("AUTH_SECRET_FILE", ""),
        ("DATABASE_URL_FILE", ""),
        ("AWS_ALLOW_HTTP", ""),
        ("LOG_LEVEL", ""),
    ];
    let (code, text) = run(&env, &["config", "check"], &empty);
    assert_eq!(code, Some(0), "{text}");
    // An empty variable does not hide the line of the file.
    dotenv(&env, b"UPLOAD_MAX_MB=7\nBASE_DOMAIN=\n", 0o600);
    let (_, text) = run(&env, &["config", "show"], &empty);
    assert!(text.contains("UPLOAD_MAX_MB=7\n"), "{text}");
    assert!(!text.contains("BASE_DOMAIN"), "{text}");
}

#[test]
fn named_file_is_read_instead_of_dotenv_and_environment_wins() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    dotenv(&env, b"UPLOAD_MAX_MB=7\nDRAIN_SECONDS=3\n", 0o600);
    let other = env.folder().join("other.env");
    std::fs::write(&other, "UPLOAD_MAX_MB=8\n").unwrap();
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o600)).unwrap();
    let other = other.to_str().unwrap();
    for arguments in [
        &["config", "show", "--env-file", other][..],
        &["--env-file", other, "config", "show"],
    ] {
        let (_, text) = run(&env, arguments, &[]);
        assert!(
            text.contains("UPLOAD_MAX_MB=8\n") && text.contains("DRAIN_SECONDS=0 (default)"),
            "{text}"
        );
    }
    let (_, text) = run(
        &env,
        &["config", "show", "--env-file", other],
        &[("UPLOAD_MAX_MB", "9")],
    );
    assert!(text.contains("UPLOAD_MAX_MB=9\n"), "{text}");
    let (code, text) = run(&env, &["config", "check", "--env-file", "/nowhere/x.env"], &[]);
    assert_eq!(code, Some(1));
    assert!(text.contains("/nowhere/x.env: No such file"), "{text}");
}

#[test]
fn unknown_name_in_file_is_refused_by_every_command_with_suggestion() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    dotenv(
        &env,
        b"DOCSERVER_ULR=http://docs.test\nRUST_BACKTRACE=1\nSSL_CERT_FILE=/x\n",
        0o600,
    );
    let create = [
        "admin",
        "create",
        "--create-database",
        "--email",
        "a@b.test",
        "--name",
        "A",
    ];
    for arguments in [
        &["serve"][..],
        &["config", "check"],
        &["backup", "x"],
        &["scrub"],
        &create,
        &["doctor"],
    ] {
        let (code, text) = run(&env, arguments, &[]);
        assert_eq!(code, Some(1), "{arguments:?}: {text}");
        assert_eq!(
            text, ".env: DOCSERVER_ULR is no setting of groupwork (did you mean DOCSERVER_URL?)\n",
            "{arguments:?}"
        );
    }
    assert!(!env.folder().join("groupwork.db").exists());
    // Commands without settings work.
    assert_eq!(run(&env, &["config", "example"], &[]).0, Some(0));
}

#[test]
fn misspelled_variable_of_environment_is_reported_and_ignored() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let extra = [("TRUST_PROXI", "x"), ("LISTEN_FDS", "1"), ("EDITOR", "vi")];
    let (code, text) = run(&env, &["config", "check"], &extra);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("TRUST_PROXI in the environment is no setting of groupwork: did you mean TRUST_PROXY?"),
        "{text}"
    );
    assert!(!text.contains("LISTEN_FDS") && !text.contains("EDITOR"), "{text}");
}

#[test]
fn wrong_values_are_refused_together_by_name() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let wrong = [
        ("LOG_LEVEL", "loud"),
        ("LOG_FORMAT", "yaml"),
        ("FILES_URL", "groupwork/files"),
        ("UPLOAD_MAX_MB", "0"),
        ("UPLOAD_FREE_DISK_MB", "18446744073709551615"),
        ("CONNECTIONS_MAX", "0"),
        ("DOCSERVER_JWT_HEADER", "not a header"),
        ("DATABASE_CONNECTIONS", "0"),
        ("METRICS_LISTEN", "unix:/x.sock"),
    ];
    let (code, text) = run(&env, &["serve"], &wrong);
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.starts_with("Refused configuration: ") && text.lines().count() == 1,
        "{text}"
    );
    for (name, _) in wrong {
        assert!(
            text.contains(&format!("{name} must ")) || text.contains(&format!("{name} is ")),
            "{name}: {text}"
        );
    }
    assert!(
        text.contains(r#"LOG_LEVEL must be one of error, warn, info, debug, trace, not "loud""#),
        "{text}"
    );
    assert!(!env.folder().join("groupwork.db").exists());
    // Values that are refused by their type: the setting and the reason are named.
    for (name, value, reason) in [
        ("LISTEN", "3000", "must be HOST:PORT or unix:/PATH"),
        ("UPLOAD_MAX_MB", "many", "invalid digit"),
        ("DRAIN_SECONDS", "301", "not in 0..=300"),
    ] {
        let (code, text) = run(&env, &["serve"], &[(name, value)]);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains(&format!("<{name}>")) && text.contains(reason), "{text}");
    }
}

#[test]
fn start_error_names_path_and_reason() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let folder = env.folder().join("a file/data");
    std::fs::write(env.folder().join("a file"), "x").unwrap();
    let folder = folder.to_str().unwrap();
    let (code, text) = run(&env, &["serve"], &[("DATA_DIR", folder)]);
    assert_eq!(code, Some(1));
    assert!(text.contains(folder) && text.contains("Not a directory"), "{text}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for name in ["LISTEN", "METRICS_LISTEN"] {
        let listen = if name == "LISTEN" {
            address.as_str()
        } else {
            "127.0.0.1:0"
        };
        let (code, text) = run(&env, &["serve"], &[("LISTEN", listen), (name, &address)]);
        assert_eq!(code, Some(1));
        let wanted = format!("{name}: listen on {address}: Address already in use");
        assert!(text.contains(&wanted), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn service_listens_on_host_name_and_on_unix_socket() {
    let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let service = env.try_start("serve", &[("LISTEN", "localhost:0")]).unwrap();
    let port = service.base.rsplit_once(':').unwrap().1.to_owned();
    let listen = format!("localhost:{port}");
    run_until_success(&env, &["healthcheck"], &[("LISTEN", &listen)]);
    service.stop();

    let socket = env.folder().join("http.sock");
    let listen = format!("unix:{}", socket.display());
    for _ in 0..2 {
        // The second start replaces the socket that the first one left behind.
        let service = env.try_start("serve", &[("LISTEN", &listen)]).unwrap();
        assert_eq!(service.base, listen);
        run_until_success(&env, &["healthcheck"], &[("LISTEN", &listen)]);
        let client = reqwest::Client::builder().unix_socket(socket.clone()).build().unwrap();
        let page = client.get("http://school.test/api/health").send().await.unwrap();
        assert_eq!(page.status(), 200);
        service.kill();
    }
    assert_eq!(run(&env, &["healthcheck"], &[("LISTEN", &listen)]).0, Some(1));
    let needs_url = [("LISTEN", listen.as_str()), ("DOCSERVER_URL", "http://docs.test")];
    let (code, text) = run(&env, &["config", "check"], &needs_url);
    assert_eq!(code, Some(1));
    assert!(text.contains("set API_INTERNAL_URL"), "{text}");
}

/// Root may run a command next to the service; files of root in its data folder would stop it.
#[test]
fn command_of_root_runs_as_owner_of_data_folder() {
    const OWNER: u32 = 65_534;
    let folder = open_folder();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    if std::os::unix::fs::chown(&data, Some(OWNER), Some(OWNER)).is_err() {
        test_support::report_skipped("only root can give files to other users");
        return;
    }
    let settings = folder.path().join("groupwork.env");
    std::fs::write(&settings, format!("DATA_DIR={}\n", data.display())).unwrap();
    std::fs::set_permissions(&settings, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::chown(&settings, Some(0), Some(OWNER)).unwrap();
    let groupwork = |arguments: &[&str]| {
        let output = Command::new(test_support::server_binary())
            .args(arguments)
            .args(["--env-file", settings.to_str().unwrap()])
            .env_clear()
            .current_dir("/")
            .output()
            .unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(output.status.success(), "{arguments:?}: {text}");
        text
    };
    let text = groupwork(&[
        "admin",
        "create",
        "--create-database",
        "--email",
        "a@b.test",
        "--name",
        "A",
    ]);
    assert!(text.contains("created SUPER_ADMIN a@b.test"), "{text}");
    let archive = data.join("first.backup");
    groupwork(&["backup", archive.to_str().unwrap()]);
    for entry in std::fs::read_dir(&data).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().uid(), OWNER, "{}", entry.path().display());
    }
}
