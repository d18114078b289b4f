//! Requests succeed when the log cannot be written: stderr is a closed pipe, a full disk or a pipe without a reader.
//! Values chosen by a client (method, path, host) do not increase the size of the log or the metrics.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

use test_support::raw_http::RawHttp;
use test_support::{Client, DatabaseKind, ServerEnv};

/// Number of requests in a run. Their log output is far more than a pipe holds (64 KiB).
const REQUESTS: usize = 1_000;
/// Longer than any response takes on a busy machine.
const WAIT_TIMEOUT: Duration = Duration::from_mins(1);

/// A service process with a configurable stderr. It is killed when dropped.
struct LoggingService {
    child: Child,
    base: String,
    metrics: String,
}

impl LoggingService {
    fn start(env: &ServerEnv, stderr: impl Into<Stdio>) -> Self {
        let settings = [
            ("LISTEN", "127.0.0.1:0"),
            ("METRICS_LISTEN", "127.0.0.1:0"),
            ("LOG_LEVEL", "info"),
        ];
        let mut command = env.command(&["serve"], &settings);
        let mut child = command.stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
        let (mut base, mut metrics) = (None, None);
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            metrics = metrics.or_else(|| line.strip_prefix("metrics at ").map(str::to_owned));
            base = line.strip_prefix("groupwork listens on ").map(str::to_owned);
            if base.is_some() {
                break;
            }
        }
        Self {
            child,
            base: base.unwrap(),
            metrics: metrics.unwrap(),
        }
    }

    /// Returns the metrics page.
    async fn metrics(&self) -> String {
        let http = test_support::http_client().build().unwrap();
        let answer = http.get(&self.metrics).timeout(WAIT_TIMEOUT).send().await.unwrap();
        answer.text().await.unwrap()
    }

    async fn dropped_lines(&self) -> u64 {
        let metrics = self.metrics().await;
        let line = metrics
            .lines()
            .find_map(|line| line.strip_prefix("groupwork_log_lines_dropped_total "));
        line.unwrap().trim().parse().unwrap()
    }

    async fn answers_requests(&self) {
        let client = Client::new(&self.base, None);
        for _ in 0..REQUESTS {
            let answer = tokio::time::timeout(WAIT_TIMEOUT, client.get("/health"));
            assert_eq!(answer.await.expect("no answer").status, 200);
        }
    }

    /// Polls until a dropped log entry was counted, because a separate thread writes the log.
    async fn drops_lines(&self) {
        let counted = async {
            while self.dropped_lines().await == 0 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(WAIT_TIMEOUT, counted)
            .await
            .expect("no line was counted");
    }

    fn stop(mut self) -> std::process::ExitStatus {
        let id = self.child.id().to_string();
        assert!(
            std::process::Command::new("kill")
                .args(["-TERM", &id])
                .status()
                .unwrap()
                .success()
        );
        self.child.wait().unwrap()
    }
}

impl Drop for LoggingService {
    fn drop(&mut self) {
        // An error means that the process has already ended.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[tokio::test]
async fn closed_stderr_pipe_drops_log_lines_and_no_request() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let service = LoggingService::start(&env, writer);
    service.answers_requests().await;
    service.drops_lines().await;
    assert!(service.stop().success());
}

#[tokio::test]
async fn full_log_disk_drops_log_lines_and_no_request() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let service = LoggingService::start(&env, full);
    service.answers_requests().await;
    service.drops_lines().await;
    assert!(service.stop().success());
}

#[tokio::test]
async fn unread_stderr_pipe_blocks_no_request() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    let service = LoggingService::start(&env, writer);
    service.answers_requests().await;
    assert!(service.stop().success(), "the end does not wait for the log either");
    drop(reader);
}

#[tokio::test]
async fn closed_stdout_does_not_end_the_service() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let settings = [("LISTEN", "127.0.0.1:0"), ("LOG_LEVEL", "info")];
    let log = env.folder().join("log");
    let mut command = env.command(&["serve"], &settings);
    let stderr = std::fs::File::create(&log).unwrap();
    let mut child = command.stdout(writer).stderr(stderr).spawn().unwrap();
    let warned = async {
        while !std::fs::read_to_string(&log).unwrap().contains("stdout not writable") {
            assert_eq!(child.try_wait().unwrap(), None, "it ended");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(WAIT_TIMEOUT, warned)
        .await
        .expect("it did not start");
    assert_eq!(child.try_wait().unwrap(), None, "it ended");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test]
async fn unknown_methods_are_405_without_metric_label() {
    let env = ServerEnv::new(DatabaseKind::Sqlite).unwrap();
    let log = env.folder().join("log");
    let service = LoggingService::start(&env, std::fs::File::create(&log).unwrap());
    let sets = |metrics: &str| {
        let lines = metrics.lines();
        lines.filter(|line| line.starts_with("groupwork_http_request")).count()
    };
    Client::new(&service.base, None).get("/health").await.expect(200);
    let before = sets(&service.metrics().await);
    assert!(before > 0, "requests are counted");
    let mut raw_http = RawHttp::open_at(&service.base).await;
    for number in 0..3_000 {
        // A request head close to the maximum length that hyper accepts.
        let word = format!("M{number}{}", "X".repeat(4_000));
        let path = ["/api/health", "/api/none", "/", "/api/socket.io/?EIO=4"][number % 4];
        raw_http
            .send(format!("{word} {path} HTTP/1.1\r\nhost: h{number}.example\r\n\r\n"))
            .await;
        let (status, body) = raw_http.answer().await.unwrap();
        assert!(status == 405 && body.contains("METHOD_NOT_ALLOWED"), "{status} {body}");
    }
    for number in 0..3_000 {
        raw_http
            .send(format!(
                "GET /api/p{number}/{number} HTTP/1.1\r\nhost: h{number}.example\r\n\r\n"
            ))
            .await;
        assert_eq!(raw_http.answer().await.unwrap().0, 404);
    }
    let after = sets(&service.metrics().await);
    // One counter each for 405 and 404 on each kind of route, and the histograms of routes without earlier requests.
    assert!(after - before < 100, "{before} {after}");
    assert!(service.stop().success());
    let logged = std::fs::read_to_string(&log).unwrap();
    assert!(
        logged.contains("OTHER") && !logged.contains("XXXX"),
        "a method is logged as the client wrote it"
    );
}
