//! Before the response is sent, the bytes are synced, then renamed, then their folder is synced, then the rows are
//! written. strace records the calls of the running service. A SIGKILL test cannot detect a missing sync, because data
//! in the page cache survives it.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::harness::{Harness, UserOperation, WAIT_TIMEOUT};
use super::trace::{self, Call};
use test_support::{DatabaseKind, ServerProcess, environment, size};

/// The traced calls.
const CALLS: &str = "trace=read,recvfrom,recvmsg,write,pwrite64,writev,sendto,sendmsg,fsync,fdatasync,rename,renameat,\
    renameat2,link,linkat";
/// A request that stores nothing and separates the traced requests from each other.
const MARK: &str = "/api/health/live";

/// An strace process that is attached to a running service.
struct Strace {
    strace: Child,
    log: PathBuf,
}

impl Strace {
    /// Attaches strace. Returns `None` if strace is not installed, which is an error in CI.
    fn attach(service: &ServerProcess, log: PathBuf) -> Option<Self> {
        let strace = Command::new("strace")
            .args(["-f", "-qq", "-y", "-s", "200", "-e", CALLS, "-o"])
            .arg(&log)
            .args(["-p", &service.id().to_string()])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(strace) = strace else {
            assert!(
                environment("CI").is_none(),
                "CI must look at the order of syncs: strace is missing"
            );
            test_support::report_skipped("the order of syncs was not checked: strace is missing");
            return None;
        };
        let tracer = Self { strace, log };
        let since = Instant::now();
        while !is_traced(service.id()) {
            assert!(
                since.elapsed() < WAIT_TIMEOUT,
                "strace cannot attach: is ptrace forbidden here?"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        Some(tracer)
    }

    /// Detaches strace and returns the recorded calls.
    fn leave(mut self) -> Vec<Call> {
        let id = self.strace.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        self.strace.wait().unwrap();
        trace::read(&String::from_utf8_lossy(&std::fs::read(&self.log).unwrap()))
    }
}

/// Returns whether every thread of a process is traced.
fn is_traced(process: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    threads.flatten().all(|thread| {
        let status = std::fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        !status.lines().any(|line| line == "TracerPid:\t0")
    })
}

async fn check_order(kind: DatabaseKind) {
    let Some((mut harness, service)) = Harness::start(kind).await else {
        return;
    };
    harness.run_until_success(UserOperation::Save).await;
    harness.run_until_success(UserOperation::Upload).await;
    let template = harness.writer.template().await;
    let files = harness.env.folder().join("files");
    let Some(tracer) = Strace::attach(&service, harness.env.folder().join("strace")) else {
        return;
    };
    // Each request uses a new connection, because the service may just be closing an idle one.
    let mark = reqwest::Client::builder()
        .no_proxy()
        .pool_max_idle_per_host(0)
        .build()
        .unwrap();
    let mark = async || {
        let answer = mark.get(format!("{}{MARK}", service.base)).send().await.unwrap();
        assert_eq!(answer.status(), 200);
    };
    let mut done = Vec::new();
    // The number of repetitions stays below the limits of a room.
    for _ in 0..size(2, 25) {
        for what in [
            "save",
            "upload",
            "replace",
            "template",
            "restore",
            "chat file",
            "hand in",
        ] {
            harness.prepare_draft().await;
            let editor = if what == "save" {
                Some(harness.writer.write().await.expect("an editor"))
            } else {
                None
            };
            mark().await;
            match editor {
                // The editor was opened before the marker request, so only the callback with its save follows.
                Some((editor, ..)) => assert!(editor.close().await.unwrap().accepted),
                None if what == "upload" => harness.writer.upload().await.unwrap(),
                None if what == "replace" => harness.writer.replace().await.unwrap(),
                None if what == "template" => harness.writer.create_from(&template).await.unwrap(),
                None if what == "restore" => harness.writer.restore().await.unwrap(),
                None if what == "chat file" => harness.writer.upload_message_file().await.unwrap(),
                None => harness.writer.submit_closed().await.unwrap(),
            }
            mark().await;
            done.push(what);
        }
    }
    let calls = tracer.leave();
    let marks: Vec<usize> = calls
        .iter()
        .filter(|call| call.receives(&format!("GET {MARK}")))
        .map(|call| call.began)
        .collect();
    assert_eq!(marks.len(), done.len() * 2, "strace missed something");
    let mut kept = 0;
    for (what, marks) in done.iter().zip(marks.chunks(2)) {
        let between: Vec<Call> = calls
            .iter()
            .filter(|call| (marks[0] + 1..marks[1]).contains(&call.began))
            .cloned()
            .collect();
        // The response to the first marker request must not count as the response of the traced request.
        let files_kept = trace::check_durable_before_response(&between, &files, matches!(kind, DatabaseKind::Sqlite));
        match files_kept {
            Ok(0) => panic!("{what} kept no file"),
            Ok(files) => kept += files,
            Err(why) => panic!("{what} on {kind:?}: {why}\n{between:#?}"),
        }
    }
    println!(
        "{} answers on {kind:?} left after {kept} files were durable",
        done.len()
    );
    harness.end(service);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn response_is_sent_after_data_is_durable_on_sqlite() {
    check_order(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn response_is_sent_after_data_is_durable_on_postgres() {
    check_order(DatabaseKind::Postgres).await;
}
