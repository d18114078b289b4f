//! The figures as Markdown: medians over the rounds, with ratios computed within each round.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;

use crate::finishing::FinishCost;
use crate::lanes::{CONNECTIONS, MeasuredServer, Operation};
use crate::measurement::Report;
use crate::queries::PAGE;
use crate::seed::{DOCUMENTS, GROUPS, MEMBERS, OTHER_CLASSES};
use crate::spread::{Rounds, Spread, cpu, rate};
use crate::{downloads, finishing, goals, imports};

/// The figures are written between these two lines of a file.
const MARKS: [&str; 2] = ["<!-- bench -->", "<!-- /bench -->"];

/// Prints the figures and writes them to the file, if given.
pub fn publish(report: &Report, file: Option<&Path>) -> anyhow::Result<()> {
    let text = report.markdown();
    write!(std::io::stdout(), "{text}")?;
    let Some(file) = file else { return Ok(()) };
    let old = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let new = replaced(&old, &text).with_context(|| format!("{} has no lines {MARKS:?}", file.display()))?;
    std::fs::write(file, new)?;
    Ok(())
}

fn replaced(old: &str, text: &str) -> Option<String> {
    let [begin, end] = MARKS;
    let (before, rest) = old.split_once(begin)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{begin}\n\n{}\n\n{end}{after}", text.trim()))
}

impl Report {
    fn markdown(&self) -> String {
        let mut text = goals::table(self);
        if !self.has_peers {
            text.push_str("\nThe Node servers were not measured: they are not installed.\n");
        }
        text.push_str(&self.servers());
        text.push_str(&self.beside_limits());
        text.push_str(&self.beside_nginx());
        text.push_str(&self.growing());
        text.push_str(&self.importing());
        text.push_str(&self.conditions());
        text
    }

    /// Throughput and cost of all servers, on both databases.
    fn servers(&self) -> String {
        let mut text = String::from(
            "\n| SQLite | group list/s | CPU µs | log page/s | CPU µs | chat message/s | CPU µs |\n\
             |---|--:|--:|--:|--:|--:|--:|\n",
        );
        let (sqlite, postgres) = (Rounds(&self.sqlite), Rounds(&self.postgres));
        let row = |text: &mut String, name: &str, rounds: Rounds<'_>, who: [MeasuredServer; 3]| {
            let _infallible = write!(text, "| {name} |");
            for (what, who) in [Operation::Groups, Operation::LogPage, Operation::SendMessage]
                .into_iter()
                .zip(who)
            {
                let figure = |figure| shown(rounds.alone(what, who, figure));
                let _infallible = write!(text, " {} | {} |", figure(rate), figure(cpu));
            }
            text.push('\n');
        };
        row(&mut text, "groupwork", sqlite, [MeasuredServer::Service; 3]);
        if self.pace.many > 1 {
            let name = format!("groupwork, {} times the rows", self.pace.many);
            row(&mut text, &name, sqlite, [MeasuredServer::Many; 3]);
        }
        let node = "Fastify + better-sqlite3 + better-auth (chat: two processes)";
        row(
            &mut text,
            node,
            sqlite,
            [
                MeasuredServer::Fastify,
                MeasuredServer::Fastify,
                MeasuredServer::FastifyPair,
            ],
        );
        row(
            &mut text,
            "Express + Prisma + better-auth",
            sqlite,
            [MeasuredServer::Express; 3],
        );
        row(
            &mut text,
            "its statements in a loop",
            sqlite,
            [MeasuredServer::QueryLoop; 3],
        );
        row(
            &mut text,
            "limit: the bytes from memory, one row and its commit",
            sqlite,
            [MeasuredServer::Limit; 3],
        );
        if self.postgres.is_empty() {
            text.push_str("\nPostgreSQL was not measured.\n");
            return text;
        }
        text.push_str(
            "\n| PostgreSQL | group list/s | server CPU µs | log page/s | CPU µs | chat message/s | CPU µs |\n\
             |---|--:|--:|--:|--:|--:|--:|\n",
        );
        row(&mut text, "groupwork", postgres, [MeasuredServer::Service; 3]);
        row(
            &mut text,
            "Fastify + pg + better-auth",
            postgres,
            [MeasuredServer::Fastify; 3],
        );
        row(
            &mut text,
            "Express + Prisma + better-auth",
            postgres,
            [MeasuredServer::Express; 3],
        );
        text
    }

    /// The service compared with the same process doing the minimum.
    fn beside_limits(&self) -> String {
        let [session, groups, log_page, document] = self.sizes;
        let rows = [
            (format!("session ({session} B)"), Operation::Session),
            (
                format!("group list of a class ({} KB)", groups / 1000),
                Operation::Groups,
            ),
            (
                format!("page of the log, {PAGE} records ({} KB)", log_page / 1000),
                Operation::LogPage,
            ),
            (
                format!("chat message, {CONNECTIONS} concurrent"),
                Operation::SendMessage,
            ),
            (
                format!("document save, sequential ({} KB)", document / 1000),
                Operation::Save,
            ),
            (format!("document save, {DOCUMENTS} concurrent"), Operation::Saves),
        ];
        let mut text = String::from(
            "\n| compared with the limit | requests/s | limit/s | rate, share of the limit | CPU µs | CPU in addition to the limit, µs |\n\
             |---|--:|--:|--:|--:|--:|\n",
        );
        let rounds = Rounds(&self.sqlite);
        for (name, what) in rows {
            let _infallible = writeln!(
                text,
                "| {name} | {} | {} | {} | {} | {} |",
                shown(rounds.alone(what, MeasuredServer::Service, rate)),
                shown(rounds.alone(what, MeasuredServer::Limit, rate)),
                spread(rounds.beside(what, MeasuredServer::Limit, rate), 2),
                shown(rounds.alone(what, MeasuredServer::Service, cpu)),
                spread(
                    rounds.above((what, MeasuredServer::Service), (what, MeasuredServer::Limit), cpu),
                    0
                ),
            );
        }
        text
    }

    /// Files compared with nginx.
    fn beside_nginx(&self) -> String {
        let Some(downloads) = &self.downloads else {
            return "\nFiles were not measured: nginx is not installed.\n".to_owned();
        };
        let large = format!("download of {} MB, 4 connections", downloads::LARGE / 1_000_000);
        let mut text = String::from(
            "\n| compared with nginx | responses/s | nginx/s | share | CPU, multiple of nginx |\n|---|--:|--:|--:|--:|\n",
        );
        for (name, rounds) in [
            ("editor-config, 32 connections", &downloads.configuration),
            ("file of 50 KB for the document server, 8 connections", &downloads.file),
            (large.as_str(), &downloads.large),
        ] {
            let of = |figure: fn(&downloads::DownloadRound) -> f64| Spread::of(rounds.iter().map(figure));
            let _infallible = writeln!(
                text,
                "| {name} | {} | {} | {} | {} |",
                shown(of(|round| round.service.rate)),
                shown(of(|round| round.nginx.rate)),
                spread(of(|round| round.service.rate / round.nginx.rate), 2),
                spread(of(|round| round.service.cpu / round.nginx.cpu.max(1.0)), 1),
            );
        }
        text
    }

    /// Finishing topics with a growing number of documents.
    fn growing(&self) -> String {
        let mut text = format!(
            "\n| finish of a topic of {GROUPS} groups | ms | CPU ms | time per document, compared with the first row |\n\
             |---|--:|--:|--:|\n",
        );
        for (column, documents) in finishing::DOCUMENTS.into_iter().enumerate() {
            let of =
                |figure: &dyn Fn(&[FinishCost]) -> f64| Spread::of(self.finishes.iter().map(|round| figure(round)));
            let each = |round: &[FinishCost], column: usize| {
                let documents = u32::try_from(finishing::DOCUMENTS[column]).unwrap_or(u32::MAX);
                round[column].time.as_secs_f64() / f64::from(documents)
            };
            let _infallible = writeln!(
                text,
                "| {documents} documents | {} | {} | {} |",
                shown(of(&|round| round[column].time.as_secs_f64() * 1e3)),
                shown(of(&|round| round[column].cpu.as_secs_f64() * 1e3)),
                spread(of(&|round| each(round, column) / each(round, 0)), 2),
            );
        }
        text
    }

    fn importing(&self) -> String {
        let of = |figure: fn(&imports::ImportRound) -> f64| Spread::of(self.imports.iter().map(figure));
        format!(
            "\nImporting {} people from a table: {} rows/s, only the inserts of the same rows {}/s; share {}.\n",
            imports::ROWS,
            shown(of(|round| round.service)),
            shown(of(|round| round.raw)),
            spread(of(|round| round.service / round.raw), 2),
        )
    }

    fn conditions(&self) -> String {
        let readers = if self.pace.many > 1 {
            format!(
                "The larger school has {} times that; the Node servers read the larger one, and their rates are \
                 compared with those of the service on the larger one.",
                self.pace.many
            )
        } else {
            String::new()
        };
        format!(
            "\nMedians of {} rounds of {:.1} s for each target, in rotating order (minimum–maximum in brackets); \
             ratios are calculated within a round. Reads and chat: {CONNECTIONS} keep-alive connections. The limit of a read is \
             the same process returning the same bytes from memory; the limit of a save is the same process writing the same bytes with \
             write, fsync, rename, fsync of the folder and one SQLite commit; the limit of a message is one row with a \
             commit of its own. The class has {GROUPS} groups of {MEMBERS}, a course and two topics, one with a text \
             per group. The database has {OTHER_CLASSES} other classes ({} rows) and {} log records. {readers} Requests are \
             logged, sessions are checked, SQLite runs with synchronous=FULL; PostgreSQL is temporary and runs \
             without fsync.\n\nMachine: {}. Load average {} before and {} after the run, which took {:.0} s.\n",
            self.pace.rounds,
            self.pace.sample.as_secs_f64(),
            self.rows[0],
            self.rows[1],
            self.conditions.join("; "),
            self.load[0],
            self.load[1],
            self.time.as_secs_f64(),
        )
    }
}

/// Formats the median.
fn shown(spread: Option<Spread>) -> String {
    spread.map_or_else(|| "–".to_owned(), |spread| format!("{:.0}", spread.median))
}

/// Formats the median with minimum and maximum.
fn spread(spread: Option<Spread>, digits: usize) -> String {
    spread.map_or_else(
        || "–".to_owned(),
        |Spread { least, median, most }| format!("**{median:.digits$}** ({least:.digits$}–{most:.digits$})"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_between_markers_is_replaced() {
        let old = format!("a\n{}\nold\n{}\nb\n", MARKS[0], MARKS[1]);
        let new = format!("a\n{}\n\nnew\n\n{}\nb\n", MARKS[0], MARKS[1]);
        assert_eq!(replaced(&old, "new\n").as_deref(), Some(new.as_str()));
        assert_eq!(replaced("no marks", "new"), None);
    }
}
