//! Load targets, measured one after the other in each round in a rotating order, so that background activity of the
//! machine affects all of them.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, ensure};

use crate::load::{self, LoadResult, RequestPlan};
use crate::queries::{LoopResponse, QueryLoop};
use crate::{cpu, seed};

/// Default number of concurrent connections.
pub const CONNECTIONS: usize = 32;

/// Duration of the measurements.
#[derive(Debug, Clone, Copy)]
pub struct RoundSettings {
    /// Number of rounds.
    pub rounds: usize,
    /// Duration of the load on each lane in each round.
    pub sample: Duration,
    /// Factor of the rows of the larger school; below 2 there is none.
    pub many: usize,
}

/// The measured request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// The current user: the session and the cookie that caches it.
    Session,
    /// Authentication with an empty response.
    Check,
    /// An empty response.
    Nothing,
    /// The groups of a class with members, course and topics.
    Groups,
    /// A page of the activity log, as read by an administrator.
    LogPage,
    /// A chat message, 32 concurrently.
    SendMessage,
    /// A document saved through a callback of the document server, sequentially.
    Save,
    /// A document saved through a callback, eight concurrently.
    Saves,
}

/// The measured server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasuredServer {
    /// The service.
    Service,
    /// The lower bound: the same process serving from memory, or doing only what durability requires.
    Limit,
    /// The statements of the service in a loop, without the service.
    QueryLoop,
    /// The service with many times the rows.
    Many,
    /// Express with Prisma.
    Express,
    /// Fastify with a plain database driver.
    Fastify,
    /// Two processes of Fastify.
    FastifyPair,
}

/// A request and the server that handles it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadTarget(pub Operation, pub MeasuredServer);

/// One sample.
#[derive(Debug, Clone, Copy)]
pub struct LoadSample {
    pub target: LoadTarget,
    /// Responses per second.
    pub rate: f64,
    /// CPU of the measured processes per response, in microseconds.
    pub cpu: f64,
}

/// A target and how it is loaded.
pub struct Lane<'s> {
    pub target: LoadTarget,
    pub work: Load<'s>,
}

/// How a target is loaded.
pub enum Load<'s> {
    /// Over HTTP.
    Http(HttpLoad<'s>),
    /// On one thread of this program.
    Statements(&'s QueryLoop, LoopResponse),
}

/// Requests and their expected responses.
pub struct HttpLoad<'s> {
    pub address: SocketAddr,
    /// The processes whose CPU is measured.
    pub processes: Vec<u32>,
    /// Builds the request, by connection and count.
    pub ask: Box<dyn Fn(usize, u64) -> Vec<u8> + 's>,
    /// The expected status.
    pub status: u16,
    /// The expected body, if it is always the same.
    pub body: Option<&'s [u8]>,
}

/// Warms every lane up once and then loads it in each round.
pub async fn rounds(lanes: &[Lane<'_>], pace: &RoundSettings, title: &str) -> anyhow::Result<Vec<Vec<LoadSample>>> {
    for lane in lanes {
        // Warms up caches, prepared statements, compiled code and connections to the document server.
        lane.sample(Duration::from_millis(500).min(pace.sample)).await?;
    }
    let mut rounds = Vec::new();
    for round in 0..pace.rounds {
        let mut samples = Vec::new();
        for position in 0..lanes.len() {
            let lane = &lanes[(position + round * 3) % lanes.len()];
            samples.push(lane.sample(pace.sample).await?);
        }
        eprintln!("{title}: round {} of {}", round + 1, pace.rounds);
        rounds.push(samples);
    }
    Ok(rounds)
}

impl Lane<'_> {
    async fn sample(&self, time: Duration) -> anyhow::Result<LoadSample> {
        let target = self.target;
        let (outcome, used) = match &self.work {
            Load::Statements(queries, answer) => queries.run(*answer, time)?,
            Load::Http(asking) => {
                let load = asking.load(target.connections(), time);
                load.await.with_context(|| format!("{target:?}"))?
            }
        };
        ensure!(outcome.answers > 0, "{target:?}: no answer within {time:?}");
        let answers = f64::from(u32::try_from(outcome.answers)?);
        Ok(LoadSample {
            target,
            rate: answers / outcome.time.as_secs_f64(),
            cpu: used.as_secs_f64() * 1e6 / answers,
        })
    }
}

impl HttpLoad<'_> {
    async fn load(&self, connections: usize, time: Duration) -> anyhow::Result<(LoadResult, Duration)> {
        let plan = RequestPlan {
            ask: &self.ask,
            status: self.status,
            body: self.body,
        };
        let before = cpu::used_by(&self.processes)?;
        let outcome = load::drive(self.address, connections, time, &plan).await?;
        Ok((outcome, cpu::used_by(&self.processes)?.saturating_sub(before)))
    }
}

impl LoadTarget {
    fn connections(self) -> usize {
        match self.0 {
            Operation::Save => 1,
            Operation::Saves => seed::DOCUMENTS,
            _ => CONNECTIONS,
        }
    }
}
