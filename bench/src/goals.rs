//! The performance goals, each with its measurement and whether it is met.

use std::fmt::Write as _;

use crate::downloads;
use crate::finishing;
use crate::lanes::{MeasuredServer, Operation};
use crate::measurement::Report;
use crate::spread::{Rounds, Spread, cpu, rate};

/// The bound of a figure.
#[derive(Debug, Clone, Copy)]
enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

/// A performance goal.
struct Goal {
    name: String,
    bound: Bound,
    unit: &'static str,
    /// None if it could not be measured on this machine.
    measured: Option<Spread>,
    /// Printed after the figure.
    note: String,
}

/// Renders the table of all goals.
pub fn table(report: &Report) -> String {
    let mut text = String::from("| goal | bound | measured | met? |\n|---|--:|--:|---|\n");
    for goal in all(report) {
        let unit = goal.unit;
        let (sign, bound, is_met) = match goal.bound {
            Bound::AtLeast(least) => ("≥", least, goal.measured.map(|spread| spread.median >= least)),
            Bound::AtMost(most) => ("≤", most, goal.measured.map(|spread| spread.median <= most)),
        };
        let measured = goal.measured.map_or_else(
            || "not measured".to_owned(),
            |Spread { least, median, most }| {
                let digits = usize::from(most < 100.0) + usize::from(most < 20.0);
                format!("**{median:.digits$}{unit}** ({least:.digits$}–{most:.digits$})")
            },
        );
        let met = match is_met {
            Some(true) => "yes",
            Some(false) => "**no**",
            None => "–",
        };
        let _infallible = writeln!(
            text,
            "| {}{} | {sign} {bound}{unit} | {measured} | {met} |",
            goal.name, goal.note
        );
    }
    text
}

fn all(report: &Report) -> Vec<Goal> {
    let mut goals = beside_node(report);
    goals.extend(own_cost(report));
    goals.extend(files(report));
    goals.extend(memory_and_starts(report));
    goals
}

fn goal(name: &str, bound: Bound, unit: &'static str, measured: Option<Spread>) -> Goal {
    Goal {
        name: name.to_owned(),
        bound,
        unit,
        measured,
        note: String::new(),
    }
}

fn beside_node(report: &Report) -> Vec<Goal> {
    use Bound::{AtLeast, AtMost};
    let (sqlite, postgres) = (Rounds(&report.sqlite), Rounds(&report.postgres));
    // Read-heavy requests are compared on the larger school, if there is one.
    let ours = if report.pace.many > 1 {
        MeasuredServer::Many
    } else {
        MeasuredServer::Service
    };
    let ratio = |what, peer| sqlite.both((what, ours), (what, peer), rate, |ours, theirs| ours / theirs);
    let better_auth = sqlite.above(
        (Operation::Check, MeasuredServer::Fastify),
        (Operation::Nothing, MeasuredServer::Fastify),
        cpu,
    );
    let mut check = goal(
        "session check: CPU in addition to an empty response",
        AtMost(20.0),
        " µs",
        sqlite.above(
            (Operation::Check, MeasuredServer::Service),
            (Operation::Nothing, MeasuredServer::Service),
            cpu,
        ),
    );
    if let Some(theirs) = better_auth {
        check.note = format!(" (better-auth with its cookie cache: {:.0} µs)", theirs.median);
    }
    vec![
        goal(
            "group list of a class: rate compared with Express + Prisma + better-auth",
            AtLeast(10.0),
            "×",
            ratio(Operation::Groups, MeasuredServer::Express),
        ),
        goal(
            "group list of a class: rate compared with Fastify + better-sqlite3 + better-auth",
            AtLeast(4.0),
            "×",
            ratio(Operation::Groups, MeasuredServer::Fastify),
        ),
        goal(
            "page of the activity log: rate compared with Express + Prisma + better-auth",
            AtLeast(6.0),
            "×",
            ratio(Operation::LogPage, MeasuredServer::Express),
        ),
        goal(
            "chat message, synchronous=FULL: rate compared with two Fastify processes",
            AtLeast(2.0),
            "×",
            sqlite.beside(Operation::SendMessage, MeasuredServer::FastifyPair, rate),
        ),
        check,
        goal(
            "PostgreSQL: server CPU of the group list compared with Fastify + pg",
            AtMost(0.8),
            "×",
            postgres.beside(Operation::Groups, MeasuredServer::Fastify, cpu),
        ),
    ]
}

fn own_cost(report: &Report) -> Vec<Goal> {
    use Bound::AtMost;
    let sqlite = Rounds(&report.sqlite);
    let larger = |what, figure| {
        sqlite.both(
            (what, MeasuredServer::Many),
            (what, MeasuredServer::Service),
            figure,
            |many, usual| many / usual,
        )
    };
    let slower = |what| {
        sqlite.both(
            (what, MeasuredServer::Service),
            (what, MeasuredServer::Many),
            rate,
            |usual, many| usual / many,
        )
    };
    let least = finishing::DOCUMENTS[0];
    let column = |column: usize| {
        let times = report
            .finishes
            .iter()
            .map(move |round| round[column].time.as_secs_f64());
        Spread::of(times.map(|seconds| seconds * 1e3))
    };
    let grown = report.finishes.iter().map(|round| {
        let each = |column: usize| {
            let documents = u32::try_from(finishing::DOCUMENTS[column]).unwrap_or(u32::MAX);
            round[column].time.as_secs_f64() / f64::from(documents)
        };
        each(2) / each(0)
    });
    vec![
        goal(
            "group list: CPU compared with a loop of its statements",
            AtMost(1.5),
            "×",
            sqlite.beside(Operation::Groups, MeasuredServer::QueryLoop, cpu),
        ),
        goal(
            "page of the log: CPU compared with a loop of its statements",
            AtMost(1.7),
            "×",
            sqlite.beside(Operation::LogPage, MeasuredServer::QueryLoop, cpu),
        ),
        goal(
            "group list with ten times the rows: CPU",
            AtMost(1.1),
            "×",
            larger(Operation::Groups, cpu),
        ),
        goal(
            "group list with ten times the rows: time",
            AtMost(1.1),
            "×",
            slower(Operation::Groups),
        ),
        goal(
            "page of the log with ten times the rows: CPU",
            AtMost(1.1),
            "×",
            larger(Operation::LogPage, cpu),
        ),
        goal(
            "page of the log with ten times the rows: time",
            AtMost(1.1),
            "×",
            slower(Operation::LogPage),
        ),
        goal(
            "document save: time compared with write, fsync, rename, commit",
            AtMost(1.5),
            "×",
            sqlite.both(
                (Operation::Save, MeasuredServer::Limit),
                (Operation::Save, MeasuredServer::Service),
                rate,
                |raw, save| raw / save,
            ),
        ),
        goal("finish of 30 groups × 3 documents", AtMost(50.0), " ms", column(1)),
        goal(
            &format!(
                "finish: time per document with {} documents compared with {least}",
                finishing::DOCUMENTS[2]
            ),
            AtMost(1.0),
            "×",
            Spread::of(grown),
        ),
    ]
}

fn files(report: &Report) -> Vec<Goal> {
    use Bound::AtLeast;
    let ratio = |of: fn(&downloads::DownloadRounds) -> &Vec<downloads::DownloadRound>| {
        let rounds = of(report.downloads.as_ref()?);
        Spread::of(rounds.iter().map(|round| round.service.rate / round.nginx.rate))
    };
    vec![
        goal(
            "editor-config: rate compared with nginx sending the same bytes",
            AtLeast(0.5),
            "×",
            ratio(|rounds| &rounds.configuration),
        ),
        goal(
            "`/file` of a 50 KB document: rate compared with nginx",
            AtLeast(0.5),
            "×",
            ratio(|rounds| &rounds.file),
        ),
        goal(
            "download of a 10 MB document: rate compared with nginx",
            AtLeast(0.5),
            "×",
            ratio(|rounds| &rounds.large),
        ),
    ]
}

fn memory_and_starts(report: &Report) -> Vec<Goal> {
    use Bound::AtMost;
    let mebibytes = |bytes: u64| f64::from(u32::try_from(bytes >> 10).unwrap_or(u32::MAX)) / 1024.0;
    let one = |bytes: u64| Spread::of([mebibytes(bytes)]);
    let growth = &report.growth;
    let of_archive = format!(
        "streaming a ZIP of {:.0} MiB: memory growth",
        mebibytes(growth.archive_size)
    );
    let of_pdf = format!(
        "streaming a PDF of {:.0} MiB: memory growth",
        mebibytes(growth.pdf_size)
    );
    let idle = Spread::of(report.idle.iter().map(|bytes| bytes / 1024.0));
    let sign_ins = |of: fn(&crate::sign_ins::SignInRound) -> f64| Spread::of(report.sign_ins.iter().map(of));
    vec![
        goal(&of_archive, AtMost(32.0), " MiB", one(growth.archive)),
        goal(&of_pdf, AtMost(32.0), " MiB", one(growth.pdf)),
        goal("idle HTTP keep-alive connection", AtMost(20.0), " KiB", idle),
        goal(
            "time from start to the first healthy response, schema present",
            AtMost(60.0),
            " ms",
            Spread::of(report.starts.iter().copied()),
        ),
        goal(
            "memory of the service after the load",
            AtMost(64.0),
            " MiB",
            one(report.memory),
        ),
        goal(
            "30 simultaneous sign-ins, on one core",
            AtMost(0.5),
            " s",
            sign_ins(|round| round.on_one_core),
        ),
        goal(
            "p99 of other requests during the sign-ins, on that core",
            AtMost(2.0),
            "×",
            sign_ins(|round| round.others_on_one_core),
        ),
        goal(
            "p99 of other requests during the sign-ins, on all cores",
            AtMost(2.0),
            "×",
            sign_ins(|round| round.others),
        ),
    ]
}
