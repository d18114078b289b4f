//! What is loaded, one lane after the other, round by round in a rotating order, so that what the machine does meanwhile
//! meets all of them.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, ensure};

use crate::load::{self, Outcome, Question};
use crate::queries::{Answer, Loop};
use crate::{cpu, seed};

/// Connections that ask at once, where nothing else is said.
pub const CONNECTIONS: usize = 32;

/// How long everything takes.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Rounds.
    pub rounds: usize,
    /// Load on each lane in each round.
    pub sample: Duration,
    /// How many times the usual rows the larger school has; without one below 2.
    pub many: usize,
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Who am I: the session and the cookie that caches it.
    Session,
    /// Finding out who asks, with an empty answer.
    Check,
    /// An empty answer.
    Nothing,
    /// The groups of a class with members, course and topics.
    Groups,
    /// A page of the activity log, as an admin reads it.
    LogPage,
    /// A chat message, 32 at once.
    Talk,
    /// A document saved through the document server's notice, one after the other.
    Save,
    /// The same, eight at once.
    Saves,
}

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// The service.
    Service,
    /// The same process from its memory, or with nothing but what makes bytes durable.
    Limit,
    /// The statements of the service in a loop, without a service.
    Loop,
    /// The service with many times the rows.
    Many,
    /// Express with Prisma.
    Express,
    /// Fastify with a plain driver.
    Fastify,
    /// Two processes of the same.
    FastifyPair,
}

/// What is asked of whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target(pub What, pub Who);

/// One sample.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// What was asked of whom.
    pub target: Target,
    /// Answers per second.
    pub rate: f64,
    /// CPU of the measured processes for each answer, in microseconds.
    pub cpu: f64,
}

/// A target and how it is loaded.
pub struct Lane<'s> {
    /// What is asked of whom.
    pub target: Target,
    /// How.
    pub work: Work<'s>,
}

/// How a target is loaded.
pub enum Work<'s> {
    /// Over HTTP.
    Asking(Asking<'s>),
    /// On one thread of this program.
    Looping(&'s Loop, Answer),
}

/// Requests with what must be answered.
pub struct Asking<'s> {
    /// The server.
    pub address: SocketAddr,
    /// Its processes.
    pub processes: Vec<u32>,
    /// The whole request, by connection and by count.
    pub ask: Box<dyn Fn(usize, u64) -> Vec<u8> + 's>,
    /// The expected status.
    pub status: u16,
    /// The expected body, where it is always the same.
    pub body: Option<&'s [u8]>,
}

/// Loads every lane once for warmth and then in each round.
pub async fn rounds(lanes: &[Lane<'_>], pace: &Pace, title: &str) -> anyhow::Result<Vec<Vec<Sample>>> {
    for lane in lanes {
        // Warm: caches, prepared statements, compiled code, connections to the document server.
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
    async fn sample(&self, time: Duration) -> anyhow::Result<Sample> {
        let target = self.target;
        let (outcome, used) = match &self.work {
            Work::Looping(queries, answer) => queries.run(*answer, time)?,
            Work::Asking(asking) => {
                let load = asking.load(target.connections(), time);
                load.await.with_context(|| format!("{target:?}"))?
            }
        };
        ensure!(outcome.answers > 0, "{target:?}: no answer within {time:?}");
        let answers = f64::from(u32::try_from(outcome.answers)?);
        Ok(Sample {
            target,
            rate: answers / outcome.time.as_secs_f64(),
            cpu: used.as_secs_f64() * 1e6 / answers,
        })
    }
}

impl Asking<'_> {
    async fn load(&self, connections: usize, time: Duration) -> anyhow::Result<(Outcome, Duration)> {
        let question = Question {
            ask: &self.ask,
            status: self.status,
            body: self.body,
        };
        let before = cpu::used_by(&self.processes)?;
        let outcome = load::drive(self.address, connections, time, &question).await?;
        Ok((outcome, cpu::used_by(&self.processes)?.saturating_sub(before)))
    }
}

impl Target {
    fn connections(self) -> usize {
        match self.0 {
            What::Save => 1,
            What::Saves => seed::DOCUMENTS,
            _ => CONNECTIONS,
        }
    }
}
