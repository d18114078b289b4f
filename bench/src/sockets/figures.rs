//! The figures as Markdown: medians over the rounds, with ratios to the peer computed within each round.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use super::target::ServerKind;
use crate::conditions;

/// Costs of one target in one round.
#[derive(Debug, Clone)]
pub struct SocketRound {
    /// MiB of the process before the first socket.
    pub empty: f64,
    /// One entry per number of sockets.
    pub steps: Vec<SocketStep>,
    /// With one event in flight, and with two.
    pub deliveries: Vec<DeliveryCost>,
    /// CPU of a write without receivers, in microseconds.
    pub write_alone: f64,
    /// KiB per socket after all events.
    pub after_events: f64,
    /// Additional MiB, compared with before the first socket, after the last one was closed.
    pub left: f64,
}

/// Costs at one number of sockets.
#[derive(Debug, Clone, Copy)]
pub struct SocketStep {
    /// Number of sockets.
    pub count: usize,
    /// KiB per socket.
    pub memory: f64,
    /// Time until all new sockets were ready.
    pub time: Duration,
    /// Microseconds of CPU per new socket.
    pub cpu_per_connect: f64,
    /// Share of a processor while no event is emitted.
    pub idle: f64,
}

/// Costs of events to a room.
#[derive(Debug, Clone, Copy)]
pub struct DeliveryCost {
    /// Microseconds per delivery.
    pub cpu: f64,
    /// Deliveries per second.
    pub rate: f64,
}

type SocketRounds = [Vec<(ServerKind, SocketRound)>];

/// Renders the table.
pub fn markdown(rounds: &SocketRounds, room: usize, events: usize, folder: &Path) -> String {
    let mut text = String::from("| what | groupwork | Node socket.io | ratio |\n|---|--:|--:|--:|\n");
    let counts: Vec<usize> = rounds[0][0].1.steps.iter().map(|step| step.count).collect();
    for (index, count) in counts.iter().enumerate() {
        line(&mut text, rounds, &format!("KiB per idle socket at {count}"), 1, |of| {
            of.steps[index].memory
        });
    }
    let last = counts.len() - 1;
    line(&mut text, rounds, "KiB per socket after all events", 1, |of| {
        of.after_events
    });
    line(&mut text, rounds, "CPU µs per connect", 0, |of| {
        of.steps[last].cpu_per_connect
    });
    line(&mut text, rounds, "seconds until all sockets were ready", 1, |of| {
        of.steps.iter().map(|step| step.time.as_secs_f64()).sum()
    });
    line(&mut text, rounds, "idle CPU, % of a processor", 1, |of| {
        of.steps[last].idle * 100.0
    });
    for (index, name) in ["one", "two"].iter().enumerate() {
        let what = format!("CPU µs per delivery, room of {room}, {name} in flight");
        line(&mut text, rounds, &what, 2, |of| of.deliveries[index].cpu);
        let what = format!("deliveries/s, {name} in flight");
        line(&mut text, rounds, &what, 0, |of| of.deliveries[index].rate);
    }
    line(&mut text, rounds, "CPU µs of the write alone", 0, |of| of.write_alone);
    line(
        &mut text,
        rounds,
        "MiB of the process before the first socket",
        0,
        |of| of.empty,
    );
    line(
        &mut text,
        rounds,
        "additional MiB after the last socket closed",
        0,
        |of| of.left,
    );
    let _infallible = writeln!(
        text,
        "\nMedians of {} rounds; ratios (minimum–maximum) within a round; lower is better, except for deliveries/s. \
         Each round starts new processes. {events} events with each number in flight. In groupwork each event is a \
         write (PATCH of a class with session check, transaction and log) whose CPU is included; Node checks no \
         session and writes nothing. The run verified that every event reached each socket of its room exactly once \
         and no other socket. Conditions: {}.",
        rounds.len(),
        conditions::describe(folder).join("; "),
    );
    text
}

fn line(text: &mut String, rounds: &SocketRounds, what: &str, digits: usize, figure: impl Fn(&SocketRound) -> f64) {
    let of = |kind: ServerKind| -> Vec<f64> {
        let of_kind = rounds.iter().flatten().filter(|(found, _)| *found == kind);
        of_kind.map(|(_, round)| figure(round)).collect()
    };
    let (ours, theirs) = (of(ServerKind::Service), of(ServerKind::Node));
    let ratios: Vec<f64> = ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs).collect();
    let ratios = if ratios.is_empty() || ratios.iter().any(|ratio| !ratio.is_finite()) {
        "–".to_owned()
    } else {
        let [least, median, most] = spread(ratios);
        format!("**{median:.2}** ({least:.2}–{most:.2})")
    };
    let shown = |figures: Vec<f64>| {
        if figures.is_empty() {
            "–".to_owned()
        } else {
            format!("{:.digits$}", spread(figures)[1])
        }
    };
    let _infallible = writeln!(text, "| {what} | {} | {} | {ratios} |", shown(ours), shown(theirs));
}

/// Returns minimum, median and maximum.
fn spread(mut figures: Vec<f64>) -> [f64; 3] {
    figures.sort_by(f64::total_cmp);
    [figures[0], figures[figures.len() / 2], figures[figures.len() - 1]]
}
