//! A class that signs in at once: the time until the last student is signed in, on one processor, and the latency of
//! other requests meanwhile.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::json;

use crate::lanes::RoundSettings;
use crate::process::{ServiceProcess, StartOptions};
use crate::seed::{BenchUser, PASSWORD};

/// Students who sign in concurrently.
pub const STUDENTS: usize = 30;
/// Interval of the other requests.
const EVERY: Duration = Duration::from_millis(4);

/// One round.
#[derive(Debug, Clone, Copy)]
pub struct SignInRound {
    /// Seconds until all are signed in, on one processor.
    pub on_one_core: f64,
    /// The 99th percentile of other responses meanwhile, as a multiple of an idle period before.
    pub others_on_one_core: f64,
    /// The same percentile where the service may use all processors.
    pub others: f64,
}

/// Measures on one processor and on all of them.
pub async fn rounds(folder: &Path, results: SocketAddr, pace: &RoundSettings) -> anyhow::Result<Vec<SignInRound>> {
    let narrow = ServiceProcess::start(&StartOptions {
        on_one_core: true,
        ..StartOptions::usual(&folder.join("one"), results)
    })?;
    let wide = ServiceProcess::start(&StartOptions::usual(&folder.join("all"), results))?;
    let mut rounds = Vec::new();
    sign_in_all(&narrow).await?;
    sign_in_all(&wide).await?;
    for _ in 0..pace.rounds {
        let (on_one_core, others_on_one_core) = sign_in_all(&narrow).await?;
        let (_, others) = sign_in_all(&wide).await?;
        rounds.push(SignInRound {
            on_one_core,
            others_on_one_core,
            others,
        });
    }
    Ok(rounds)
}

/// Returns the seconds until all are signed in, and the 99th percentile of other responses as a multiple of the idle
/// one.
async fn sign_in_all(measured: &ServiceProcess) -> anyhow::Result<(f64, f64)> {
    let people = measured.people()?;
    let http = reqwest::Client::builder().no_proxy().build()?;
    let quiet = measure_latencies(
        &http,
        measured,
        &people.teacher,
        tokio::time::sleep(Duration::from_millis(600)),
    )
    .await?;
    let begin = Instant::now();
    let mut class = tokio::task::JoinSet::new();
    for student in people.students.iter().take(STUDENTS) {
        let body = json!({"email": student.email, "password": PASSWORD});
        let request = http
            .post(format!("{}/api/auth/sign-in/email", measured.base))
            .header("origin", &measured.base)
            .json(&body);
        class.spawn(async move { anyhow::Ok(request.send().await?.status()) });
    }
    let mut refused = Vec::new();
    let signing_in = async {
        while let Some(signed_in) = class.join_next().await {
            match signed_in {
                Ok(Ok(status)) if status.is_success() => {}
                other => refused.push(format!("{other:?}")),
            }
        }
    };
    let mut took = 0.0;
    let sign_in_all = async {
        signing_in.await;
        took = begin.elapsed().as_secs_f64();
    };
    let during = measure_latencies(&http, measured, &people.teacher, sign_in_all).await?;
    ensure!(refused.is_empty(), "a sign-in was refused: {refused:?}");
    Ok((took, percentile(during) / percentile(quiet)))
}

/// Requests the current user at a steady rate until `end`; returns the latencies.
async fn measure_latencies(
    http: &reqwest::Client,
    measured: &ServiceProcess,
    person: &BenchUser,
    end: impl Future<Output = ()>,
) -> anyhow::Result<Vec<f64>> {
    let mut times = Vec::new();
    let asking = async {
        let mut clock = tokio::time::interval(EVERY);
        loop {
            clock.tick().await;
            let begin = Instant::now();
            let request = http.get(format!("{}/session-check", measured.base));
            let answer = request.header("cookie", &person.cookie).send().await?;
            answer.error_for_status()?.bytes().await?;
            times.push(begin.elapsed().as_secs_f64());
        }
    };
    tokio::select! {
        failed = asking => {
            let failed: anyhow::Result<()> = failed;
            failed?;
        }
        () = end => {}
    }
    ensure!(!times.is_empty(), "nobody was answered meanwhile");
    Ok(times)
}

fn percentile(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[(times.len() * 99 / 100).min(times.len() - 1)]
}
