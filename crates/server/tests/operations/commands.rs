//! The commands of the binary: settings, the doctor, the health check of a container, and the content of the packages.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;
use std::time::Instant;

use document_server_simulator::{Simulator, SimulatorSettings};

use crate::ports::{closed_port, reserved_port};
use test_support::app::DOCSERVER_SECRET;
use test_support::{DatabaseKind, ServerEnv, WAIT_TIMEOUT};

fn output_text(output: &Output) -> String {
    let words = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8(words).unwrap()
}

fn run(env: &ServerEnv, arguments: &[&str], extra: &[(&str, &str)]) -> (Option<i32>, String) {
    let output = env.command(arguments, extra).output().unwrap();
    (output.status.code(), output_text(&output))
}

/// Repeats a command until it succeeds, because on a busy machine a service may not respond within the time limit of the
/// command; returns what it printed at last.
pub fn run_until_success(env: &ServerEnv, arguments: &[&str], extra: &[(&str, &str)]) -> String {
    let begun = Instant::now();
    loop {
        let (code, words) = run(env, arguments, extra);
        if code == Some(0) {
            return words;
        }
        assert!(begun.elapsed() < WAIT_TIMEOUT, "{arguments:?}: {words}");
    }
}

/// Writes the `.env` file of an environment.
pub fn dotenv(env: &ServerEnv, text: &[u8], mode: u32) {
    let path = env.folder().join(".env");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn config_init_writes_complete_private_file_once() {
    let folder = tempfile::tempdir().unwrap();
    let groupwork = |arguments: &[&str]| {
        let mut command = std::process::Command::new(test_support::server_binary());
        let output = command
            .args(arguments)
            .env_clear()
            .current_dir(folder.path())
            .output()
            .unwrap();
        (output.status.code(), output_text(&output))
    };
    let init = ["config", "init", "--url", "https://school.test"];
    assert_eq!(groupwork(&init).0, Some(0));
    let file = folder.path().join(".env");
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let (code, words) = groupwork(&["config", "check"]);
    assert_eq!(code, Some(0), "{words}");
    assert!(words.contains("Settings of .env and the environment."), "{words}");
    assert!(words.contains("will answer at https://school.test"), "{words}");

    let (code, words) = groupwork(&init);
    assert_eq!(code, Some(1));
    assert!(words.contains("exists"), "{words}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    assert_eq!(
        groupwork(&["config", "init", "--url", "school.test", "--file", "other"]).0,
        Some(1)
    );
    assert!(!folder.path().join("other").exists());
}

#[test]
fn renamed_settings_keep_their_old_names_for_one_release() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let (_, shown) = run(&env, &["config", "show"], &[("BUS_SILENCE_SECONDS", "7")]);
    assert!(shown.contains("BUS_TIMEOUT_SECONDS=7\n"), "{shown}");
    let both = [("BUS_SILENCE_SECONDS", "7"), ("BUS_TIMEOUT_SECONDS", "8")];
    let (_, shown) = run(&env, &["config", "show"], &both);
    assert!(shown.contains("BUS_TIMEOUT_SECONDS=8\n"), "{shown}");
    dotenv(&env, b"SOCKET_SWEEP_SECONDS=9\n", 0o600);
    let (_, shown) = run(&env, &["config", "show"], &[]);
    assert!(shown.contains("SOCKET_RECONCILE_INTERVAL_SECONDS=9\n"), "{shown}");
    let (_, output_text) = run(&env, &["config", "check"], &[]);
    assert!(
        output_text.contains("SOCKET_SWEEP_SECONDS is called SOCKET_RECONCILE_INTERVAL_SECONDS now"),
        "{output_text}"
    );
}

#[test]
fn config_show_hides_every_secret() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let secrets = [
        ("SMTP_URL", "smtp://me:mailword@mail.test"),
        ("DATABASE_URL", "postgres://me:dataword@db.test/x"),
        ("AWS_SECRET_ACCESS_KEY", "storeword"),
        ("AUTH_SECRET", "authword-0123456789-0123456789-012345"),
    ];
    for arguments in [
        &["config", "show"][..],
        &["serve", "--help"],
        &["config", "check", "--help"],
        &["doctor", "--help"],
    ] {
        let (code, words) = run(&env, arguments, &secrets);
        assert_eq!(code, Some(0), "{words}");
        for secret in ["mailword", "dataword", "storeword", "authword"] {
            assert!(!words.contains(secret), "{arguments:?} shows {secret}:\n{words}");
        }
    }
    let (_, words) = run(&env, &["config", "show"], &secrets);
    assert!(
        words.contains("AUTH_SECRET=*** (set)") && words.contains("UPLOAD_MAX_MB=50 (default)"),
        "{words}"
    );
}

/// The file in `packaging/` equals the output of the program. A new setting that is missing there fails this test.
#[test]
fn packaged_example_of_settings_is_current() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let (code, words) = run(&env, &["config", "example"], &[]);
    assert_eq!(code, Some(0));
    let packaged = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/groupwork.env.example");
    assert_eq!(
        std::fs::read_to_string(packaged).unwrap(),
        words,
        "groupwork config example > packaging/groupwork.env.example"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doctor_reports_success_with_and_without_running_service() {
    let practice = Simulator::start(SimulatorSettings::new(DOCSERVER_SECRET.to_owned()))
        .await
        .unwrap();
    let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    env.set("DOCSERVER_URL", &practice.url());
    // Without a running service the doctor listens in its place; both use the same port.
    let (_reserved, address) = reserved_port();
    let listen = address.to_string();
    let words = run_until_success(&env, &["doctor"], &[("LISTEN", &listen)]);
    assert!(
        words.contains("is not there yet") && words.contains("made a PDF of it"),
        "{words}"
    );

    let mut service = env.try_start("serve", &[("LISTEN", &listen)]).unwrap();
    service.ready().await;
    let settings = [("LISTEN", listen.as_str()), ("FRONTEND_URL", service.base.as_str())];
    let words = run_until_success(&env, &["doctor"], &settings);
    assert!(
        words.contains("schema") && words.contains("made a PDF of it"),
        "{words}"
    );
    run_until_success(&env, &["healthcheck"], &[("LISTEN", &listen)]);
    service.stop();
    assert_eq!(run(&env, &["healthcheck"], &[("LISTEN", &listen)]).0, Some(1));
    practice.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doctor_reports_problems_with_their_remedies() {
    let practice = Simulator::start(SimulatorSettings::new(DOCSERVER_SECRET.to_owned()))
        .await
        .unwrap();
    let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let (_, words) = run(&env, &["doctor"], &[("FRONTEND_URL", "")]);
    assert!(
        words.contains("Missing required configuration: FRONTEND_URL"),
        "{words}"
    );

    env.set("DOCSERVER_URL", &practice.url());
    let other = "another-secret-for-tests-0123456789ab";
    let (code, words) = run(&env, &["doctor"], &[("DOCSERVER_JWT_SECRET", other)]);
    assert_eq!(code, Some(1));
    assert!(words.contains("compare DOCSERVER_JWT_SECRET"), "{words}");

    // The document server cannot connect back.
    let (_closed, address) = closed_port();
    let back = format!("http://{address}");
    let (code, words) = run(
        &env,
        &["doctor"],
        &[("API_INTERNAL_URL", &back), ("LISTEN", "127.0.0.1:0")],
    );
    assert_eq!(code, Some(1));
    assert!(words.contains("compare API_INTERNAL_URL"), "{words}");
    practice.stop().await;

    let (code, words) = run(&env, &["doctor"], &[("DATA_DIR", "/proc/groupwork")]);
    assert_eq!(code, Some(1), "{words}");
    assert!(words.contains("FAULT   files"), "{words}");
}

#[test]
fn completions_and_manual_pages_are_generated() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let (code, words) = run(&env, &["completions", shell], &[]);
        assert_eq!(code, Some(0));
        assert!(words.contains("healthcheck"), "{shell}");
    }
    let (code, _) = run(&env, &["man", "--folder", "man"], &[]);
    assert_eq!(code, Some(0));
    for page in ["groupwork.1", "groupwork-serve.1", "groupwork-config-init.1"] {
        assert!(env.folder().join("man").join(page).exists(), "{page}");
    }
}

/// Checks the metrics with the linter of Prometheus, where it is installed.
fn check_with_promtool(text: &str) {
    use std::io::Write as _;
    let mut command = std::process::Command::new("promtool");
    command.args(["check", "metrics"]).stdin(std::process::Stdio::piped());
    let Ok(mut promtool) = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
    else {
        return test_support::report_skipped("promtool is not installed");
    };
    promtool.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = promtool.wait_with_output().unwrap();
    // The linter also judges the names of the previous release and of the process.
    let faults: Vec<String> = output_text(&output)
        .lines()
        .filter(|line| line.starts_with("groupwork_") || line.contains("error"))
        .map(str::to_owned)
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_count_by_route_and_contain_no_names() {
    let mut env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    env.set("METRICS_LISTEN", "127.0.0.1:0");
    let folder = env.folder().to_owned();
    let mut command = env.command(&["serve"], &[("LISTEN", "127.0.0.1:0")]);
    let log = std::fs::File::create(folder.join("out")).unwrap();
    let mut service = command.stdout(log).spawn().unwrap();
    let mut lines = String::new();
    while !lines.contains("groupwork listens on ") {
        assert!(service.try_wait().unwrap().is_none(), "it ended:\n{lines}");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        lines = std::fs::read_to_string(folder.join("out")).unwrap();
    }
    let after = |words: &str| {
        lines
            .lines()
            .find_map(|line| line.strip_prefix(words))
            .unwrap()
            .trim()
            .to_owned()
    };
    let (metrics, base) = (after("metrics at "), after("groupwork listens on "));
    let http = test_support::http_client().build().unwrap();
    for _ in 0..3 {
        let secret = format!("{base}/api/groups/not-to-be-seen?search=not-to-be-seen");
        assert_eq!(http.get(&secret).send().await.unwrap().status(), 401);
    }
    // The service address serves no metrics, at most the page of the web client.
    let page = http.get(format!("{base}/metrics")).send().await.unwrap();
    assert!(!page.text().await.unwrap().contains("http_requests"));
    let text = http.get(&metrics).send().await.unwrap().text().await.unwrap();
    let accept = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3";
    let request = http.get(&metrics).header("accept", accept);
    let open_metrics = request.send().await.unwrap();
    let kind = open_metrics.headers()["content-type"].to_str().unwrap().to_owned();
    assert!(kind.starts_with("application/openmetrics-text"), "{kind}");
    assert!(open_metrics.text().await.unwrap().ends_with("# EOF\n"));
    service.kill().unwrap();
    service.wait().unwrap();
    for line in [
        r#"groupwork_http_requests_total{method="GET",route="/api/groups/{id}",status="401"} 3"#,
        r#"groupwork_http_request_duration_seconds_count{route="/api/groups/{id}"} 3"#,
        "# TYPE groupwork_http_requests_total counter",
        "groupwork_sockets_open 0",
        "groupwork_database_up 1",
        "groupwork_event_listener_up 1",
        "groupwork_jobs_queued 0",
        "groupwork_emails_queued 0",
        "groupwork_email_queue_age_seconds 0",
        "groupwork_email_delivery_failing 0",
        "groupwork_maintenance 0",
        "groupwork_quarantined_files 0",
        "groupwork_disk_free_bytes ",
        "groupwork_database_statements_read_total ",
        "groupwork_build_info{version=",
        "process_resident_memory_bytes ",
        "process_cpu_seconds_total ",
        // The names of the previous release.
        r#"http_requests_total{method="GET",route="/api/groups/{id}",status="401"} 3"#,
        "sockets_open 0",
        "database_job_duration_seconds_count",
    ] {
        assert!(
            text.lines().any(|found| found.starts_with(line)),
            "{line} is missing in\n{text}"
        );
    }
    assert!(!text.contains("groupwork_last_backup"), "there is no backup yet");
    assert!(!text.contains("not-to-be-seen"), "{text}");
    check_with_promtool(&text);
}
